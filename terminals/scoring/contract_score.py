"""The score of a contract in points: Law 77, read from the 2007 edition.

Pure functions. ``contract_score`` sees it from declarer's side, ``score_ns`` from North-South.
"""

from __future__ import annotations

from dealer.board import Vulnerability, vulnerability_of
from terminals.contract import Contract, Doubling, Strain
from terminals.result import BoardState, PassedOut, Played

_SLAM_BONUS = {6: (500, 750), 7: (1000, 1500)}  # level: (not vulnerable, vulnerable)


def contract_score(contract: Contract, tricks: int, vulnerable: bool) -> int:
    """Points of declarer's side for ``tricks`` (0-13) won in ``contract``; negative when it goes down. Law 77."""
    over = tricks - contract.required_tricks
    if over < 0:
        return -_penalty(-over, contract.doubling, vulnerable)
    per_trick = 20 if contract.strain.is_minor else 30
    first = 40 if contract.strain is Strain.NOTRUMP else per_trick
    trick_score = (first + per_trick * (contract.level - 1)) * contract.doubling.factor
    score = trick_score
    if trick_score >= 100:
        score += 500 if vulnerable else 300
    else:
        score += 50
    if contract.level in _SLAM_BONUS:
        score += _SLAM_BONUS[contract.level][vulnerable]
    if contract.doubling is Doubling.NONE:
        return score + over * per_trick
    overtrick = (200 if vulnerable else 100) * int(contract.doubling)
    return score + 50 * int(contract.doubling) + over * overtrick


def _penalty(down: int, doubling: Doubling, vulnerable: bool) -> int:
    """Undertrick points for ``down`` tricks, positive (Law 77, undertricks)."""
    if doubling is Doubling.NONE:
        return down * (100 if vulnerable else 50)
    if vulnerable:
        doubled = 200 + 300 * (down - 1)
    else:
        doubled = 100 + 200 * min(down - 1, 2) + 300 * max(down - 3, 0)
    return doubled * int(doubling)


def played_score_ns(result: Played, vulnerability: Vulnerability) -> int:
    """Points of a played board from North-South's side."""
    contract = result.contract
    score = contract_score(contract, result.tricks, vulnerability.includes(contract.declarer))
    return score if contract.by_north_south else -score


def score_ns(result: BoardState, board: int, vulnerability: Vulnerability | None = None) -> int | None:
    """Points from North-South's side: a number for a played or passed-out board, None for every other state.

    ``vulnerability`` overrides that of the board number (a wrongly marked board keeps its markings for the session,
    Law 2).
    """
    if isinstance(result, Played):
        return played_score_ns(result, vulnerability_of(board) if vulnerability is None else vulnerability)
    if isinstance(result, PassedOut):
        return 0
    return None
