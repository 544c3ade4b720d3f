"""From our outbox to the queues of a scoring program: each change of a result and each call becomes one item, once.

Everything happens inside a transaction of the caller, and the position in the outbox is part of it: after a crash the
same items are made again, or none. What the program itself told is known to it: it comes once more only behind older
news of the same board (``store.put_own``).
"""

from __future__ import annotations

import json

from firmware_bridge.db import Connection
from terminals.interop.data_connector.result_rows import Place, Section, Told, place_of, to_dto
from terminals.interop.data_connector.shapes import CALL, Dto, blank, dumps
from terminals.interop.data_connector.structure import Structure
from terminals.store import data_connector as store
from terminals.store import desk, ledger, results
from terminals.store.desk import DeskEvent
from terminals.store.values import PlayKey, PlayState, ResultEvent
from terminals.sync import ruling_log
from terminals.sync.projection import resolve
from terminals.sync.setup import MAX_SECTIONS, section_letter

PROGRAM = "scoring program"
"""Who acts when the program does, in the ledger and at the desk."""
ALARM = "data-connector"
_STEP = 2000


def behind(connection: Connection, event: str) -> bool:
    """Whether something happened in the event since ``advance`` looked."""
    position = results.reader_position(connection, store.READER + event)
    return bool(results.outbox_after(connection, event, position, 1))


def advance(connection: Connection, structure: Structure, limit: int | None = None) -> None:
    """Queue all that happened since the last time, or the first ``limit`` changes of it."""
    event, name = structure.event, store.READER + structure.event
    position = results.reader_position(connection, name)
    histories: dict[PlayKey, list[ResultEvent]] = {}
    told_of: dict[str, dict[str, bool]] = {}
    left = limit
    while rows := results.outbox_after(connection, event, position, _STEP if left is None else min(_STEP, left)):
        left = None if left is None else left - len(rows)
        numbers = {subject for _, kind, subject in rows if kind == "result"}
        made = {}
        if numbers:
            newest = max(numbers)
            for one in results.all_events(connection, event, min(numbers) - 1):
                if one.number > newest:
                    break
                made[one.number] = one
        calls = [subject for _, kind, subject in rows if kind == "desk"]
        found = desk.desk_events(connection, event, after=min(calls) - 1) if calls else []
        said = {item.number: item for item in found}
        for number, kind, subject in rows:
            position = number
            if kind == "result" and subject in made:
                _result(connection, structure, made[subject], histories, told_of)
            elif kind == "desk" and subject in said:
                _desk_item(connection, structure, said[subject])
    results.set_reader_position(connection, name, position)


def _result(
    connection: Connection,
    structure: Structure,
    event: ResultEvent,
    histories: dict[PlayKey, list[ResultEvent]],
    told_of: dict[str, dict[str, bool]],
) -> None:
    """told_of: session -> ``store.keys``, as far as they were looked up."""
    section = structure.section_of(event.play.section)
    if section is None:
        return
    play = event.play
    where = f"section {section.letter}, board {play.board}, pairs {play.ns} and {play.ew}"
    if play.play != 1:
        # The protocol has no word for a second play of a board (Law 15).
        _unsaid(connection, f"play {play}", f"a second play of a board ({where})")
        return
    state = _state(connection, structure, event.play, event.number, histories)
    place = place_of(section, event.play, state.round or event.round, state.table or event.table)
    if not place.round or not place.table:
        # Nothing in the protocol could name it.
        if state.content is not None:
            _unsaid(connection, f"play {play}", f"a result of pairs that meet at no table ({where})")
        return
    session = structure.session_of(section)
    key = place.key(section.letters)
    known = store.state(connection, structure.event, session, "result", key)
    told = to_dto(section, session, event.play, state.content, place)
    if state.content is None:
        if known is None or json.loads(known)["IsDeleted"]:
            return
        # The same board may stand there with the pairs the other way round; then that is what is left.
        told = _left(connection, structure, section, event, place, histories) or told
    body = dumps(told.dto)
    if known == body:
        return
    if event.actor == PROGRAM:
        if session not in told_of:
            told_of[session] = store.keys(connection, structure.event, session, "result")
        store.put_own(connection, structure.event, session, "result", key, body, told_of[session])
        return
    store.add_item(connection, structure.event, session, "result", key, body)
    told_of.get(session, {})[key] = True
    _tell(connection, section, place, told)


def _state(
    connection: Connection,
    structure: Structure,
    play: PlayKey,
    number: int,
    histories: dict[PlayKey, list[ResultEvent]],
) -> PlayState:
    """A play as it was after the event with this number."""
    history = histories.get(play)
    if history is None:
        history = histories[play] = results.of_play(connection, structure.event, play)
    return resolve(play, [one for one in history if one.number <= number])


def _left(
    connection: Connection,
    structure: Structure,
    section: Section,
    event: ResultEvent,
    place: Place,
    histories: dict[PlayKey, list[ResultEvent]],
) -> Told | None:
    """The last other result at the same table, round and board, after one of them is gone."""
    found: tuple[int, Told] | None = None
    for row in results.of_board(connection, structure.event, event.play.board, event.play.section):
        play = row.play
        if play == event.play or play.play != 1:
            continue
        planned = place_of(section, play, 0, 0)
        if planned.round and (planned.round, planned.table) != (place.round, place.table):
            continue
        state = _state(connection, structure, play, event.number, histories)
        here = place_of(section, play, state.round, state.table)
        same = (here.round, here.table) == (place.round, place.table)
        if same and state.content is not None and (found is None or state.number > found[0]):
            found = state.number, to_dto(section, structure.session_of(section), play, state.content, here)
    return None if found is None else found[1]


def _tell(connection: Connection, section: Section, place: Place, told: Told) -> None:
    if told.lost:
        where = f"section {section.letter}, table {place.table}, board {place.board}"
        _unsaid(connection, f"result {place.key(section.letters)}", f"{told.lost} ({where})")


def _unsaid(connection: Connection, subject: str, what: str) -> None:
    text = f"The scoring program can't be told {what}. Enter it there by hand."
    ledger.raise_alarm(connection, ALARM, subject, text)


def _desk_item(connection: Connection, structure: Structure, item: DeskEvent) -> None:
    """What the director did beside results: calls are queued, the rest has no words in the protocol."""
    if item.kind in ("call", "call-answered"):
        _call(connection, structure, item)
    elif item.kind == "penalty":
        who = f"{item.data.get('section')}{item.data.get('pair')}"
        _unsaid(connection, f"penalty {item.number}", f"a penalty or bonus for {who}")
    elif item.kind == "happening" and item.actor != PROGRAM:
        text = f"The scoring program does not know of the change of plan in section {item.data.get('section')}."
        ledger.raise_alarm(connection, ALARM, f"plan {item.number}", f"{text} Make it there too.")
    elif item.kind == ruling_log.RULING:
        if item.data.get("penalty"):
            letter, number, *_ = item.data["penalty"]
            _unsaid(connection, f"penalty {item.number}", f"a penalty or bonus for {letter}{number}")
        if item.data.get("forms"):
            _unsaid(connection, f"fouled {item.number}", f"that board {item.data.get('board')} was fouled (Law 87)")


# --- calls of the director ---------------------------------------------------------------------------------------


def call_key(letters: str, table: int) -> str:
    return f"{letters}/{table}"


def _call(connection: Connection, structure: Structure, item: DeskEvent) -> None:
    named = item.data.get("section")
    letter = str(named or "")
    if isinstance(named, int):
        letter = section_letter(named) if 1 <= named <= MAX_SECTIONS else ""
    section = structure.section_of(letter)
    state, table = int(item.data.get("state", 0)), int(item.data.get("table") or 0)
    if section is None or state not in (1, 2, 3) or not table:
        return
    session = structure.session_of(section)
    key = call_key(section.letters, table)
    known = store.state(connection, structure.event, session, "call", key)
    before: Dto | None = None if known is None else json.loads(known)
    is_open = before is not None and before["Status"] != 3
    if state == 1 and not is_open:
        hour, minute = _time(item.wall)
        dto = blank(CALL, SessionGuid=session, SectionLetters=section.letters, TableNumber=table, Status=1)
        dto |= {"RoundNumber": max(1, int(item.data.get("round") or 1)), "Hour": hour, "Minute": minute}
    elif before is not None and is_open:
        # The time of the launch names the call: the protocol gives it no number.
        dto = {**before, "Status": state}
    else:
        return
    body = dumps(dto)
    if body == known:
        return
    if item.actor == PROGRAM:
        store.put_state(connection, structure.event, session, "call", key, body)
    else:
        store.add_item(connection, structure.event, session, "call", key, body)


def _time(wall: str) -> tuple[int, int]:
    hour, minute = wall[11:13], wall[14:16]
    return (int(hour), int(minute)) if hour.isdigit() and minute.isdigit() else (0, 0)
