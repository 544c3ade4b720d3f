"""What a table may see once its board is confirmed: the traveller, and where its two pairs stand.

Runs inside the batch's transaction, like every answer. Nothing is told of a board that this table has not finished in
its present round, and nothing that the event's settings do not allow.
"""

from __future__ import annotations

from fractions import Fraction

from firmware_bridge.db import Connection
from firmware_bridge.wire.messages import Ask, Feedback, Message, Ranking, RankingPair, TravellerLine
from firmware_bridge.wire.numbers import AskFor, RecordKind
from terminals.result import NotPlayed, PassedOut, Played
from terminals.scoring.boards import LineScore, SideScore
from terminals.scoring.contract_score import score_ns
from terminals.scoring.ranking import RankRow
from terminals.scoring.rounding import round_to
from terminals.scoring.session import score_board
from terminals.store import desk, results
from terminals.store.results import CurrentResult
from terminals.store.values import PlayStatus
from terminals.sync.conditions import decided
from terminals.sync.event_score import PERCENT, score_event
from terminals.sync.ruling_log import forms, with_forms
from terminals.sync.setup import EventSetup, Section
from terminals.sync.tables import scoring_input

MAX_LINES = 40
NOT_SHOWN = 65535
SCORE_ZERO = 32768


def feedback(connection: Connection, setup: EventSetup, seat: tuple[int, int], asked: Ask) -> tuple[Message, ...]:
    """The answer to ASK, or nothing. Raises FirmwareBridgeError when the event can't be scored."""
    section = setup.section(seat[0])
    if section is None:
        return ()
    if asked.what == AskFor.TRAVELLER:
        return _traveller(connection, setup, section, seat[1], asked)
    if asked.what == AskFor.RANKING:
        return _ranking(connection, setup, section, seat[1], asked)
    return ()


def _finished(setup: EventSetup, section: Section, row: CurrentResult) -> bool:
    """The board has a result that nobody questions and that both sides have accepted, if the event wants that."""
    accepted = row.status is not PlayStatus.ENTERED or not setup.settings_of(section.number).confirm
    return row.content is not None and accepted and not row.attention


def _traveller(
    connection: Connection, setup: EventSetup, section: Section, table: int, asked: Ask
) -> tuple[Message, ...]:
    settings, event = setup.settings_of(section.number), desk.event_hex(setup.id)
    if not settings.traveller and not settings.percentages:
        return ()
    rows = results.of_table_and_board(connection, event, section.letter, table, asked.board)
    here = [row for row in rows if row.table == table and row.content is not None]
    present = max((row.round for row in here), default=0)
    own = next((row for row in here if row.play.board == asked.board and row.round == asked.round), None)
    if (
        own is None
        or asked.round != present
        or not _finished(setup, section, own)
        or isinstance(own.content, NotPlayed)
    ):
        return ()
    letters = settings.field_of(section.letter, [one.letter for one in setup.sections])
    if len(letters) > 1:
        rows = [row for row in results.of_board(connection, event, asked.board) if row.play.section in letters]
    field = [row for row in rows if row.play.board == asked.board and row.content is not None]
    data = scoring_input(setup, field)
    conditions = decided(connection, setup, plans=False)
    expected = next((one.expected for one in data.fields if one.holds(section.letter)), {asked.board: len(field)})
    ruled = with_forms(data.lines, forms(conditions.kept))
    scores = score_board(ruled, expected, conditions.profile(setup), conditions.scheme.method)
    lines = [
        (line_of(row, score, percentages=settings.percentages), row.play == own.play)
        for row, score in zip(field, scores, strict=True)
    ]
    mine = next(line for line, is_own in lines if is_own)
    shown: list[TravellerLine] = []
    if settings.traveller:
        lines.sort(key=lambda pair: (-pair[0].score, pair[0].ns, pair[0].ew))
        others = [pair for pair in lines if not pair[1]][: MAX_LINES - 1]
        shown = [line for line, is_own in lines if is_own or (line, False) in others]
    return (Feedback(asked.round, asked.board, own.play.ns, own.play.ew, mine.percent, tuple(shown)),)


def line_of(row: CurrentResult, score: LineScore, *, percentages: bool) -> TravellerLine:
    content = row.content
    marked = score.line.vulnerability
    points = score_ns(content, row.play.board, marked) if isinstance(content, (Played, PassedOut)) else None
    kind = contract = declarer = tricks = 0
    if isinstance(content, Played):
        made = content.contract
        kind, declarer, tricks = int(RecordKind.PLAYED), int(made.declarer), content.tricks
        contract = made.level | int(made.strain) << 3 | int(made.doubling) << 6
    elif isinstance(content, PassedOut):
        kind = int(RecordKind.PASSED_OUT)
    elif isinstance(content, NotPlayed):
        kind = int(RecordKind.NOT_PLAYED)
    return TravellerLine(
        ns=row.play.ns,
        ew=row.play.ew,
        kind=kind,
        contract=contract,
        declarer=declarer,
        tricks=tricks,
        score=0 if points is None else points + SCORE_ZERO,
        percent=percent_of(score.ns) if percentages else NOT_SHOWN,
    )


def percent_of(side: SideScore | None) -> int:
    """In hundredths."""
    value = None if side is None else side.percent
    return NOT_SHOWN if value is None else hundredths(value)


def hundredths(percent: Fraction) -> int:
    return int(round_to(min(max(percent, Fraction(0)), Fraction(100)) * 100, Fraction(1)))


def _ranking(
    connection: Connection, setup: EventSetup, section: Section, table: int, asked: Ask
) -> tuple[Message, ...]:
    event = desk.event_hex(setup.id)
    seating = None if section.movement is None else section.movement.at(asked.round, table)
    if not setup.settings_of(section.number).ranking or seating is None:
        return ()
    rows = results.of_table_and_board(connection, event, section.letter, table, 0)
    done = {row.play.board for row in rows if row.round == asked.round and _finished(setup, section, row)}
    present = max((row.round for row in rows if row.content is not None), default=0)
    if not done.issuperset(seating.boards) or asked.round != present:
        return ()
    standing = _standing(connection, setup, event)
    pairs = [
        standing[direction, section.letter, pair]
        for direction, pair in (("NS", seating.ns), ("EW", seating.ew))
        if (direction, section.letter, pair) in standing
    ]
    return (Ranking(asked.round, tuple(pairs)),) if pairs else ()


Standing = dict[tuple[str, str, int], RankingPair]
ScoreKey = tuple[str, int, int, int]
_LAST: list[tuple[ScoreKey, Standing]] = []


def score_key(connection: Connection, setup: EventSetup, event: str) -> ScoreKey:
    """What the score of an event depends on: results, plan, profile, and what the director decided."""
    return event, results.last_number(connection), desk.last_number(connection), setup.plan_version


def ranked_by(row: RankRow, unit: str) -> int:
    """The percentage of a row in hundredths; a ranking by IMPs or victory points has none."""
    return hundredths(row.percent) if unit == PERCENT else NOT_SHOWN


def _standing(connection: Connection, setup: EventSetup, event: str) -> Standing:
    """(direction, section, pair) -> its place; worked out once for each state of the store."""
    key = score_key(connection, setup, event)
    if _LAST and _LAST[0][0] == key:
        return _LAST[0][1]
    score = score_event(setup, results.current(connection, event), decided(connection, setup).conditions(setup))
    found: Standing = {}
    for rows, unit in zip(score.rankings, score.units, strict=True):
        for row in rows:
            one = row.contestant
            told = RankingPair(one.number, row.place, len(rows), ranked_by(row, unit), min(255, row.boards))
            for direction in (one.direction,) if one.direction else ("NS", "EW"):
                found[direction, one.section, one.number] = told
    _LAST[:] = [(key, found)]
    return found
