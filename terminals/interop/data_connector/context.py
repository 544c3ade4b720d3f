"""What a command has at hand while it is carried out, and what it gives back. No I/O of its own."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace

from firmware_bridge.db import Connection
from terminals.interop.data_connector.envelope import Refusal, Reply, Request
from terminals.interop.data_connector.numbers import ErrorType
from terminals.interop.data_connector.queues import ALARM, PROGRAM
from terminals.interop.data_connector.result_rows import Section
from terminals.interop.data_connector.shapes import Dto, Shape, WrongData, read, read_rows
from terminals.interop.data_connector.structure import Structure
from terminals.store import data_connector as store
from terminals.store import desk, ledger
from terminals.store.desk import DeskEvent, EventRow
from terminals.sync.setup import EventSetup, setup_from_json, setup_to_json


@dataclass(frozen=True, slots=True)
class Message:
    """Words for the terminal of a table. section: our number."""

    text: str
    section: int
    table: int


@dataclass(frozen=True, slots=True)
class Answer:
    """reply; setup: the event that the terminals are to play from now on, when that changed; messages for tables;
    stop: the service closes once the reply is out."""

    reply: Reply
    setup: EventSetup | None = None
    messages: tuple[Message, ...] = ()
    stop: bool = False


class Context:
    """One request inside its transaction. club: whose events it may see, None for all. The rest: see ``Caller``."""

    def __init__(
        self,
        connection: Connection,
        request: Request,
        club: str | None,
        local: bool,
        wall: str,
        journals: Sequence[tuple[int, int, int]] = (),
        may_stop: bool = False,
        held: int = 0,
        club_pin: str = "",
    ) -> None:
        self.connection = connection
        self.request = request
        self.local = local
        self.wall = wall
        self._club = club
        self._journals = journals
        self.may_stop = may_stop
        self.held = held
        self.club_pin = club_pin

    # --- reading the request ---

    def one(self, shape: Shape) -> Dto:
        """The message of the payload. Raises Refusal without one, WrongData for another kind."""
        value = self.request.payload
        if value is None:
            raise Refusal(ErrorType.NO_DATA, f"A {shape.name} is wanted.")
        return read(shape, value)

    def rows(self, shape: Shape, rule: Callable[[Dto], list[str]]) -> list[Dto]:
        """The list of messages of the payload, all of them valid and of this session."""
        value = self.request.payload
        if value is None or value == []:
            raise Refusal(ErrorType.NO_DATA, f"A list of {shape.name} is wanted.")
        if not isinstance(value, list):
            raise WrongData(f"a list of {shape.name} is wanted")
        rows = read_rows(shape, value)
        wrong = [f"{index + 1}: {line}" for index, dto in enumerate(rows) for line in rule(dto)]
        wrong += [
            f"{index + 1}: it belongs to another session."
            for index, dto in enumerate(rows)
            if dto["SessionGuid"] != self.request.session
        ]
        if wrong:
            raise Refusal(ErrorType.VALIDATION, *wrong)
        return rows

    # --- events ---

    def may_see(self, club: str) -> bool:
        return self._club in (None, club)

    def structure(self, session: str | None = None) -> Structure:
        """The event of the request's session, read anew so that it may be changed. Raises Refusal."""
        guid = self.request.session if session is None else session
        event = store.event_of_session(self.connection, guid)
        row = None if event is None else store.event_by_id(self.connection, event)
        if row is None or not self.may_see(row.club):
            raise Refusal(ErrorType.ENTRY_UNKNOWN, "There is no such session.")
        return Structure.load(row)

    def event(self, guid: str | None) -> Structure:
        """The newest event with a guid. Raises Refusal."""
        row = store.event_by_guid(self.connection, guid or "")
        if row is None or not self.may_see(row.club):
            raise Refusal(ErrorType.ENTRY_UNKNOWN, "There is no such event.")
        return Structure.load(row)

    def section(self, structure: Structure, letters: str | None) -> Section:
        """A section of the request's session. Raises Refusal."""
        found = structure.section(letters)
        if found is None or structure.session_of(found) != self.request.session:
            raise Refusal(ErrorType.MOVEMENT, f"The session has no section {(letters or '')[:8]}.")
        return found

    def stored_setup(self, event: int | None = None) -> EventSetup | None:
        """Our event as it is stored; the active one without an id."""
        row = desk.load_event(self.connection, event)
        return None if row is None else setup_from_json(row.id, row.name, row.plan_version, row.setup)

    def is_active(self, structure: Structure) -> bool:
        row = desk.load_event(self.connection)
        return row is not None and row.id == structure.id

    def save_setup(self, setup: EventSetup, *, activate: bool) -> None:
        """Keep our event; with ``activate`` the terminals play it from now on. Raises EntryError."""
        before = desk.load_event(self.connection)
        if activate and (before is None or before.id != setup.id):
            self._begin_journals(desk.event_hex(setup.id))
        known = desk.load_event(self.connection, setup.id)
        created = self.wall if known is None else known.created
        text = setup_to_json(setup)
        setup_from_json(setup.id, setup.name, setup.plan_version, text)  # what can't be read again is never stored
        row = EventRow(setup.id, setup.name, text, setup.plan_version, created)
        desk.save_event(self.connection, row, activate=activate)

    def save_structure(self, structure: Structure, touched: Container[str]) -> EventSetup | None:
        """Keep a changed structure and our event after it; gives the event when it changed and the terminals play it.

        touched: letters of the sections that changed. Raises Refusal, EntryError.
        """
        known = store.event_by_id(self.connection, structure.event)
        before = self.stored_setup(structure.id)
        if before is None or known is None:
            raise Refusal(ErrorType.ENTRY_UNKNOWN, "There is no such event.")
        settings = before.settings
        if (compared := structure.compared()) != Structure.load(known).compared():
            settings = settings.changed(compared)
            self.log(structure, "settings", names=sorted(compared))
        store.change_event(self.connection, structure.event, structure.dump())
        setup = structure.setup(settings, before.plan_version, before, touched)
        if setup == before:
            return None
        if setup.sections != before.sections:
            setup = replace(setup, plan_version=before.plan_version % 0xFFFF + 1)
        active = self.is_active(structure)
        self.save_setup(setup, activate=active)
        return setup if active else None

    def _begin_journals(self, event: str) -> None:
        """What terminals in contact key in from now on belongs to this event."""
        for device, journal, next_seq in self._journals:
            ledger.begin_in(self.connection, device, journal, event, next_seq)

    # --- the desk ---

    def tell(self, subject: str, text: str) -> None:
        """An alarm at the director's desk; the same subject again only counts."""
        ledger.raise_alarm(self.connection, ALARM, subject, text)

    def tell_all(self, event: str, lines: Sequence[str]) -> None:
        for index, line in enumerate(lines):
            self.tell(f"{event} {index} {line[:40]}", line)

    def log(self, structure: Structure, kind: str, **data: object) -> None:
        desk.append_desk(self.connection, structure.event, DeskEvent(kind, data, PROGRAM, self.wall))
