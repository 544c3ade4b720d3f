"""A session's totals and rankings from its result lines: the facade of pairs and individual scoring.

Two passes: first every genuine score, then artificial scores by the session-percentage rule (Law 12C2(c), 2007),
which depends on the contestant's other boards. Pure; exact until a text is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from firmware_bridge.errors import EntryError
from terminals.result import Average
from terminals.scoring.boards import LineScore, Method, SideScore, score_lines
from terminals.scoring.lines import (
    Contestant,
    LineKey,
    PenaltyUnit,
    ResultLine,
    ScoringField,
    SessionAdjustment,
    WinnerGroup,
)
from terminals.scoring.profile import PLAIN, ImpRanking, Profile, Ties
from terminals.scoring.ranking import RankRow, places
from terminals.scoring.rounding import decimal_text, round_to


class Sums(Protocol):
    """What a ranking needs of a contestant: genuine boards summed up, artificial ones kept apart."""

    @property
    def points(self) -> Fraction: ...
    @property
    def top(self) -> int: ...
    @property
    def genuine(self) -> int: ...
    @property
    def artificial(self) -> Sequence[SideScore]: ...
    @property
    def boards(self) -> int: ...


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


def session_total(totals: Sums, profile: Profile) -> tuple[Fraction, int]:
    """Points and top of a contestant after the second pass of Law 12C2(c).

    AVE+ pays the larger of its flat value and the contestant's mean on the other genuine boards (percent, or IMPs per
    board), AVE- the smaller; all artificial boards are left out of that mean, so that their order does not matter.
    """
    points, top = totals.points, totals.top
    for score in totals.artificial:
        flat = score.points
        if profile.session_percentage and isinstance(score.artificial, Average) and totals.genuine:
            if totals.top:
                # A board that only one table played may have the top 0: it is worth nothing, not a mean of matchpoints.
                own = totals.points * score.top / totals.top
            elif score.top:
                own = flat
            else:
                own = totals.points / totals.genuine
            if score.artificial is Average.PLUS:
                flat = max(flat, own)
            elif score.artificial is Average.MINUS:
                flat = min(flat, own)
        points += flat
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
    chosen = choose_fields(expected, fields)
    by_board = _sort_lines(lines, chosen)
    boards: dict[tuple[int, int], Sequence[LineScore]] = {}
    totals: dict[Contestant, Totals] = {}
    for key, board_lines in by_board.items():
        scores = score_board(board_lines, chosen[key[0]].expected, profile, method)
        boards[key] = scores
        for score in scores:
            for contestant, side in credits(score):
                found = totals.get(contestant)
                if found is None:
                    found = totals[contestant] = Totals()
                found.add(side)
    rankings, unranked = rank(totals, groups, profile, method, adjustments)
    return SessionScore(rankings, boards, unranked)


def credits(score: LineScore) -> Iterator[tuple[Contestant, SideScore]]:
    """Who gets what for a line: the pairs, or every player of an individual event."""
    if score.ns is not None:
        for contestant in score.line.credited_ns:
            yield contestant, score.ns
    if score.ew is not None:
        for contestant in score.line.credited_ew:
            yield contestant, score.ew


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
        return score_lines(lines, count, profile, method)
    except EntryError as error:
        if error.where:
            raise
        raise EntryError(error.what, where=f"board {board}", next_step=error.next_step, code=error.code) from None


def choose_fields(expected: Mapping[int, int] | None, fields: Sequence[ScoringField] | None) -> list[ScoringField]:
    """One field of all sections, or the fields given. Raises EntryError unless exactly one of the two is there."""
    if (expected is None) == (fields is None):
        raise EntryError("A session is scored with either expected numbers or fields.", code="bad-fields")
    return [ScoringField(expected)] if expected is not None else list(fields or ())


def field_of(section: str, fields: Sequence[ScoringField]) -> int:
    """Index of the field that a section belongs to. Raises EntryError when there is none, or more than one."""
    holders = [number for number, one in enumerate(fields) if one.holds(section)]
    if len(holders) != 1:
        how = "no field" if not holders else "more than one field"
        raise EntryError(f"Section {section[:8]!r} belongs to {how}.", code="bad-fields")
    return holders[0]


def _sort_lines(lines: Iterable[ResultLine], fields: Sequence[ScoringField]) -> dict[tuple[int, int], list[ResultLine]]:
    place_of: dict[str, int] = {}
    out: dict[tuple[int, int], list[ResultLine]] = {}
    seen: set[LineKey] = set()
    for line in lines:
        index = place_of.get(line.section)
        if index is None:
            index = place_of[line.section] = field_of(line.section, fields)
        key = line.key
        if key in seen:
            raise EntryError(
                f"{line.ns} against {line.ew} is there twice for the same play.",
                where=f"board {line.board}",
                next_step="Number the second play, or remove one of the two lines.",
                code="doubled-result",
            )
        seen.add(key)
        out.setdefault((index, line.board), []).append(line)
    return out


def rank(
    totals: Mapping[Contestant, Sums],
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
        boards = max((totals[one].boards for one in group.contestants if one in totals), default=0)
        rows: list[RankRow] = []
        for contestant in group.contestants:
            if contestant in seen:
                raise EntryError(f"Contestant {contestant} is in two winner groups.", code="bad-groups")
            seen.add(contestant)
            own, changes = totals.get(contestant), by_contestant.get(contestant, ())
            row = None
            if own is not None and own.boards:
                if method is Method.MATCHPOINTS:
                    row = _percent_row(contestant, own, changes, profile)
                else:
                    row = _points_row(contestant, own, changes, profile, method, boards)
            if row is None:
                unranked.append(contestant)
            else:
                rows.append(row)
        decimals = profile.percent_decimals if method is Method.MATCHPOINTS else profile.imp_decimals
        rankings.append(place_rows(rows, profile, decimals))
    return rankings, tuple(unranked)


def place_rows(rows: list[RankRow], profile: Profile, decimals: int) -> list[RankRow]:
    """Best first, with places by the exact value, or by the value as shown when the profile says so."""
    unit = Fraction(1, 10**decimals)
    if profile.ties is Ties.DISPLAY:
        placed = places(rows, lambda row: round_to(row.value, unit, profile.rounding))
    else:
        placed = places(rows, lambda row: row.value)
    return [
        RankRow(place, tied, row.contestant, row.value, row.value_text, row.points, row.top, row.boards, row.adjustment)
        for place, tied, row in placed
    ]


_NONE = Fraction(0)


def _percent_row(
    contestant: Contestant, totals: Sums, adjustments: Sequence[SessionAdjustment], profile: Profile
) -> RankRow | None:
    points, top = session_total(totals, profile)
    if not top:
        return None
    change = _NONE
    for one in adjustments:
        if one.unit is PenaltyUnit.MATCHPOINTS:
            change += one.amount
        elif one.unit is PenaltyUnit.PERCENT:
            change += one.amount * top / 100
        elif one.unit is PenaltyUnit.TOP_FRACTION:
            change += one.amount * top / totals.boards
        else:
            raise _misfit(one, "matchpoints")
    total = points + change if adjustments else points
    # One construction in place of a product and a quotient: this line runs for every contestant at every new result.
    percent = Fraction(total.numerator * 100, total.denominator * top)
    text = decimal_text(percent, profile.percent_decimals, profile.rounding)
    return RankRow(0, False, contestant, percent, text, points, _whole(top), totals.boards, change)


@lru_cache(maxsize=4096)
def _whole(number: int) -> Fraction:
    return Fraction(number)


def _points_row(
    contestant: Contestant,
    totals: Sums,
    adjustments: Sequence[SessionAdjustment],
    profile: Profile,
    method: Method,
    boards: int,
) -> RankRow:
    points, _ = session_total(totals, profile)
    value = points
    if method is not Method.AGGREGATE and profile.imp_ranking is not ImpRanking.TOTAL:
        value = points / totals.boards
        if profile.imp_ranking is ImpRanking.FACTORED:
            value *= boards
    change = Fraction(0)
    for one in adjustments:
        if one.unit is not (PenaltyUnit.POINTS if method is Method.AGGREGATE else PenaltyUnit.IMPS):
            raise _misfit(one, method.value)
        change += one.amount
    value += change
    text = decimal_text(value, profile.imp_decimals, profile.rounding)
    return RankRow(0, False, contestant, value, text, points, Fraction(0), totals.boards, change)


def _misfit(adjustment: SessionAdjustment, scoring: str) -> EntryError:
    return EntryError(
        f"A penalty in {adjustment.unit} for {adjustment.contestant} does not fit an event scored by {scoring}.",
        next_step="Give the penalty in the unit of the event (Law 90).",
        code="bad-penalty",
    )
