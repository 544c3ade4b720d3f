"""When the session is over: a pair's whole card, and the whole rankings, at any terminal of its section on request.

Runs inside the batch's transaction. Before that nothing is told: whoever sits at the table now may yet have to play
what a pair that was here before has played.
"""

from __future__ import annotations

from firmware_bridge.db import Connection
from firmware_bridge.wire.messages import Ask, Message, Recap, RecapLine, Standing, Standings, fit_text
from firmware_bridge.wire.numbers import AskFor
from terminals.store import desk, results
from terminals.store.values import PlayKey
from terminals.sync.conditions import decided
from terminals.sync.event_score import EventScore, score_event
from terminals.sync.feedback import NOT_SHOWN, ScoreKey, line_of, percent_of, ranked_by, score_key
from terminals.sync.people import NAME_BYTES
from terminals.sync.period import period
from terminals.sync.setup import EventSetup, Section, section_number
from terminals.sync.tables import missing, scoring_input

MAX_LINES = 255
MAX_PAIRS = 255

_Scored = tuple[EventScore, tuple[str, ...]]
_LAST: list[tuple[ScoreKey, bool, _Scored | None]] = []


def recap(connection: Connection, setup: EventSetup, seat: tuple[int, int], asked: Ask) -> tuple[Message, ...]:
    """The answer to ASK(recap) or ASK(standings). Raises FirmwareBridgeError when the event can't be scored."""
    section = setup.section(seat[0])
    event = desk.event_hex(setup.id)
    if section is None or not (_complete(connection, setup, event) or _published(connection, event)):
        return ()
    if asked.what == AskFor.RECAP:
        return _recap(connection, setup, section, event, asked.board)
    return _standings(connection, setup, section, event)


def _published(connection: Connection, event: str) -> bool:
    return period(connection, event).published_at is not None


def _complete(connection: Connection, setup: EventSetup, event: str) -> bool:
    """Every scheduled board of the event has a result; worked out once for each state of the store."""
    key = score_key(connection, setup, event)
    if not _LAST or _LAST[0][0] != key:
        planned = any(section.movement is not None for section in setup.sections)
        over = planned and not missing(setup, results.current(connection, event))
        _LAST[:] = [(key, over, None)]
    return _LAST[0][1]


def _scored(connection: Connection, setup: EventSetup, event: str) -> _Scored:
    """The scored session and the names of its rankings."""
    _complete(connection, setup, event)
    key, over, found = _LAST[0]
    if found is None:
        conditions = decided(connection, setup).conditions(setup)
        score = score_event(setup, results.current(connection, event), conditions)
        found = (score, tuple(group.name for group in scoring_input(setup, ()).groups))
        _LAST[:] = [(key, over, found)]
    return found


def _recap(connection: Connection, setup: EventSetup, section: Section, event: str, pair: int) -> tuple[Message, ...]:
    score, _ = _scored(connection, setup, event)
    scores = {
        PlayKey(one.line.section, one.line.board, one.line.ns.number, one.line.ew.number, one.line.play): one
        for lines in score.boards.values()
        for one in lines
    }
    shown = setup.settings_of(section.number).percentages
    told = []
    for row in results.current(connection, event):
        play = row.play
        if play.section != section.letter or pair not in (play.ns, play.ew) or row.content is None:
            continue
        one = scores.get(play)
        if one is None:
            continue
        line = line_of(row, one, percentages=False)
        own_ns = play.ns == pair
        told.append(
            RecapLine(
                board=play.board,
                round=row.round,
                opponents=play.ew if own_ns else play.ns,
                direction=int(not own_ns),
                kind=line.kind,
                contract=line.contract,
                declarer=line.declarer,
                tricks=line.tricks,
                score=line.score,
                percent=percent_of(one.ns if own_ns else one.ew) if shown else NOT_SHOWN,
            )
        )
    told.sort(key=lambda line: (line.round, line.board))
    return (Recap(pair, tuple(told[:MAX_LINES])),) if told else ()


def _standings(connection: Connection, setup: EventSetup, section: Section, event: str) -> tuple[Message, ...]:
    settings = setup.settings_of(section.number)
    if not settings.ranking:
        return ()
    score, groups = _scored(connection, setup, event)
    names: dict[tuple[str, int], str] = {}
    if settings.names:
        for person in desk.people(connection, event):
            if person.name:
                who = (person.section, person.pair)
                names[who] = f"{names[who]} - {person.name}" if who in names else person.name
    own = [
        (name, rows, unit)
        for name, rows, unit in zip(groups, score.rankings, score.units, strict=True)
        if any(row.contestant.section == section.letter for row in rows)
    ]
    out = []
    for number, (name, rows, unit) in enumerate(own, start=1):
        pairs = tuple(
            Standing(
                section=section_number(row.contestant.section),
                pair=row.contestant.number,
                place=row.place,
                percent=ranked_by(row, unit),
                boards=min(255, row.boards),
                name=fit_text(names.get((row.contestant.section, row.contestant.number), ""), NAME_BYTES),
            )
            for row in rows[:MAX_PAIRS]
        )
        out.append(Standings(number, len(own), fit_text(name, NAME_BYTES), pairs))
    return tuple(out)
