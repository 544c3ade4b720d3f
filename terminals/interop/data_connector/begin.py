"""Commands that begin, continue and extend an event: InitializeEvent, ContinueEvent, AddSession, ClearData."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from terminals.interop.data_connector import validate, validate_data
from terminals.interop.data_connector.context import Answer, Context
from terminals.interop.data_connector.deals import keep_deals
from terminals.interop.data_connector.envelope import Refusal, ok
from terminals.interop.data_connector.numbers import ErrorType, InitFlag
from terminals.interop.data_connector.people import put_players, put_seats, queue_people
from terminals.interop.data_connector.program_settings import with_program_settings
from terminals.interop.data_connector.puts import keep_settings, take_settings
from terminals.interop.data_connector.queues import advance
from terminals.interop.data_connector.shapes import ADD_SESSION, CONTINUE, INIT, Dto, dumps
from terminals.interop.data_connector.structure import Seats, Structure
from terminals.scoring.boards import Method
from terminals.settings import DEFAULT
from terminals.store import data_connector as store
from terminals.store import desk, results
from terminals.store.data_connector import ProgramEvent
from terminals.sync.setup import EventSetup


def initialize(context: Context) -> Answer:
    """InitializeEvent. The same message again changes nothing, whatever its flags say.

    Another message for the same event changes it; with the flag "reset" it begins the event anew, and what was played
    stays in the store as an event of its own.
    """
    dto = context.one(INIT)
    wrong = validate.init(dto)
    if wrong:
        raise Refusal(ErrorType.VALIDATION, *wrong)
    guid = dto["EventGuid"] or dto["Sessions"][0]["SessionGuid"]
    flags = dto["Commands"]
    digest = _digest(dto)
    known = store.event_by_guid(context.connection, guid)
    if known is not None and not context.may_see(known.club):
        raise Refusal(ErrorType.VALIDATION, "The event belongs to another club.")
    if known is not None and known.digest == digest:
        if flags & InitFlag.RESET and results.current(context.connection, known.event):
            text = "The scoring program sent its event once more. Nothing was erased; erase trial results at the desk."
            context.tell(f"again {known.event}", text)
        return _activate(context, Structure.load(known), "The event is there already; nothing was changed.")
    _check_sessions(context, dto["Sessions"], None if known is None else known.event)
    before = context.stored_setup()
    if flags & InitFlag.CLEAR_DATA:
        store.clear_queues(context.connection, context.request.club)
    anew = known is None or bool(flags & InitFlag.RESET)
    event = _new_id(context, guid) if anew or known is None else known.event
    structure = Structure.new(event, guid, context.request.club)
    if known is not None and not anew:
        there = Structure.load(known)
        _queue_news(context, there)
        _keep_offsets(structure, there, dto)
    seats = _seats_by_section(dto)
    for session in dto["Sessions"]:
        structure.add_session(session, seats)
    if known is not None and anew and results.current(context.connection, known.event):
        text = "The scoring program began its event anew. What was played before is kept as an event of its own."
        context.tell(f"anew {event}", text)
    return _begin(context, structure, dto, digest, before, changes=known is not None and not anew)


def continue_event(context: Context) -> Answer:
    """ContinueEvent: the terminals play this event (again)."""
    dto = context.one(CONTINUE)
    wrong = validate_data.continue_(dto)
    if wrong:
        raise Refusal(ErrorType.VALIDATION, *wrong)
    structure = context.event(dto["EventGuid"])
    if dto["Commands"] & InitFlag.CLEAR_DATA:
        store.clear_queues(context.connection, structure.club)
    return _activate(context, structure, "The event goes on.")


def add_session(context: Context) -> Answer:
    """AddSession: one more session of an event that is there."""
    dto = context.one(ADD_SESSION)
    wrong = validate.add_session(dto)
    if wrong:
        raise Refusal(ErrorType.VALIDATION, *wrong)
    structure = context.event(dto["EventGuid"])
    guid, digest = dto["Session"]["SessionGuid"], _digest(dto)
    if guid in structure.guids:
        if structure.digests.get(guid) == digest:
            return Answer(ok("The session is there already; nothing was changed."))
        raise Refusal(ErrorType.NO_UPDATES, "The session is there already.")
    _check_sessions(context, [dto["Session"]], structure.event)
    letters = {one.letters for one in structure.sections()}
    groups = {group["number"] for one in structure.sessions for group in one["Groups"]}
    clashes = [one["Letters"] for one in validate.sections_of(dto["Session"]) if one["Letters"].strip() in letters]
    taken = [one for one in dto["Session"]["ScoringGroups"] if one["ScoringGroupNumber"] in groups]
    if clashes or taken:
        raise Refusal(ErrorType.VALIDATION, "A section or scoring group of the session is there already.")
    structure.add_session(dto["Session"], _seats_by_section(dto))
    structure.digests[guid] = digest
    store.name_sessions(context.connection, structure.event, [guid])
    changed = context.save_structure(structure, ())
    _keep_loads(context, structure, dto)
    set_so = take_settings(context, structure, dto["Bridgemate2Settings"] or (), dto["Bridgemate3Settings"] or ())
    _tell_limits(context, structure)
    return Answer(ok("The session was added."), set_so or changed)


def clear_data(context: Context) -> Answer:
    """ClearData: what programs of this club have seen is gone from their queues. Nothing else is, and the desk can
    bring it back; what no program has seen yet stays."""
    count = store.clear_queues(context.connection, context.request.club)
    if count:
        context.tell(f"cleared {context.request.club[:40]}", "A scoring program cleared its queues. Results are kept.")
    return Answer(ok("Cleared."))


# --- inside ------------------------------------------------------------------------------------------------------


def _begin(
    context: Context, structure: Structure, dto: Dto, digest: str, before: EventSetup | None, *, changes: bool
) -> Answer:
    connection = context.connection
    own = context.stored_setup(structure.id) if changes else None
    habits = own or before
    base = DEFAULT if habits is None else habits.settings
    if own is None:
        # The club's own habits go on; who directs and plays is another evening's affair.
        pin = base.director_pin or context.club_pin
        base = base.changed({"admit_all": True, "playing_director": [], "director_pin": pin})
    base = base.changed(structure.compared())
    version = structure.id % 60000 + 1 if own is None else own.plan_version % 0xFFFF + 1
    # What a section had of its own stays, its plan is that of the program.
    setup = structure.setup(base, version, own, structure.numbers())
    rows = (dto["Bridgemate2Settings"] or (), dto["Bridgemate3Settings"] or ())
    setup, notes = with_program_settings(setup, structure.numbers(), *rows)
    if changes:
        store.change_event(connection, structure.event, structure.dump(), digest)
        store.name_sessions(connection, structure.event, structure.guids)
    else:
        row = ProgramEvent(structure.event, structure.guid, structure.club, digest, 1, structure.dump())
        store.begin_event(connection, row, structure.guids)
    context.save_setup(setup, activate=True)
    _keep_loads(context, structure, dto)
    log_method(context, structure)
    context.tell_all(structure.event, notes)
    _tell_limits(context, structure)
    return Answer(ok("The event is there."), setup)


def _activate(context: Context, structure: Structure, words: str) -> Answer:
    if context.is_active(structure):
        return Answer(ok(words))
    setup = context.stored_setup(structure.id)
    if setup is None:
        raise Refusal(ErrorType.ENTRY_UNKNOWN, "There is no such event.")
    # Another plan version than that of any other evening: terminals then ask for their plan anew.
    context.save_setup(setup, activate=True)
    return Answer(ok(words), setup)


def _check_sessions(context: Context, sessions: Sequence[Dto], event: str | None) -> None:
    """A session of another event can't be taken over by giving its guid again, unless that event is of old."""
    for one in sessions:
        of = store.event_of_session(context.connection, one["SessionGuid"])
        row = None if of is None else store.event_by_id(context.connection, of)
        if row is not None and of != event and not context.may_see(row.club):
            raise Refusal(ErrorType.VALIDATION, "A session belongs to another club.")


def _keep_offsets(structure: Structure, known: Structure, dto: Dto) -> None:
    """Sections that stay keep the numbers and letters that their results were stored under."""
    wanted = {one["Letters"].strip() for each in dto["Sessions"] for one in validate.sections_of(each)}
    structure.adopt(known, wanted)


def _queue_news(context: Context, structure: Structure) -> None:
    """What happened at the tables until now is told as the event was then; what the program says is the later word."""
    advance(context.connection, structure)
    for session in structure.guids:
        queue_people(context.connection, structure, session)


def _keep_loads(context: Context, structure: Structure, dto: Dto) -> None:
    """Players, seats, deals and settings that come with a session."""
    connection = context.connection
    guids = [one["SessionGuid"] for one in dto.get("Sessions") or [dto["Session"]]]
    for guid in guids:
        put_players(connection, structure, guid, [one for one in dto["PlayerData"] or () if one["SessionGuid"] == guid])
        put_seats(connection, structure, guid, [s for s in dto["Participations"] or () if s["SessionGuid"] == guid])
    keep_deals(connection, structure, dto["Handrecords"] or ())
    keep_settings(context, structure, dto["Bridgemate2Settings"] or (), dto["Bridgemate3Settings"] or ())


def log_method(context: Context, structure: Structure) -> None:
    """Tell the desk how the event is scored, where our own scoring knows the method."""
    methods = {method_of(number) for number in structure.methods()} - {None}
    if len(methods) == 1:
        context.log(structure, "scoring", method=str(methods.pop()))


def method_of(number: int) -> str | None:
    """Our name of a scoring method; None for the ones of team events."""
    if number == 10:
        return Method.MATCHPOINTS.value
    if 20 <= number <= 27:
        return Method.BUTLER.value
    return Method.CROSS_IMPS.value if 30 <= number <= 36 else None


def _tell_limits(context: Context, structure: Structure) -> None:
    notes = structure.notes + [
        f"Section {letters} of the scoring program is {letter} on terminals."
        for letters, letter in structure.renamed().items()
    ]
    notes += [
        f"Section {one.letters}: East-West pairs have {one.offset} added to their numbers on terminals."
        for one in structure.sections()
        if one.offset
    ]
    if len({method_of(number) for number in structure.methods()} - {None}) > 1:
        notes.append(
            "The scoring program scores its groups by several methods; the ranking shown here is by one of them."
        )
    context.tell_all(structure.event, notes)


def _seats_by_section(dto: Dto) -> Seats:
    out: dict[tuple[str, str], list[Dto]] = {}
    for one in dto["Participations"] or ():
        out.setdefault((one["SessionGuid"], one["SectionLetters"]), []).append(one)
    return out


def _new_id(context: Context, guid: str) -> str:
    generation = store.generations(context.connection, guid)
    while True:
        seed = f"{context.request.club}\0{guid}\0{generation}".encode()
        event = hashlib.sha256(seed).digest()[:8].hex()
        if int(event, 16) and desk.load_event(context.connection, int(event, 16)) is None:
            return event
        generation += 1


def _digest(dto: Dto) -> str:
    return hashlib.sha256(dumps(dto).encode()).hexdigest()
