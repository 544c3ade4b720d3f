"""What the director looks at: every table, round and board with its state; what is missing; lines for the scoring.

Pure: an event and its current results in, values out. Nothing is invented: a board that nobody entered is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from firmware_bridge.errors import EntryError
from terminals.movement import sections as layout
from terminals.movement.model import Format, Movement, Seating
from terminals.movement.state import Plan
from terminals.result import Artificial, Average, FixedPercent, NotEntered, NotPlayed
from terminals.scoring.lines import Contestant, ResultLine, ScoringField, WinnerGroup, field_expected
from terminals.store.results import CurrentResult
from terminals.store.values import PlayKey, PlayStatus
from terminals.sync.sense import OTHER_ROUND, OTHER_TABLE, UNBOUND, UNPLANNED, movement_numbers
from terminals.sync.setup import EventSetup, Section


class CellState(StrEnum):
    """State of one scheduled board at one table."""

    MISSING = "missing"
    ENTERED = "entered"
    CONFIRMED = "confirmed"
    AMENDED = "amended"
    FINAL = "final"
    NOT_PLAYED = "not-played"
    ATTENTION = "attention"


@dataclass(frozen=True, slots=True)
class Cell:
    """One board that the movement schedules. result: its current result, if there is any row of it."""

    section: str
    round: int
    table: int
    board: int
    ns: int
    ew: int
    state: CellState
    result: CurrentResult | None = None


def cells(setup: EventSetup, current: Iterable[CurrentResult], *, final: bool = False) -> list[Cell]:
    """Every scheduled board, by section, round, table and in the order of playing. final: the correction period is
    over (Law 79C)."""
    rows = {row.play: row for row in current}
    out = []
    for section in setup.sections:
        if section.movement is None:
            continue
        for seating in section.movement.seatings:
            for board in seating.boards:
                row = rows.get(PlayKey(section.letter, board, seating.ns, seating.ew))
                if row is None or row.content is None:
                    # They sat the other way round: it is the same board between the same pairs all the same.
                    other = rows.get(PlayKey(section.letter, board, seating.ew, seating.ns))
                    row = other if other is not None and other.content is not None else row
                out.append(
                    Cell(
                        section=section.letter,
                        round=seating.round,
                        table=seating.table,
                        board=board,
                        ns=seating.ns,
                        ew=seating.ew,
                        state=cell_state(row, final=final),
                        result=row,
                    )
                )
    return out


def cell_state(row: CurrentResult | None, *, final: bool = False) -> CellState:
    if row is None:
        return CellState.MISSING
    if row.attention:
        return CellState.ATTENTION
    if row.content is None:
        return CellState.MISSING
    if isinstance(row.content, NotPlayed):
        return CellState.NOT_PLAYED
    if final:
        return CellState.FINAL
    return {
        PlayStatus.CONFIRMED: CellState.CONFIRMED,
        PlayStatus.AMENDED: CellState.AMENDED,
        PlayStatus.FINAL: CellState.FINAL,
    }.get(row.status, CellState.ENTERED)


def missing(setup: EventSetup, current: Iterable[CurrentResult], round: int | None = None) -> list[Cell]:
    """Scheduled boards without a result; of one round if given. A board "not played" is not missing."""
    return [
        cell
        for cell in cells(setup, current)
        if (cell.result is None or cell.result.content is None) and round in (None, cell.round)
    ]


def unplanned(setup: EventSetup, current: Iterable[CurrentResult]) -> list[CurrentResult]:
    """Results of plays that the movement does not have (Law 15); also those held until there is a movement."""
    out = []
    for row in current:
        section = setup.section_called(row.play.section)
        movement = None if section is None else section.movement
        if row.content is None and not row.attention:
            continue  # erased, or moved to where it belongs
        known = movement is not None and row.play.play == 1
        if not known or (row.play.board, row.play.ns, row.play.ew) not in movement_numbers(movement).meetings:  # type: ignore[arg-type]
            out.append(row)
    return out


def plan_warnings(setup: EventSetup, row: CurrentResult) -> tuple[str, ...]:
    """How a result differs from the movement as it is now; a result held before the movement was set is bound here."""
    section = setup.section_called(row.play.section)
    if section is None or section.movement is None:
        return (UNBOUND,)
    where = movement_numbers(section.movement).meetings.get((row.play.board, row.play.ns, row.play.ew))
    if where is None:
        return (UNPLANNED,)
    wrong = []
    if row.round and where[0] != row.round:
        wrong.append(OTHER_ROUND)
    if row.table and where[1] != row.table:
        wrong.append(OTHER_TABLE)
    return tuple(wrong)


# --- for the scoring ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScoringInput:
    """What ``terminals.scoring`` needs of an event."""

    lines: list[ResultLine]
    fields: list[ScoringField]
    groups: list[WinnerGroup]


def scoring_input(
    setup: EventSetup, current: Iterable[CurrentResult], plans: Mapping[str, Plan] | None = None
) -> ScoringInput:
    """Lines of all current results, and the fields and winner groups of the movements.

    A field is a section, or several together when the event's settings ``across`` or ``fields`` say so. E is the same
    for every board of a field: the most that the movements schedule on one, so that a board that fewer play is factored
    up. In team movements both pairs of a team score for it, against the whole field.

    plans: section letter -> plan, where things happened: boards that were taken out with an artificial score in their
    place count (Law 12C2, 2007), unless somebody entered a result for them, and who is without standing is not ranked.
    A pair that shows another number from a round on is ranked under its last one, with everything that it played.
    """
    plans = plans or {}
    sections = {section.letter: section for section in setup.sections}
    lines = [
        result_line(row, sections[row.play.section])
        for row in current
        if row.content is not None and row.play.section in sections
    ]
    known = {(line.section, line.board, line.ns.number, line.ew.number) for line in lines}
    lines += [
        line
        for letter, plan in plans.items()
        if letter in sections
        for line in _instead(letter, plan)
        if (letter, line.board, line.ns.number, line.ew.number) not in known
    ]
    planned = [layout.Section(one.letter, one.movement) for one in setup.sections if one.movement is not None]
    if not planned:
        return ScoringInput(lines, [], [])
    rooms = _rooms(setup, planned)
    fields = []
    for room in rooms:
        letters = frozenset(one.letter for one in room.sections)
        (scheduled,) = room.expected_per_board().values()
        expected = field_expected(scheduled)
        usual = max(expected.values(), default=0)
        held: dict[int, int] = {}
        for line in lines:
            if line.section in letters and not isinstance(line.result, NotPlayed):
                held[line.board] = held.get(line.board, 0) + 1
        # More results than scheduled happen when pairs played boards that were not theirs (Law 15).
        expected.update({board: max(count, usual) for board, count in held.items()})
        fields.append(ScoringField(expected, letters))
    groups = []
    for room, ranking in [(one, ranking) for one in rooms for ranking in one.rankings()]:
        name = ranking.name.partition(" ")[2] if len(setup.sections) == 1 else ranking.name
        everybody = [Contestant(*layout.contestant(one)) for one in ranking.contestants]
        if len(rooms) > 1 and len({one.section for one in everybody}) > 1:
            name = f"{'+'.join(one.letter for one in room.sections)} {name}"
        standing = [one for one in everybody if one.section not in plans or _stands(plans[one.section], one)]
        groups.append(WinnerGroup(name, tuple(standing)))
    return ScoringInput(lines, fields, groups)


def _rooms(setup: EventSetup, planned: Sequence[layout.Section]) -> list[layout.Sections]:
    """The sections that are compared with each other, field by field."""
    letters = [one.letter for one in planned]
    parts = list(dict.fromkeys(setup.settings.field_of(letter, letters) for letter in letters))
    return [
        layout.Sections(
            tuple(one for one in planned if one.letter in part),
            layout.Field.ACROSS if len(part) > 1 else layout.Field.SEPARATE,
        )
        for part in parts
    ]


def _stands(plan: Plan, contestant: Contestant) -> bool:
    return contestant.number not in {plan.last_number(pair) for pair in plan.without_standing}


def _instead(letter: str, plan: Plan) -> Iterator[ResultLine]:
    """Lines for boards that were not played but scored; the side where nobody sat is number 0."""
    for one in plan.unplayed:
        ns, ew = one.verdict.ns, one.verdict.ew
        if ns is None or ew is None or one.ns == one.ew:
            continue
        shown = [Contestant(letter, plan.number_of(pair, one.round)) for pair in (one.ns, one.ew)]
        ranked = [Contestant(letter, plan.last_number(pair)) for pair in (one.ns, one.ew)]
        for board in one.boards:
            yield ResultLine(
                board,
                shown[0],
                shown[1],
                Artificial(_percent(ns), _percent(ew)),
                letter,
                ns_players=(ranked[0],) if ranked != shown else (),
                ew_players=(ranked[1],) if ranked != shown else (),
            )


def _percent(percent: int) -> Average | FixedPercent:
    usual = {60: Average.PLUS, 50: Average.EVEN, 40: Average.MINUS}
    return usual.get(percent) or FixedPercent(Fraction(percent))


def result_line(row: CurrentResult, section: Section) -> ResultLine:
    """A current result as the scoring reads it; in team and individual events with those who are credited."""
    play = row.play
    ns_players: tuple[Contestant, ...] = ()
    ew_players: tuple[Contestant, ...] = ()
    if section.movement is not None and section.movement.format is Format.INDIVIDUAL:
        seating = _seating(section.movement, row)
        if seating is not None and seating.players:
            north, east, south, west = (Contestant(play.section, one) for one in seating.players)
            ns_players, ew_players = (north, south), (east, west)
    elif section.movement is not None and section.movement.renumbered:
        where = movement_numbers(section.movement).meetings.get((play.board, play.ns, play.ew))
        at = row.round or (where[0] if where is not None else section.movement.rounds)
        ns_players = (Contestant(play.section, section.movement.ranked_number(play.ns, at)),)
        ew_players = (Contestant(play.section, section.movement.ranked_number(play.ew, at)),)
    elif section.movement is not None and section.movement.format is Format.TEAMS:
        ours, theirs = section.movement.team_of(play.ns), section.movement.team_of(play.ew)
        if ours is not None and theirs is not None and ours is not theirs:
            ns_players = (Contestant(play.section, ours.number),)
            ew_players = (Contestant(play.section, theirs.number),)
    return ResultLine(
        board=play.board,
        ns=Contestant(play.section, play.ns),
        ew=Contestant(play.section, play.ew),
        result=row.content if row.content is not None else NotEntered(),
        section=play.section,
        play=play.play,
        ns_players=ns_players,
        ew_players=ew_players,
    )


def _seating(movement: Movement, row: CurrentResult) -> Seating | None:
    where = movement_numbers(movement).meetings.get((row.play.board, row.play.ns, row.play.ew))
    return None if where is None else movement.at(*where)


# --- a playing director ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Veil:
    """Which boards a playing director has yet to play: of those he sees that they are entered, not what.

    boards: (section, board) hidden from him.
    """

    boards: frozenset[tuple[str, int]]

    def hides(self, play: PlayKey) -> bool:
        return (play.section, play.board) in self.boards


NO_VEIL = Veil(frozenset())


def veil_for(setup: EventSetup, current: Iterable[CurrentResult], director: Iterable[str]) -> Veil:
    """The veil of a director who plays as ``director`` ("A7": section letter and number)."""
    rows = list(current)
    hidden: set[tuple[str, int]] = set()
    for name in director:
        try:
            letter, pair = layout.contestant(name)
        except EntryError:
            continue
        section = setup.section_called(letter)
        if section is None or section.movement is None:
            continue
        done = {
            row.play.board
            for row in rows
            if row.play.section == section.letter and pair in (row.play.ns, row.play.ew) and row.content is not None
        }
        hidden.update((section.letter, board) for board in section.movement.boards_of(pair) if board not in done)
    return Veil(frozenset(hidden))


def veiled(rows: Iterable[CurrentResult], veil: Veil) -> Iterator[tuple[CurrentResult, bool]]:
    """Each row with True when its content must not be shown."""
    for row in rows:
        yield row, veil.hides(row.play)


def counts(current: Iterable[CurrentResult]) -> Mapping[str, int]:
    """Results by state, for a line of progress."""
    out: dict[str, int] = {}
    for row in current:
        state = cell_state(row).value
        out[state] = out.get(state, 0) + 1
    return out
