"""Team matches: IMPs, board-a-match, victory points, with a ledger for each team.

Home sits North-South in the open room and East-West in the closed room. A board's result is kept twice, once as each
team sees it: after a split score or an artificial score the two are not each other's negative (Laws 12C1, 86).
Weighted outcomes are converted first and averaged after (Law 12C1(c)). Pure, exact.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from firmware_bridge.errors import EntryError
from terminals.result import Average, FixedPercent
from terminals.scoring.boards import artificial_imps
from terminals.scoring.imps import compare
from terminals.scoring.lines import ResultLine
from terminals.scoring.matchpoints import Weighted
from terminals.scoring.profile import Profile, VpScale
from terminals.scoring.rounding import Rounding, round_to
from terminals.scoring.sides import SideValue, line_sides
from terminals.scoring.vp import VpTable, victory_points


class TeamMethod(StrEnum):
    """How the boards of a team match are scored."""

    IMPS = "imps"
    BOARD_A_MATCH = "board_a_match"
    AGGREGATE = "aggregate"


@dataclass(frozen=True, slots=True)
class TeamBoard:
    """One board of a match: what each team scores on it, in IMPs (signed), in board-a-match points, or in points.

    artificial: at least one side's value is an artificial score.
    """

    board: int
    home: Fraction
    away: Fraction
    artificial: bool = False


@dataclass(frozen=True, slots=True)
class MatchScore:
    """A match: sums of both ledgers, and victory points when the match has a scale."""

    boards: tuple[TeamBoard, ...]
    home: Fraction
    away: Fraction
    home_vp: Fraction | None = None
    away_vp: Fraction | None = None


def team_board(
    open_room: ResultLine, closed_room: ResultLine, profile: Profile, method: TeamMethod = TeamMethod.IMPS
) -> TeamBoard | None:
    """A board of a match; None as long as either room has no score and nothing was awarded.

    An artificial score in one room counts for the whole board (Law 86A): each team gets its own. Two different
    artificial scores for the same team are refused (EntryError), and so are rooms with different boards.
    """
    if open_room.board != closed_room.board:
        raise EntryError(
            f"The rooms have different boards, {open_room.board} and {closed_room.board}.", code="bad-match"
        )
    board = open_room.board
    open_ns, open_ew = line_sides(open_room)
    closed_ns, closed_ew = line_sides(closed_room)
    home = _side(board, open_ns, closed_ew, profile, method)
    away = _side(board, closed_ns, open_ew, profile, method)
    if home is None or away is None:
        return None
    artificial = any(isinstance(value, (Average, FixedPercent)) for value in (open_ns, open_ew, closed_ns, closed_ew))
    return TeamBoard(board, home, away, artificial)


def _side(board: int, first: SideValue, second: SideValue, profile: Profile, method: TeamMethod) -> Fraction | None:
    """One team's result from its two pairs' values, each seen from that pair's own direction."""
    awarded = {value for value in (first, second) if isinstance(value, (Average, FixedPercent))}
    if len(awarded) > 1:
        raise EntryError(
            "One team has two different artificial scores on one board.",
            where=f"board {board}",
            next_step="Rule on the board as a whole (Law 86).",
            code="contradictory-ruling",
        )
    if awarded:
        return _awarded(awarded.pop(), profile, method)
    if not isinstance(first, tuple) or not isinstance(second, tuple):
        return None
    if method is TeamMethod.IMPS:
        return round_imps(compare(first, negated(second)), first, second, profile)
    total = Fraction(0)
    for score, weight in first:
        for other, other_weight in second:
            swing = score + other
            if method is TeamMethod.AGGREGATE:
                worth = swing
            else:
                worth = 2 if swing > 0 else 1 if swing == 0 else 0
            total += weight * other_weight * worth
    return total


def negated(value: Weighted) -> Weighted:
    """The same outcomes seen from the other direction."""
    return tuple((-score, weight) for score, weight in value)


def round_imps(value: Fraction, first: Weighted, second: Weighted, profile: Profile) -> Fraction:
    """Weighted IMPs of a board in the profile's unit, an exact half away from zero; a plain result is whole anyway."""
    if profile.weighted_imp_unit is None or (len(first) == 1 and len(second) == 1):
        return value
    return round_to(value, profile.weighted_imp_unit, Rounding.HALF_AWAY)


def _awarded(value: Average | FixedPercent, profile: Profile, method: TeamMethod) -> Fraction:
    if method is TeamMethod.IMPS:
        return artificial_imps(value, profile)
    if method is TeamMethod.AGGREGATE:
        raise EntryError(
            "An artificial score has no value in total points.",
            next_step="Assign a score in points (Law 12C1).",
            code="no-points-equivalent",
        )
    if isinstance(value, FixedPercent):
        percent = value.percent
    else:
        percent = {
            Average.PLUS: profile.average_plus,
            Average.EVEN: profile.average,
            Average.MINUS: profile.average_minus,
        }[value]
    return percent * 2 / 100


def knockout_board(board: TeamBoard) -> TeamBoard:
    """A board of a match that must have a winner: the mean of what the two teams would score (Laws 12C4, 86B)."""
    home = (board.home - board.away) / 2
    return TeamBoard(board.board, home, -home, board.artificial)


def match_score(
    boards: Iterable[TeamBoard | None],
    *,
    scale: VpScale | VpTable | None = None,
    length: int | None = None,
    knockout: bool = False,
) -> MatchScore:
    """Sum a match; boards that are None are not counted.

    scale: a ``VpScale``, a ``VpTable``, or None for no victory points. length: boards that the match was scheduled to
    have, default the boards counted; the scale is that of the full length. knockout: unequal scores of a board are
    averaged (Law 12C4). Each team's victory points come from its own ledger.
    """
    counted = tuple(board for board in boards if board is not None)
    if knockout:
        counted = tuple(knockout_board(board) for board in counted)
    home = sum((board.home for board in counted), Fraction(0))
    away = sum((board.away for board in counted), Fraction(0))
    if scale is None or not counted:
        return MatchScore(counted, home, away)
    size = length or len(counted)
    return MatchScore(counted, home, away, victory_points(home, size, scale), victory_points(away, size, scale))
