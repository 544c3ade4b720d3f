"""How a result is typed: tricks, over or under the contract, or the total score. From keys to tricks and back.

Law 77 scores one contract with each number of tricks differently, so a total says how many there were.
"""

from __future__ import annotations

from hwsim.station.player import Play

VULNERABLE = (0b00, 0b01, 0b10, 0b11, 0b01, 0b10, 0b11, 0b00, 0b10, 0b11, 0b00, 0b01, 0b11, 0b00, 0b01, 0b10)
"""By board number 1 to 16: bit 0 North-South, bit 1 East-West (Law 2)."""


class NotAResult(ValueError):
    """What was typed can't be the result of this contract."""


def vulnerable(board: int, declarer: int) -> bool:
    return bool(VULNERABLE[(board - 1) % 16] >> declarer % 2 & 1)


def score(play: Play, board: int) -> int:
    """What declarer's side scores (Law 77); negative when it is down."""
    hurt = vulnerable(board, play.declarer)
    over = play.tricks - play.level - 6
    if over < 0:
        if not play.doubling:
            return over * (100 if hurt else 50)
        first = [200, 300, 300] if hurt else [100, 200, 200]
        return -play.doubling * sum(first[n] if n < 3 else 300 for n in range(-over))
    each = 20 if play.strain in (1, 2) else 30
    odd = (each * play.level + (10 if play.strain == 5 else 0)) * (1, 2, 4)[play.doubling]
    more = over * ((each, 100, 200)[play.doubling] if not hurt else (each, 200, 400)[play.doubling])
    game = (500 if hurt else 300) if odd >= 100 else 50
    slam = {6: 750 if hurt else 500, 7: 1500 if hurt else 1000}.get(play.level, 0)
    return odd + more + game + slam + 50 * play.doubling


def typed(play: Play, board: int, way: str) -> str:
    """The keys for a result. way: "tricks", "plus" (``=``, ``+1``, ``-2``) or "total" (of declarer's side)."""
    if way == "tricks":
        return str(play.tricks)
    if way == "plus":
        over = play.tricks - play.level - 6
        return "=" if not over else f"{over:+d}"
    return str(score(play, board))


def tricks(play: Play, board: int, text: str, way: str) -> int:
    """Inverse of ``typed``: the tricks of declarer's side; ``play`` gives the contract only. Raises NotAResult."""
    try:
        if way == "tricks":
            found = int(text)
        elif way == "plus":
            found = play.level + 6 + (0 if text in ("=", "0") else int(text))
        else:
            found = next(n for n in range(14) if score(with_tricks(play, n), board) == int(text))
    except (ValueError, StopIteration):
        raise NotAResult(f"{text[:8]} is no result of this contract") from None
    if not 0 <= found <= 13:
        raise NotAResult(f"{text[:8]} is no result of this contract")
    return found


def with_tricks(play: Play, number: int) -> Play:
    return Play(play.kind, play.level, play.strain, play.doubling, play.declarer, number, play.lead)
