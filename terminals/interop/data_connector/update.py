"""Commands about movements and scoring groups of an event that runs, and questions about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from terminals.interop.data_connector import validate
from terminals.interop.data_connector.begin import log_method
from terminals.interop.data_connector.checks import is_blank
from terminals.interop.data_connector.context import Answer, Context
from terminals.interop.data_connector.envelope import Refusal, Reply, ok
from terminals.interop.data_connector.numbers import DataType, ErrorType
from terminals.interop.data_connector.people import put_players, put_seats, queue_people
from terminals.interop.data_connector.queues import PROGRAM, advance
from terminals.interop.data_connector.result_rows import Section, place_of
from terminals.interop.data_connector.shapes import GROUP, MANAGE, SECTION, SECTION_UPDATE, TABLE, Dto, blank, dumps
from terminals.interop.data_connector.structure import Structure, deleted_section
from terminals.store import data_connector as store
from terminals.store import results
from terminals.sync.director import By, Director

_INTERNAL = frozenset({"Updated", "ValidationMessages"})


def update_movement(context: Context) -> Answer:
    """UpdateMovement: add, change or delete a section. The reply lists the rounds that changed.

    Results of a table from its first changed round on are erased, as corrections that the desk can undo.
    """
    dto = context.one(SECTION_UPDATE)
    wrong = validate.section_update(dto)
    if not context.request.session or dto["SessionGuid"] != context.request.session:
        wrong.append("The section belongs to another session.")
    if wrong:
        raise Refusal(ErrorType.VALIDATION, *wrong)
    structure = context.structure()
    letters = dto["Letters"].strip()
    known = structure.section(letters)
    if known is not None and structure.session_of(known) != context.request.session:
        raise Refusal(ErrorType.VALIDATION, "Another session has a section with these letters.")
    advance(context.connection, structure)
    queue_people(context.connection, structure, context.request.session)
    if dto["IsDeleted"]:
        return _delete(context, structure, known, letters)
    _check_group(structure, dto)
    section = _section_of(context, structure, dto, known)
    first = _first_changes(known, section)
    erased = 0 if known is None else _erase_from(context, structure, known, first)
    here = results.current(context.connection, structure.event)
    seats = dto["Participations"] or ()
    letter = None if known is None else known.letter
    empty = not any(row.play.section == letter and row.content is not None for row in here)
    before = structure.dump()
    own = _own_plan(context, structure, known)
    structure.set_group(context.request.session, dto["ScoringGroupNumber"], dto["ScoringGroupScoringMethod"])
    structure.put_section(section, seats, anew=empty)
    put_players(context.connection, structure, context.request.session, _named(dto["AddedPlayers"] or ()))
    setup = context.save_structure(structure, {letters}) if structure.dump() != before else None
    put_seats(context.connection, structure, context.request.session, seats)
    advance(context.connection, structure)
    context.tell_all(structure.event, structure.notes)
    if own and setup is not None:
        text = (
            f"The scoring program changed section {letters}. What the desk had changed in its plan is replaced by that."
        )
        context.tell(f"plan {structure.event} {letters} {setup.plan_version}", text)
    if erased:
        text = f"The scoring program changed the movement of section {letters}; {erased} results were erased by that."
        context.tell(f"movement {structure.event} {letters} {first}", text)
    return Answer(Reply(DataType.MOVEMENT, dumps(_changed_only(section, first))), setup)


def _own_plan(context: Context, structure: Structure, known: Section | None) -> bool:
    """Whether the director has changed what the program had planned for a section."""
    setup = context.stored_setup(structure.id)
    if known is None or setup is None:
        return False
    there = setup.section_called(known.letter)
    return there is not None and there.movement != known.movement


def _delete(context: Context, structure: Structure, known: Section | None, letters: str) -> Answer:
    reply = Reply(DataType.MOVEMENT, dumps(deleted_section(context.request.session, letters)))
    if known is None:
        return Answer(reply)
    if len(list(structure.sections())) == 1:
        raise Refusal(ErrorType.MOVEMENT, "The only section of an event can't be deleted.")
    # Without this they would be there again when a section of that name comes back.
    _erase_from(context, structure, known, dict.fromkeys(range(255), 0))
    advance(context.connection, structure)
    structure.drop_section(letters)
    setup = context.save_structure(structure, {letters})
    context.tell(f"section {structure.event} {letters}", f"The scoring program deleted section {letters}.")
    return Answer(reply, setup)


def _check_group(structure: Structure, dto: Dto) -> None:
    """The group is the session's own and scored as it says, or new to the event."""
    for one in structure.sessions:
        for group in one["Groups"]:
            if group["number"] != dto["ScoringGroupNumber"]:
                continue
            if one["SessionGuid"] != dto["SessionGuid"]:
                raise Refusal(ErrorType.VALIDATION, "Another session has a scoring group with this number.")
            if group["method"] != dto["ScoringGroupScoringMethod"]:
                raise Refusal(ErrorType.VALIDATION, "ScoringGroupScoringMethod is not that of the scoring group.")


def _section_of(context: Context, structure: Structure, dto: Dto, known: Section | None) -> Dto:
    """The section after the update: tables without rounds go, tables that are not named stay as far as they can."""
    section = {field.name: dto.get(field.name) for field in SECTION.fields}
    tables = {one["TableNumber"]: one for one in dto["Tables"] or ()}
    if known is not None:
        if known.dto["HasExplicitParticipations"] != dto["HasExplicitParticipations"]:
            raise Refusal(ErrorType.VALIDATION, "HasExplicitParticipations can't change any more.")
        unnamed = [one for one in known.dto["Tables"] or () if one["TableNumber"] not in tables]
        seated = _seated(list(tables.values()), _apart(dto, known))
        for one in unnamed:
            tables[one["TableNumber"]] = _as_far_as_free(context, structure, known, one, seated, _apart(dto, known))
    section["Tables"] = [tables[number] for number in sorted(tables) if tables[number]["Rounds"]]
    return section


def _apart(dto: Dto, known: Section) -> bool:
    """Whether North-South and East-West may have the same numbers."""
    return dto["Winners"] == 2 or known.offset > 0


def _seated(tables: Sequence[Dto], apart: bool) -> set[tuple[int, int, int]]:
    """(round, side, pair) of everybody who sits at these tables; the side is 0 where a number means one pair only."""
    return {
        (one["RoundNumber"], side if apart else 0, one[name])
        for table in tables
        for one in table["Rounds"] or ()
        for side, name in ((1, "PairNS"), (2, "PairEW"))
        if one[name]
    }


def _as_far_as_free(
    context: Context, structure: Structure, known: Section, table: Dto, seated: set[tuple[int, int, int]], apart: bool
) -> Dto:
    """A table that an update does not name, without the rounds whose pairs the update seats elsewhere.

    A program that leaves out a pair or two may leave out their table instead of sending it without rounds. Nothing is
    lost by that: a table with results from such a round on stays as it is, and the desk hears who sits twice.
    """
    rounds = table["Rounds"] or ()
    clashes = [one["RoundNumber"] for one in rounds if _seated([{"Rounds": [one]}], apart) & seated]
    if not clashes:
        return table
    first = min(clashes)
    for row in results.current(context.connection, structure.event):
        place = place_of(known, row.play, row.round, row.table)
        here = row.play.section == known.letter and place.table == table["TableNumber"]
        if here and place.round >= first and row.content is not None:
            return table
    return {**table, "Rounds": [one for one in rounds if one["RoundNumber"] < first]}


def _first_changes(known: Section | None, section: Dto) -> dict[int, int]:
    """Table -> its first round that is not as it was."""
    before = {} if known is None else _rounds(known.dto)
    after = _rounds(section)
    out = {}
    for table in sorted(before.keys() | after.keys()):
        old, new = before.get(table, {}), after.get(table, {})
        changed = [number for number in old.keys() | new.keys() if old.get(number) != new.get(number)]
        if changed:
            out[table] = min(changed)
    return out


def _rounds(section: Dto) -> dict[int, dict[int, Mapping[str, Any]]]:
    return {
        table["TableNumber"]: {
            one["RoundNumber"]: {name: value for name, value in one.items() if name not in _INTERNAL}
            for one in table["Rounds"] or ()
        }
        for table in section["Tables"] or ()
    }


def _changed_only(section: Dto, first: Mapping[int, int]) -> Dto:
    """The section with its changed rounds; a table that went away is there without rounds."""
    there = {table["TableNumber"]: table for table in section["Tables"]}
    tables = []
    for number in sorted(first):
        place = {"SessionGuid": section["SessionGuid"], "SectionLetters": section["Letters"], "TableNumber": number}
        table = there.get(number) or blank(TABLE, **place)
        rounds = [one for one in table["Rounds"] or () if one["RoundNumber"] >= first[number]]
        tables.append({**table, "Rounds": rounds})
    return {**section, "Tables": tables}


def _erase_from(context: Context, structure: Structure, known: Section, first: Mapping[int, int]) -> int:
    setup = context.stored_setup(structure.id)
    if setup is None or not first:
        return 0
    by = By(PROGRAM, note="the movement was changed", wall=context.wall)
    director = Director(context.connection, setup, by)
    count = 0
    for row in results.current(context.connection, structure.event):
        if row.play.section != known.letter or row.content is None:
            continue
        place = place_of(known, row.play, row.round, row.table)
        if place.table in first and place.round >= first[place.table]:
            director.erase(row.play)
            count += 1
    return count


def _named(players: Sequence[Dto]) -> list[Dto]:
    """The client does not check added players; those who can't be anybody are left out."""
    return [one for one in players if not is_blank(one["PlayerNumber"])]


def update_scoring_groups(context: Context) -> Answer:
    """UpdateScoringGroups: all groups of a session with all their sections; movements stay as they are.

    A group may name a section that comes with the next UpdateMovement: its own rule wants a section in every group,
    and the vendor's guide wants a new group before its section.
    """
    rows = context.rows(GROUP, validate.group)
    structure = context.structure()
    session = context.request.session
    before, methods = structure.dump(), structure.methods()
    foreign = {
        group["number"] for one in structure.sessions if one["SessionGuid"] != session for group in one["Groups"]
    }
    for group in rows:
        number = group["ScoringGroupNumber"]
        if number in foreign:
            raise Refusal(ErrorType.VALIDATION, "Another session has a scoring group with this number.")
        if group["IsDeleted"]:
            continue
        structure.set_group(session, number, group["ScoringMethod"], group["Name"])
        for one in group["Sections"] or ():
            if structure.section(one["Letters"]) is not None:
                structure.regroup(context.section(structure, one["Letters"]).letters, number)
    for group in rows:
        if group["IsDeleted"]:
            used = [one for one in structure.sections() if one.dto["ScoringGroupNumber"] == group["ScoringGroupNumber"]]
            if used:
                raise Refusal(ErrorType.VALIDATION, "A scoring group that is deleted has sections.")
            structure.drop_group(session, group["ScoringGroupNumber"])
    setup = context.save_structure(structure, ()) if structure.dump() != before else None
    if structure.methods() != methods:
        log_method(context, structure)
    return Answer(ok("Scoring groups were updated."), setup)


def get_movement(context: Context) -> Answer:
    """GetMovement: the section as the program sent it."""
    dto = context.one(SECTION)
    structure = context.structure(dto["SessionGuid"] or context.request.session)
    section = structure.section(dto["Letters"])
    if section is None:
        raise Refusal(ErrorType.MOVEMENT, "There is no such section.")
    return Answer(Reply(DataType.MOVEMENT, dumps(section.dto)))


def get_all_movements(context: Context) -> Answer:
    """GetAllMovements: every section of the session."""
    structure = context.structure()
    found = [section.dto for section in structure.sections(context.request.session)]
    return Answer(Reply(DataType.SESSIONS, dumps(found)))


# --- ManageBCS ---------------------------------------------------------------------------------------------------

SHUT_DOWN, RUNNING, SCORING_FILE, ALL_SESSIONS, CONNECTOR_FILE = 1, 2, 4, 8, 16


def manage(context: Context) -> Answer:
    """ManageBCS: which sessions there are, and the end of the service if whoever started it allows that. No path is
    told."""
    command = context.one(MANAGE)["Command"]
    if command == SHUT_DOWN:
        if not context.local:
            raise Refusal(ErrorType.VALIDATION, "Only a program on the same computer may ask for that.")
        if context.may_stop and context.held:
            raise Refusal(ErrorType.BUSY, f"{context.held} terminals still hold results; ask again in a moment.")
        if context.may_stop:
            return Answer(ok("The service closes."), stop=True)
        context.tell("shut-down", "A scoring program asked to shut down. The service goes on until you close it.")
        return Answer(ok("The service goes on; it is closed at its own computer."))
    if command not in (2, 4, 6, 8, 16, 18, 20, 22):
        raise Refusal(ErrorType.VALIDATION, "Command is no sum that is known.")
    kind = DataType.SCORING_FILE_LOCATION
    if command == ALL_SESSIONS:
        kind = DataType.ALL_SESSIONS_INFO
    elif command & RUNNING:
        kind = DataType.EVENT_INFO
    active = context.stored_setup()
    running = None if active is None else store.event_by_id(context.connection, f"{active.id:016x}")
    shown = [running] if running is not None and context.may_see(running.club) else []
    if command == ALL_SESSIONS:
        shown = store.club_events(context.connection, context.request.club)
    found = [Structure.load(row) for row in shown if row is not None]
    info = {
        "EventGuid": found[0].guid if found and command != ALL_SESSIONS else "",
        "SessionInformation": [line for one in found for line in _session_lines(one)],
        "IsRunning": bool(shown) if command != ALL_SESSIONS else running is not None,
        "ScoringFilePath": "",
        "DataConnectorFilePath": "",
    }
    return Answer(Reply(kind, dumps(info)))


def _session_lines(structure: Structure) -> list[dict[str, Any]]:
    return [
        {
            "EventGuid": structure.guid,
            "SessionGuid": one["SessionGuid"],
            "SessionName": one["Name"],
            "SessionDateTime": _moment(one),
            "HasBeenProcessed": True,
            "Sections": [
                {
                    "SectionName": section.dto["Name"],
                    "SectionLetters": section.letters,
                    "ScoringGroupNumber": section.dto["ScoringGroupNumber"],
                    "NumberOfTables": len(section.dto["Tables"] or ()),
                }
                for section in structure.sections(one["SessionGuid"])
            ],
        }
        for one in structure.sessions
    ]


def _moment(one: Mapping[str, Any]) -> str:
    return f"{one['Year']:04}-{one['Month']:02}-{one['Day']:02}T{one['Hour']:02}:{one['Minute']:02}:00"
