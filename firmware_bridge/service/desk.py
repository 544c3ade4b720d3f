"""The running evening as the director's desk sees it: the event, its current results, what happened at the desk.

One ``Desk`` for each running service. It reads the store once, then follows the outbox: after every commit it takes in
what changed, and tells the pages. It decides nothing about results; that is ``terminals.sync``.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from dealer.deal import Deal
from firmware_bridge.clock import Clock
from firmware_bridge.db import Connection
from firmware_bridge.errors import FirmwareBridgeError
from firmware_bridge.service.api_access import Access, Failures
from firmware_bridge.service.browser_hub import MODEL, BrowserHub
from firmware_bridge.service.corrections import tell_tables
from firmware_bridge.service.desk_stream import Stream, encode
from firmware_bridge.service.known_clock import KnownClock
from firmware_bridge.service.ranking_live import LiveScore
from firmware_bridge.service.solved_deals import solved_deals
from firmware_bridge.wire.record import BODY_SIZE, record_crc
from terminals.entry import Budget
from terminals.scoring.boards import Method
from terminals.scoring.profile import Profile
from terminals.scoring.profile_file import load_profile
from terminals.store import desk as desk_store
from terminals.store import ledger, results
from terminals.store.desk import Device, DeviceState, Person
from terminals.store.results import CurrentResult
from terminals.store.values import PlayKey, RecordKey
from terminals.sync import roster
from terminals.sync.conditions import Conditions, Decided
from terminals.sync.event_score import EventScore, score_event
from terminals.sync.event_store import EventStore
from terminals.sync.period import Period, finish_when_due, period
from terminals.sync.service import SyncService
from terminals.sync.setup import MAX_SECTIONS, EventSetup, section_letter
from terminals.sync.tables import Veil, veil_for

T = TypeVar("T")
RESUME_LIMIT = 500
"""Changes that a page which was away is told one by one; after more it reads everything anew."""


def no_event() -> EventSetup:
    """What the service runs with before anything is set up: an event without sections, kept nowhere."""
    return EventSetup(secrets.randbits(63) | 1, "", ())


@dataclass(slots=True)
class Facts:
    """What the desk's own events say, folded in their order. Keys (section letter, table)."""

    calls: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    locked: set[tuple[str, int]] = field(default_factory=set)
    revealed: set[tuple[str, int]] = field(default_factory=set)
    checks: list[dict[str, Any]] = field(default_factory=list)
    closed: set[tuple[str, int]] = field(default_factory=set)
    clock: dict[str, Any] | None = None
    decided: Decided = field(default_factory=Decided)
    deal_set: str = ""
    live: bool = False
    exports: set[str] = field(default_factory=set)
    pair_codes: dict[tuple[str, int], str] = field(default_factory=dict)

    @property
    def method(self) -> Method:
        return self.decided.scheme.method

    @property
    def penalties(self) -> dict[int, dict[str, Any]]:
        return self.decided.penalties

    @property
    def happenings(self) -> list[tuple[int, Mapping[str, Any]]]:
        return self.decided.happenings

    @property
    def planned(self) -> dict[str, Any]:
        return self.decided.planned

    def take(self, item: desk_store.DeskEvent) -> None:
        """One more event; kinds that are not known here are left alone."""
        data = item.data
        if self.decided.take(item):
            return
        seat = (_letter(data.get("section")), int(data.get("table") or 0))
        if item.kind in ("call", "call-answered"):
            state = int(data.get("state", 0))
            if state in (1, 2):
                self.calls[seat] = {"state": state, "round": data.get("round", 0), "wall": item.wall}
            else:
                self.calls.pop(seat, None)
        elif item.kind == "lock":
            self.locked.add(seat)
        elif item.kind == "unlock":
            self.locked.discard(seat)
        elif item.kind == "reveal":
            self.revealed.add((seat[0], int(data["board"])))
        elif item.kind == "entry-check":
            self.checks.append({**data, "number": item.number})
        elif item.kind == "entry-check-seen":
            self.checks = [one for one in self.checks if one["number"] != data.get("number")]
        elif item.kind == "round-closed":
            self.closed.add((seat[0], int(data["round"])))
        elif item.kind == "clock":
            self.clock = dict(data)
        elif item.kind == "deals":
            self.deal_set = str(data["set"])
        elif item.kind == "live":
            self.live = bool(data["on"])
        elif item.kind == "exported":
            self.exports.add(str(data["what"]))
        elif item.kind == "pair-code":
            self.pair_codes[seat[0], int(data["pair"])] = str(data["digest"])
        elif item.kind == "pair-code-forgotten":
            self.pair_codes.pop((seat[0], int(data["pair"])), None)


def _letter(section: Any) -> str:
    if isinstance(section, int) and 1 <= section <= MAX_SECTIONS:
        return section_letter(section)
    return str(section or "")


class Reached(Protocol):
    """A base station. trouble: why it is not there, "" when it is."""

    @property
    def url(self) -> str: ...

    @property
    def trouble(self) -> str: ...


class Desk:
    """Use ``start`` once the service is there, then ``committed`` after every commit."""

    def __init__(self, directory: Path, store: EventStore, access: Access, hub: BrowserHub, clock: Clock) -> None:
        self.directory = directory
        self.solved = solved_deals(directory)
        self.store = store
        self.access = access
        self.hub = hub
        self.clock = KnownClock(clock)
        self.stream = Stream()
        self.failures = Failures(clock.monotonic)
        self.late_posts = Failures(clock.monotonic, limit=30)
        self.rows: dict[PlayKey, CurrentResult] = {}
        self.facts = Facts()
        self.period = Period()
        self.cursor = 0
        self.people: dict[tuple[str, int, str], Person] = {}
        self.listens = ""  # the address that the service is bound to
        self.on_change: Callable[[], None] = lambda: None
        self.budgets: dict[tuple[int, int, int], Budget] = {}
        self.deals: dict[str, dict[int, Deal]] = {}
        self.stations: Sequence[Reached] = ()
        self._service: SyncService | None = None
        self._veil: Veil | None = None
        self._score: EventScore | None = None
        self._live = LiveScore()

    # --- what there is ---

    @property
    def service(self) -> SyncService:
        if self._service is None:
            raise RuntimeError("the desk has not been started")
        return self._service

    @property
    def setup(self) -> EventSetup:
        return self.service.collector.setup

    @property
    def event(self) -> str:
        return desk_store.event_hex(self.setup.id)

    @property
    def has_event(self) -> bool:
        return bool(self.setup.sections)

    @property
    def veil(self) -> Veil:
        """Boards that a playing director has yet to play, those left out that he has revealed."""
        if self._veil is None:
            full = veil_for(self.setup, self.rows.values(), self.setup.settings.playing_director)
            self._veil = Veil(full.boards - self.facts.revealed)
        return self._veil

    @property
    def profile(self) -> Profile:
        """The event's scoring profile; the plain one when it can't be loaded, which ``profile_trouble`` then says."""
        return self.facts.decided.profile(self.setup)

    @property
    def profile_trouble(self) -> str:
        """Why the event's scoring profile can't be used, for the director; "" when it can."""
        if self.facts.decided.stored is not None:
            return ""
        try:
            load_profile(self.setup.settings.profile)
        except FirmwareBridgeError as error:
            return error.what
        return ""

    def wall(self) -> str:
        return self.clock.wall().isoformat(timespec="seconds")

    @property
    def conditions(self) -> Conditions:
        """How the event is scored, and every ruling and penalty."""
        return self.facts.decided.conditions(self.setup)

    def score(self) -> EventScore:
        """The session scored as it is now; only what has changed is worked out anew. Raises EntryError."""
        if self._score is None:
            self._score = self._live.score(self.setup, self.rows, self.conditions)
        return self._score

    def score_of(self, rows: Iterable[CurrentResult], conditions: Conditions | None = None) -> EventScore:
        """What the score would be with other results, or by other conditions. Raises EntryError."""
        return score_event(self.setup, rows, self.conditions if conditions is None else conditions)

    def names_of(self, section: str, pair: int) -> str:
        found = [self.people.get((section, pair, seat)) for seat in ("1", "2")]
        return " - ".join(one.name for one in found if one is not None and one.name)

    def contestant_names(self, section: str, number: int) -> str:
        """Names of who is ranked: a pair's, or of a team its own name, else those of its players."""
        found = self.setup.section_called(section)
        movement = None if found is None else found.movement
        team = next((one for one in movement.teams if one.number == number), None) if movement is not None else None
        if team is None or not team.pairs:
            return self.names_of(section, number)
        own = self.people.get((section, team.pairs[0], "0"))
        if own is not None and own.name:
            return own.name
        return ", ".join(filter(None, (self.names_of(section, pair) for pair in team.pairs)))

    # --- following the store ---

    def start(self, service: SyncService) -> None:
        from firmware_bridge.service.desk_checks import deals_of

        self._service = service
        service.collector.deals = lambda section, board: deals_of(self).get(board)
        service.collector.double_dummy = self.solved
        self.hub.crc_of = self.crc_of
        self.access.remember_past(lambda: None if self.clock.doubt else self.clock.wall().timestamp())
        self.reload()

    def crc_of(self, device: int, journal: int, seq: int) -> int | None:
        """The CRC of a stored record of a result."""
        body = self.store.read(lambda connection: ledger.body_of(connection, RecordKey(device, journal, seq)))
        return None if body is None or len(body) != BODY_SIZE else record_crc(device, journal, seq, body)

    def reload(self) -> None:
        """Read everything of the event anew, also who may speak for its tables."""
        self.read_event()
        self.access.set_setup(self.setup if self.has_event else None)

    def read_event(self) -> None:
        """Read everything of the event anew."""
        event = self.event
        self.rows = {row.play: row for row in self.store.current(self.setup.id)}
        self.facts = Facts()
        for item in self.store.read(lambda c: desk_store.desk_events(c, event)):
            self.facts.take(item)
        self.period = self.store.read(lambda c: period(c, event))
        self._read_people()
        newest = self.store.read(lambda c: _newest(c, event))
        self.cursor = newest
        self._forget()

    def committed(self) -> None:
        """Something was committed: take in what changed, and tell the pages."""
        if self._service is None:
            return
        event = self.event
        chunks: list[bytes] = []
        ruled: list[CurrentResult] = []
        while changes := self.store.read(lambda c: results.outbox_after(c, event, self.cursor, RESUME_LIMIT)):
            plays: dict[PlayKey, int] = {}
            of_event = self._plays_of(changes)
            for number, kind, subject in changes:
                self.cursor = number
                if kind == "result":
                    plays[of_event[subject]] = number
                else:
                    self._desk_event(subject)
                    chunks.append(encode("desk", {"version": number}, number))
            for play, number in plays.items():
                row = self.store.read(lambda c, play=play: results.current(c, event, play))  # type: ignore[misc]
                if row:
                    self.rows[play] = row[0]
                    ruled += row if row[0].ruled else []
                    self._forget(play)
                    chunks.append(encode("result", self.result_view(row[0]), number))
        if chunks:
            chunks.sort(key=_number_of)
            self.stream.publish(b"".join(chunks))
            self.on_change()
        tell_tables(self, ruled)

    def _read_people(self) -> None:
        event = self.event
        self.people = {(p.section, p.pair, p.seat): p for p in self.store.read(lambda c: desk_store.people(c, event))}

    def result_view(self, row: CurrentResult) -> dict[str, Any]:
        from firmware_bridge.service.desk_view import row_view

        return row_view(self, row)

    def missed(self, last: str | None) -> bytes:
        """The events that a page missed after ``last`` (its Last-Event-ID); "reset" when it should read everything."""
        if last is None:
            return b""
        reset = encode("reset", {"version": self.cursor}, self.cursor)
        if not last.isascii() or not last.isdigit() or len(last) > 18:
            return reset
        event, after = self.event, int(last)
        if after > self.cursor:
            return reset
        changes = self.store.read(lambda c: results.outbox_after(c, event, after, RESUME_LIMIT + 1))
        if len(changes) > RESUME_LIMIT:
            return reset
        out = []
        of_event = self._plays_of(changes)
        for number, kind, subject in changes:
            if kind == "result":
                row = self.rows.get(of_event[subject])
                if row is not None:
                    out.append(encode("result", self.result_view(row), number))
            else:
                out.append(encode("desk", {"version": number}, number))
        return b"".join(out)

    def _plays_of(self, changes: list[tuple[int, str, int]]) -> dict[int, PlayKey]:
        """Number of each result event among ``changes`` -> its play."""
        event = self.event
        numbers = [subject for _, kind, subject in changes if kind == "result"]
        if not numbers:
            return {}
        found = self.store.read(lambda c: list(results.all_events(c, event, min(numbers) - 1)))
        return {item.number: item.play for item in found}

    def _desk_event(self, number: int) -> None:
        event = self.event
        for item in self.store.read(lambda c: desk_store.desk_events(c, event, after=number - 1)[:1]):
            self.facts.take(item)
            if item.kind == "name":  # keyed in at a terminal; the words themselves are in no event
                self._read_people()
            if item.kind in ("published", "final", "reopened"):
                self.period = self.store.read(lambda c: period(c, event))
        self._veil = None
        self._score = None

    def _forget(self, play: PlayKey | None = None) -> None:
        self._score = None
        self._live.touched(play)
        director = self.setup.settings.playing_director
        if play is None or any(name.endswith((str(play.ns), str(play.ew))) for name in director):
            self._veil = None

    # --- changing it ---

    async def submit(self, job: Callable[[Connection], T]) -> T:
        """Run a transaction, then take in and tell what it changed."""
        done = await self.store.submit(job)
        self.committed()
        return done

    async def log(self, kind: str, actor: str = "", **data: Any) -> None:
        """Append a desk event."""
        item = desk_store.DeskEvent(kind, data, actor, self.wall())
        event = self.event
        await self.submit(lambda c: desk_store.append_desk(c, event, item))

    async def change_setup(self, setup: EventSetup) -> None:
        """Change the event, or begin another one; terminals and pages are told."""
        other = setup.id != self.setup.id
        if setup.settings.need_key and not other:
            await self._key_for_pages()
        await self.service.change_setup(setup)
        if other:
            # Whoever was admitted to the old event waits in the store now; the collector must not think otherwise.
            for device in self.store.roster().values():
                self.service.send(self.service.collector.set_device(device, self.clock.monotonic()))
        self.reload()
        self.stream.publish(encode("reset", {"version": self.cursor}, self.cursor))

    async def save_people(self, people: list[Person]) -> None:
        event = self.event

        def job(connection: Connection) -> None:
            for person in people:
                desk_store.save_person(connection, event, person)

        await self.submit(job)
        for person in people:
            self.people[person.section, person.pair, person.seat] = person
        self.stream.publish(encode("people", {}))

    async def finish_if_due(self) -> None:
        """Make the results final when the correction period is over (Law 79C)."""
        now, event = self.clock.wall().timestamp(), self.event
        if self.period.due(now):
            await self.submit(lambda connection: finish_when_due(connection, event, now, self.wall()))

    # --- terminals ---

    def holder(self, section: int, table: int) -> int | None:
        for device in self.service.collector.roster.values():
            if device.state is DeviceState.ADMITTED and (device.section, device.table) == (section, table):
                return device.id
        return None

    async def admit_browser(self, device: int, section: int, table: int) -> bool:
        """A page that was opened with the table's token is admitted if nobody holds the table; True when it does."""
        held = self.holder(section, table)
        known = self.service.collector.roster.get(device)
        if held == device:
            return True
        if held is not None or (known is not None and known.state is DeviceState.REFUSED):
            return False
        await self.service.change_device(
            self._with_key(Device(device, DeviceState.ADMITTED, section, table, model=MODEL))
        )
        self.stream.publish(encode("terminals", {}))
        return True

    async def _key_for_pages(self) -> None:
        """Keys are wanted from now on: pages that are at a table have theirs before that is asked."""
        for device in list(self.service.collector.roster.values()):
            if device.model == MODEL and device.state is DeviceState.ADMITTED and not device.key:
                await self.service.change_device(replace(device, key=self.access.device_key(device.id)))

    def _with_key(self, device: Device) -> Device:
        """A browser gets a key where the event wants one: its table's token stands for the pairing of a keypad."""
        if device.key or device.model != MODEL or not self.setup.settings.need_key:
            return device
        return replace(device, key=self.access.device_key(device.id))

    async def admit(self, device: int, section: int, table: int, *, replace_holder: bool = False) -> None:
        """The director gives a table to a terminal. Raises EntryError or StoreError when it is taken.

        A terminal that is replaced stays admitted without a table: what it had not sent yet still arrives.
        """
        setup, held = self.setup, self.holder(section, table)
        if replace_holder and held is not None and held != device:
            await self._change_roster(device, lambda c: roster.replace_terminal(c, setup, held, device))
        else:
            await self._change_roster(device, lambda c: roster.admit(c, setup, device, section, table))
        # Pages of this table learn who holds it when they introduce themselves.
        self.hub.tell_seat((section, table), {"kind": "AGAIN"})

    async def refuse(self, device: int) -> None:
        """This terminal is not used tonight. Raises EntryError."""
        await self._change_roster(device, lambda connection: roster.refuse(connection, device))

    async def pair(self, device: int, key: bytes | None = None) -> bytes:
        """Give a terminal a key of its own (drawn unless given). Raises EntryError."""
        changed, made = await self.submit(lambda connection: roster.pair(connection, device, key))
        self.service.send(self.service.collector.set_device(changed, self.clock.monotonic()))
        self.stream.publish(encode("terminals", {}))
        return made

    async def _change_roster(self, device: int, work: Callable[[Connection], list[Device]]) -> None:
        shown = self.service.collector.roster.get(device)

        def job(connection: Connection) -> list[Device]:
            # A terminal that has shown itself a moment ago may still be on its way to the disk.
            known = desk_store.devices(connection).get(device, shown)
            if known is not None:
                desk_store.save_device(connection, self._with_key(known))
            return work(connection)

        for changed in await self.submit(job):
            self.service.send(self.service.collector.set_device(changed, self.clock.monotonic()))
        self.stream.publish(encode("terminals", {}))


def _newest(connection: Connection, event: str) -> int:
    newest, step = 0, 5000
    while rows := results.outbox_after(connection, event, newest, step):
        newest = rows[-1][0]
    return newest


def _number_of(chunk: bytes) -> int:
    return int(chunk[4 : chunk.index(b"\n")])
