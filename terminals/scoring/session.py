"""A session's totals and rankings from its result lines: the facade of pairs and individual scoring.

Two passes: first every genuine score, then artificial scores by the session-percentage rule (Law 12C2(c), 2007),
which depends on the contestant's other boards. Pure; exact until a text is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from firmware_bridge.errors import EntryError
from terminals.result import Average, FixedPercent
from terminals.scoring.boards import LineScore, Method, SideScore, artificial_percent, matchpoint_board
from terminals.scoring.lines import (
    Contestant,
    PenaltyUnit,
    ResultLine,
    ScoringField,
    SessionAdjustment,
    WinnerGroup,
)
from terminals.scoring.profile import PLAIN, Profile, Ties
from terminals.scoring.ranking import RankRow, places
from terminals.scoring.rounding import decimal_text, round_to


@dataclass(slots=True)
class Totals:
    """Running sums of one contestant: genuine boards, and artificial ones kept apart."""

    points: Fraction = Fraction(0)
    top: int = 0
    genuine: int = 0
    artificial: list[SideScore] = field(default_factory=list)

    def add(self, score: SideScore) -> None:
        if score.artificial is None:
            self.points += score.points
            self.top += score.top
            self.genuine += 1
        else:
            self.artificial.append(score)

    def remove(self, score: SideScore) -> None:
        if score.artificial is None:
            self.points -= score.points
            self.top -= score.top
            self.genuine -= 1
        else:
            self.artificial.remove(score)

    @property
    def boards(self) -> int:
        return self.genuine + len(self.artificial)


@dataclass(frozen=True, slots=True)
class SessionScore:
    """A scored session.

    rankings: one list of rows for each winner group, best first. boards: (field index, board) -> scores of its lines.
    unranked: contestants of the groups without any board credited.
    """

    rankings: list[list[RankRow]]
    boards: Mapping[tuple[int, int], Sequence[LineScore]]
    unranked: tuple[Contestant, ...] = ()

    def row(self, contestant: Contestant) -> RankRow | None:
        for ranking in self.rankings:
            for row in ranking:
                if row.contestant == contestant:
                    return row
        return None


def matchpoint_total(totals: Totals, profile: Profile) -> tuple[Fraction, int]:
    """Points and top of a contestant after the second pass of Law 12C2(c).

    AVE+ pays the larger of 60 % and the percentage on the other genuine boards, AVE- the smaller of 40 % and that; all
    artificial boards are left out of that percentage, so that their order does not matter.
    """
    points, top = totals.points, totals.top
    if not totals.artificial:
        return points, top
    own = totals.points * 100 / totals.top if totals.top and profile.session_percentage else None
    for score in totals.artificial:
        value = score.artificial
        assert value is not None
        percent = artificial_percent(value, profile)
        if own is not None and value is Average.PLUS:
            percent = max(percent, own)
        elif own is not None and value is Average.MINUS:
            percent = min(percent, own)
        if isinstance(value, FixedPercent) or percent != artificial_percent(value, profile):
            points += percent * score.top / 100
        else:
            points += score.points
        top += score.top
    return points, top


def score_session(
    lines: Iterable[ResultLine],
    *,
    expected: Mapping[int, int] | None = None,
    groups: Sequence[WinnerGroup],
    profile: Profile = PLAIN,
    fields: Sequence[ScoringField] | None = None,
    method: Method = Method.MATCHPOINTS,
    adjustments: Sequence[SessionAdjustment] = (),
) -> SessionScore:
    """Score a session.

    expected: board -> E for one field of all sections; or ``fields``, the sections that are compared with each other,
    each with its own E. groups: who is ranked with whom. Raises EntryError for a doubled result, a board without E,
    a section in no field or in two, or more results than expected.
    """
    chosen = _fields(expected, fields)
    by_board = _sort_lines(lines, chosen)
    boards: dict[tuple[int, int], Sequence[LineScore]] = {}
    totals: dict[Contestant, Totals] = {}
    for key, board_lines in by_board.items():
        scores = score_board(board_lines, chosen[key[0]].expected, profile, method)
        boards[key] = scores
        for score in scores:
            for contestant, side in ((score.line.ns, score.ns), (score.line.ew, score.ew)):
                if side is not None:
                    found = totals.get(contestant)
                    if found is None:
                        found = totals[contestant] = Totals()
                    found.add(side)
    rankings, unranked = rank(totals, groups, profile, method, adjustments)
    return SessionScore(rankings, boards, unranked)


def score_board(
    lines: Sequence[ResultLine], expected: Mapping[int, int], profile: Profile, method: Method = Method.MATCHPOINTS
) -> list[LineScore]:
    """All lines of one board of one field. Raises EntryError when the board has no E or more results than E."""
    board = lines[0].board
    count = expected.get(board)
    if count is None or count < 1:
        raise EntryError(
            f"Nobody says how many results are expected of board {board}.",
            where=f"board {board}",
            next_step="Give the number of times that the movement plays it.",
            code="no-expected",
        )
    try:
        return matchpoint_board(lines, count, profile)
    except EntryError as error:
        if error.where:
            raise
        raise EntryError(error.what, where=f"board {board}", next_step=error.next_step, code=error.code) from None


def _fields(expected: Mapping[int, int] | None, fields: Sequence[ScoringField] | None) -> Sequence[ScoringField]:
    if (expected is None) == (fields is None):
        raise EntryError("A session is scored with either expected numbers or fields.", code="bad-fields")
    return [ScoringField(expected)] if expected is not None else list(fields or ())


def _sort_lines(lines: Iterable[ResultLine], fields: Sequence[ScoringField]) -> dict[tuple[int, int], list[ResultLine]]:
    place_of: dict[str, int] = {}
    out: dict[tuple[int, int], list[ResultLine]] = {}
    seen: set[tuple[int, str, Contestant, Contestant, int]] = set()
    for line in lines:
        index = place_of.get(line.section)
        if index is None:
            holders = [number for number, one in enumerate(fields) if one.holds(line.section)]
            if len(holders) != 1:
                how = "no field" if not holders else "more than one field"
                raise EntryError(f"Section {line.section[:8]!r} belongs to {how}.", code="bad-fields")
            index = place_of[line.section] = holders[0]
        if line.key in seen:
            raise EntryError(
                f"{line.ns} against {line.ew} is there twice for the same play.",
                where=f"board {line.board}",
                next_step="Number the second play, or remove one of the two lines.",
                code="doubled-result",
            )
        seen.add(line.key)
        out.setdefault((index, line.board), []).append(line)
    return out


def rank(
    totals: Mapping[Contestant, Totals],
    groups: Sequence[WinnerGroup],
    profile: Profile,
    method: Method,
    adjustments: Sequence[SessionAdjustment],
) -> tuple[list[list[RankRow]], tuple[Contestant, ...]]:
    """Rankings of all groups, and who has no board. A contestant in two groups is refused (EntryError)."""
    by_contestant: dict[Contestant, list[SessionAdjustment]] = {}
    for adjustment in adjustments:
        by_contestant.setdefault(adjustment.contestant, []).append(adjustment)
    seen: set[Contestant] = set()
    unranked: list[Contestant] = []
    rankings: list[list[RankRow]] = []
    for group in groups:
        rows: list[RankRow] = []
        for contestant in group.contestants:
            if contestant in seen:
                raise EntryError(f"Contestant {contestant} is in two winner groups.", code="bad-groups")
            seen.add(contestant)
            row = _row(contestant, totals.get(contestant), by_contestant.get(contestant, ()), profile)
            if row is None:
                unranked.append(contestant)
            else:
                rows.append(row)
        rankings.append(_placed(rows, profile))
    return rankings, tuple(unranked)


def _placed(rows: list[RankRow], profile: Profile) -> list[RankRow]:
    unit = Fraction(1, 10**profile.percent_decimals)
    if profile.ties is Ties.DISPLAY:
        placed = places(rows, lambda row: round_to(row.value, unit, profile.rounding))
    else:
        placed = places(rows, lambda row: row.value)
    return [
        RankRow(place, tied, row.contestant, row.value, row.value_text, row.points, row.top, row.boards, row.adjustment)
        for place, tied, row in placed
    ]


def _row(
    contestant: Contestant, totals: Totals | None, adjustments: Sequence[SessionAdjustment], profile: Profile
) -> RankRow | None:
    if totals is None or not totals.boards:
        return None
    points, top = matchpoint_total(totals, profile)
    if not top:
        return None
    change = sum((_matchpoint_change(one, points, top, totals) for one in adjustments), Fraction(0))
    percent = (points + change) * 100 / top
    text = decimal_text(percent, profile.percent_decimals, profile.rounding)
    return RankRow(0, False, contestant, percent, text, points, Fraction(top), totals.boards, change)


def _matchpoint_change(adjustment: SessionAdjustment, points: Fraction, top: int, totals: Totals) -> Fraction:
    """An adjustment in matchpoints (2/1/0): it counts against the session total only (Law 90)."""
    if adjustment.unit is PenaltyUnit.MATCHPOINTS:
        return adjustment.amount
    if adjustment.unit is PenaltyUnit.PERCENT:
        return adjustment.amount * top / 100
    if adjustment.unit is PenaltyUnit.TOP_FRACTION:
        return adjustment.amount * top / totals.boards
    raise EntryError(f"A penalty in {adjustment.unit} does not fit an event scored by matchpoints.", code="bad-penalty")
