"""Commands that bring data of an event that runs: results, players, seats, deals, settings, calls of the director."""

from __future__ import annotations

import json
from collections.abc import Sequence

from firmware_bridge.errors import EntryError
from terminals.interop.data_connector import validate_data
from terminals.interop.data_connector.context import Answer, Context, Message
from terminals.interop.data_connector.deals import keep_deals
from terminals.interop.data_connector.envelope import Refusal, ok
from terminals.interop.data_connector.numbers import CallStatus, ErrorType, GameType
from terminals.interop.data_connector.people import LeftSeats, put_players, put_seats, queue_people, unknown_numbers
from terminals.interop.data_connector.program_settings import with_program_settings
from terminals.interop.data_connector.queues import PROGRAM, advance, call_key
from terminals.interop.data_connector.result_rows import (
    Place,
    Section,
    from_dtos,
    is_known,
    is_planned,
    is_told,
    place_of,
    play_of,
    to_dto,
)
from terminals.interop.data_connector.shapes import (
    BM2,
    CALL,
    DEAL,
    PLAYER,
    RESULT,
    SEAT,
    Dto,
    Shape,
    dumps,
)
from terminals.interop.data_connector.structure import Structure
from terminals.result import BoardState, PassedOut, Played
from terminals.settings import SECTION_SETTINGS
from terminals.store import data_connector as store
from terminals.store import results
from terminals.store.results import CurrentResult
from terminals.sync.director import By, Director
from terminals.sync.setup import EventSetup, section_number

# --- results -----------------------------------------------------------------------------------------------------


def put_results(context: Context) -> Answer:
    """PutResults: each row is what the board's result is from now on, or that it has none. All rows, or none."""
    rows = context.rows(RESULT, validate_data.result)
    structure = context.structure()
    # What happened at the tables until now comes first: the program's word is the later one.
    advance(context.connection, structure)
    setup = _setup(context, structure)
    director = Director(context.connection, setup, By(PROGRAM, note=context.request.club[:100], wall=context.wall))
    current = results.current(context.connection, structure.event)
    there = {row.play for row in current}
    stands = _by_place(structure, current)
    boards: dict[tuple[str, int, int, int], list[Dto]] = {}
    for dto in rows:
        section = context.section(structure, dto["SectionLetters"])
        play = play_of(section, dto)
        # Pairs that never meet may have played all the same (Law 15).
        if play is None or not (is_known(section, play) or play in there):
            where = (
                f"table {section.letters}{dto['TableNumber']}, round {dto['RoundNumber']}, board {dto['BoardNumber']}"
            )
            raise Refusal(ErrorType.MOVEMENT, f"The movement does not have {where}.")
        key = (section.letters, dto["TableNumber"], dto["RoundNumber"], dto["BoardNumber"])
        boards.setdefault(key, []).append(dto)
    messages = []
    for (letters, table, _, board), told in boards.items():
        section = context.section(structure, letters)
        words = _put_board(context, director, section, told, stands.get(_place(section, told[-1]), ()))
        if words:
            messages.append(Message(f"Board {board}: {words}", section_number(section.letter), table))
    advance(context.connection, structure)
    return Answer(ok("Results were taken."), messages=tuple(messages))


def _place(section: Section, dto: Dto) -> str:
    return Place(dto["RoundNumber"], dto["TableNumber"], dto["BoardNumber"]).key(section.letters)


def _by_place(structure: Structure, current: Sequence[CurrentResult]) -> dict[str, list[CurrentResult]]:
    """The results that stand, by where the program has them: programs send thousands in one message."""
    sections = {section.letter: section for section in structure.sections()}
    out: dict[str, list[CurrentResult]] = {}
    for row in current:
        section = sections.get(row.play.section)
        if section is not None and row.content is not None:
            place = place_of(section, row.play, row.round, row.table)
            out.setdefault(place.key(section.letters), []).append(row)
    return out


def _put_board(
    context: Context, director: Director, section: Section, rows: Sequence[Dto], there: Sequence[CurrentResult]
) -> str:
    """Give one board its result; words for its table, "" when nothing changed. there: what stands in its place."""
    last = rows[-1]
    if last["IsDeleted"]:
        for row in there:
            director.erase(row.play)
        return "the result was erased by the scoring program." if there else ""
    for row in there if len(there) == 1 else ():
        if row.content is not None and is_told(
            section, row.play, row.content, rows, place_of(section, row.play, row.round, row.table)
        ):
            # Programs send again what they were told; what they could not be told must not be lost by that.
            return ""
    play = play_of(section, last)
    assert play is not None
    wanted = from_dtos([dto for dto in rows if not dto["IsDeleted"]])
    for row in there:
        if row.play != play:
            director.erase(row.play)
        elif _says(row.content, wanted):
            return ""
    _tell_replaced(context, section, there, wanted)
    place = (0, 0) if is_planned(section, play) else (last["RoundNumber"], last["TableNumber"])
    director.rule(play, wanted, place=place)
    return f"the scoring program says {wanted}."


def _tell_replaced(context: Context, section: Section, there: Sequence[CurrentResult], wanted: BoardState) -> None:
    """The desk hears of a ruling that the program could not be told and has now replaced."""
    for row in there:
        place = place_of(section, row.play, row.round, row.table)
        if row.content is None or not to_dto(section, "", row.play, row.content, place).lost:
            continue
        where = f"section {section.letter}, table {place.table}, board {place.board}"
        text = f"The scoring program replaced {row.content} by {wanted} ({where}). Make the ruling again if it stands."
        context.tell(f"replaced {row.play} {row.number}", text)


def _says(content: BoardState | None, wanted: BoardState) -> bool:
    """Whether the stored result says the same; the program may not know the lead, or why a board was not played."""
    if isinstance(content, Played) and isinstance(wanted, Played) and wanted.lead is None:
        return (content.contract, content.tricks) == (wanted.contract, wanted.tricks)
    if isinstance(content, PassedOut) or isinstance(wanted, PassedOut):
        return content == wanted
    return content == wanted or (type(content) is type(wanted) and str(content) == "Not played")


# --- players and seats -------------------------------------------------------------------------------------------


def put_player_data(context: Context) -> Answer:
    """PutPlayerData."""
    rows = context.rows(PLAYER, validate_data.player)
    structure = context.structure()
    queue_people(context.connection, structure, context.request.session)
    put_players(context.connection, structure, context.request.session, rows)
    return Answer(ok("Players were taken."))


def put_participations(context: Context) -> Answer:
    """PutParticipations."""
    rows = context.rows(SEAT, validate_data.seat)
    structure = context.structure()
    for dto in rows:
        section = context.section(structure, dto["SectionLetters"])
        if dto["RoundNumber"] > 1 and not section.dto["HasExplicitParticipations"]:
            raise Refusal(ErrorType.VALIDATION, "Later rounds are for sections with explicit participations.")
    unknown = unknown_numbers(context.connection, structure, context.request.session, rows)
    if unknown:
        raise Refusal(ErrorType.ENTRY_UNKNOWN, *(f"There is no player {number[:40]}." for number in unknown))
    # What was changed at the tables until now comes first: the program's word is the later one.
    queue_people(context.connection, structure, context.request.session)
    rows = LeftSeats(context.connection, structure, context.request.session).rows(rows)
    put_seats(context.connection, structure, context.request.session, rows)
    changed = _seat_individuals(context, structure, {(dto["SectionLetters"] or "").strip() for dto in rows})
    setup = context.save_structure(structure, changed) if changed else None
    if changed:
        put_seats(context.connection, structure, context.request.session, _told_seats(context, structure))
    return Answer(ok("Seats were taken."), setup)


def _seat_individuals(context: Context, structure: Structure, letters: set[str]) -> set[str]:
    """Sections that are an individual and now know who sits where; those with results stay as they are."""
    played = {row.play.section for row in results.current(context.connection, structure.event)}
    told = _told_seats(context, structure)
    changed = set()
    for name in sorted(letters):
        section = context.section(structure, name)
        if section.dto["GameType"] != GameType.INDIVIDUAL or section.letter in played:
            continue
        before = structure.players(name)
        here = [dto for dto in told if (dto["SectionLetters"] or "").strip() == name]
        structure.put_section(section.dto, here, anew=True)
        if structure.players(name) != before:
            changed.add(name)
    return changed


def _told_seats(context: Context, structure: Structure) -> list[Dto]:
    states = store.states(context.connection, structure.event, context.request.session, "seat")
    return [json.loads(body) for body in states.values()]


# --- deals -------------------------------------------------------------------------------------------------------


def put_handrecords(context: Context) -> Answer:
    """PutHandrecords."""
    rows = context.rows(DEAL, validate_data.deal)
    structure = context.structure()
    for dto in rows:
        context.section(structure, dto["SectionLetters"])
    keep_deals(context.connection, structure, rows)
    return Answer(ok("Deals were taken."))


# --- settings ----------------------------------------------------------------------------------------------------


def put_settings(context: Context, shape: Shape) -> Answer:
    """PutBridgemate2Settings and PutBridgemate3Settings."""
    older = shape is BM2
    rows = context.rows(shape, validate_data.bm2 if older else validate_data.bm3)
    structure = context.structure()
    for dto in rows:
        context.section(structure, dto["SectionLetters"])
    return Answer(ok("Settings were taken."), take_settings(context, structure, *((rows, []) if older else ([], rows))))


def take_settings(context: Context, structure: Structure, bm2: Sequence[Dto], bm3: Sequence[Dto]) -> EventSetup | None:
    """Keep settings and let them count; gives the event when it changed and the terminals play it."""
    keep_settings(context, structure, bm2, bm3)
    setup = _setup(context, structure)
    changed, notes = with_program_settings(setup, structure.numbers(), bm2, bm3)
    context.tell_all(structure.event, notes)
    if changed == setup:
        return None
    both = [(setup.settings_of(one.number), changed.settings_of(one.number)) for one in setup.sections]
    names = [name for name in SECTION_SETTINGS if any(getattr(old, name) != getattr(new, name) for old, new in both)]
    context.log(structure, "settings", names=names)
    active = context.is_active(structure)
    context.save_setup(changed, activate=active)
    return changed if active else None


def keep_settings(context: Context, structure: Structure, bm2: Sequence[Dto], bm3: Sequence[Dto]) -> None:
    for rows, model in ((bm2, 2), (bm3, 3)):
        for dto in rows:
            key = f"{(dto['SectionLetters'] or '').strip()}/{model}"
            store.put_state(context.connection, structure.event, dto["SessionGuid"], "settings", key, dumps(dto))


# --- calls -------------------------------------------------------------------------------------------------------

_CALL_WORDS = {
    CallStatus.IN_PROGRESS: "The director is coming.",
    CallStatus.RESOLVED: "",
    CallStatus.DEFERRED: "The director comes later.",
}


def put_calls(context: Context) -> Answer:
    """PutTdCalls: the program's director answers a call, or calls for a table."""
    rows = context.rows(CALL, validate_data.call)
    structure = context.structure()
    sections = [context.section(structure, dto["SectionLetters"]) for dto in rows]
    for section, dto in zip(sections, rows, strict=True):
        if section.movement is not None and dto["TableNumber"] > section.movement.tables:
            raise Refusal(ErrorType.MOVEMENT, f"There is no table {section.letters}{dto['TableNumber']}.")
    advance(context.connection, structure)
    told = store.keys(context.connection, structure.event, context.request.session, "call")
    messages = []
    for section, dto in zip(sections, rows, strict=True):
        key, body = call_key(section.letters, dto["TableNumber"]), dumps(dto)
        if store.state(context.connection, structure.event, context.request.session, "call", key) == body:
            continue
        status = CallStatus(dto["Status"])
        # A call that waits is open at our desk: it knows called, coming and done.
        state = {CallStatus.IN_PROGRESS: 2, CallStatus.RESOLVED: 3}.get(status, 1)
        kind = "call" if status is CallStatus.LAUNCHED else "call-answered"
        place = {"section": section.letter, "table": dto["TableNumber"], "round": dto["RoundNumber"]}
        context.log(structure, kind, state=state, **place)
        store.put_own(context.connection, structure.event, context.request.session, "call", key, body, told)
        words = _CALL_WORDS.get(status, "")
        if words:
            messages.append(Message(words, section_number(section.letter), dto["TableNumber"]))
    _skip_own(context, structure)
    return Answer(ok("Calls were taken."), messages=tuple(messages))


def _skip_own(context: Context, structure: Structure) -> None:
    """What was just logged is the program's own; the state that it told is kept as it told it."""
    session = context.request.session
    states = store.states(context.connection, structure.event, session, "call")
    advance(context.connection, structure)
    for key, body in states.items():
        store.put_state(context.connection, structure.event, session, "call", key, body)


def _setup(context: Context, structure: Structure) -> EventSetup:
    setup = context.stored_setup(structure.id)
    if setup is None:
        raise EntryError("the event is not in the store any more.", code="no-event")
    return setup
