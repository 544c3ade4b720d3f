"""A terminal as the protocol page describes it, and a host of collector and store; no lines, no clocks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drivers.api import StationConnected, StationIdentity, StationMessage
from firmware_bridge.db import Connect, Connection, Database, connect_sqlite3
from firmware_bridge.errors import StoreError
from firmware_bridge.wire.messages import (
    Admit,
    Credit,
    Message,
    Record,
    RecordAck,
    RecordNak,
    Resend,
    TablePlan,
    TermHello,
    TermStatus,
)
from firmware_bridge.wire.numbers import Admission, RecordReason
from firmware_bridge.wire.record import RecordBody, record_auth, record_crc
from terminals.movement.mitchell import mitchell
from terminals.movement.model import Direction, Movement
from terminals.settings import EventSettings
from terminals.store import desk, ledger, results
from terminals.store.desk import EventRow
from terminals.store.results import CurrentResult
from terminals.store.schema import MIGRATIONS
from terminals.sync.collector import Collector
from terminals.sync.contacts import DEFAULT_LIMITS, Limits, Send
from terminals.sync.ingest import ingest
from terminals.sync.jobs import TAKEN, TakeRecord
from terminals.sync.setup import EventSetup, new_event, setup_to_json

EVENT = 0xE7E47
SMALL = mitchell(3, 2)
CLUB = mitchell(7, 4, missing=Direction.EW)

PLAYED, PASSED, NOT_PLAYED, ERASED = 1, 2, 3, 4


def an_event(movement: Movement | None = SMALL, **settings: object) -> EventSetup:
    return new_event(EVENT, "Tuesday", {1: movement}, EventSettings().changed({"admit_all": True, **settings}))


def body(**changes: int) -> bytes:
    """Section A, table 1, round 1, board 1, pair 1 against 4: 3NT by North, nine tricks, accepted by the opponents."""
    usual = {"kind": PLAYED, "confirmed_by": 1, "section": 1, "table": 1, "round": 1, "board": 1, "ns": 1, "ew": 4}
    if changes.get("kind", PLAYED) == PLAYED:
        usual |= {"declarer": 0, "tricks": 9, "level": 3, "strain": 5}
    else:
        usual |= {"declarer": 0, "tricks": 0, "level": 0, "strain": 0}
    usual |= {"doubling": 0, "lead": 255, "replaces": 0, "stamp": 7}
    return RecordBody(**(usual | changes)).pack()


@dataclass
class FakeTerminal:
    """Follows the protocol page, with no code of the host's collector."""

    device: int
    address: int
    section: int = 1
    table: int = 1
    key: bytes = b""
    journal: int = 1
    ring: int = 8
    log: dict[int, dict[int, bytes]] = field(default_factory=dict)  # journal -> seq -> body
    acked: dict[int, int] = field(default_factory=dict)
    next_seq: dict[int, int] = field(default_factory=dict)
    sent: int = 0
    credit: int = 1
    admitted: bool = False
    plan: TablePlan | None = None
    boots: int = 1
    shown: dict[tuple[int, int, int], bytes] = field(default_factory=dict)  # what screens called received
    seen: list[Message] = field(default_factory=list)

    def hello(self) -> TermHello:
        waiting = self.waiting()
        return TermHello(
            proto_min=0x10,
            proto_max=0x10,
            role=3,
            window=1,
            max_frame=240,
            device_id=self.device,
            boot_id=self.boots,
            boot_count=self.boots,
            journal_id=self.journal,
            oldest_unacked=waiting[0] if waiting else 0,
            next_seq=self.next_seq.get(self.journal, 1),
            capabilities=0,
            session=0,
            model="fake",
            firmware="1",
            commands=(),
        )

    def status(self) -> TermStatus:
        version = 0 if self.plan is None else self.plan.version
        return TermStatus(self.section, self.table, 1, 80, 70, len(self.waiting()), 0, version)

    def boot(self) -> list[Message]:
        self.boots += 1
        self.sent, self.credit, self.admitted = self.acked.get(self.journal, 0), 1, False
        return [self.hello(), self.status()]

    def enter(self, content: bytes) -> int:
        seq = self.next_seq.get(self.journal, 1)
        self.log.setdefault(self.journal, {})[seq] = content
        self.next_seq[self.journal] = seq + 1
        return seq

    def waiting(self) -> list[int]:
        done = self.acked.get(self.journal, 0)
        return [seq for seq in sorted(self.log.get(self.journal, {})) if seq > done]

    def record(self, seq: int, journal: int | None = None) -> Record:
        journal = self.journal if journal is None else journal
        content = self.log[journal][seq]
        crc = record_crc(self.device, journal, seq, content)
        return Record(journal, seq, content, crc, record_auth(self.key, self.device, journal, seq, content))

    def to_send(self) -> list[Message]:
        """Records that credit allows now."""
        if not self.admitted:
            return []
        out: list[Message] = []
        done = self.acked.get(self.journal, 0)
        for seq in self.waiting():
            if seq > self.sent and seq - done <= self.credit:
                out.append(self.record(seq))
                self.sent = seq
        return out

    def repeat(self) -> None:
        """Its own time-out: what is not acknowledged goes out again."""
        self.sent = self.acked.get(self.journal, 0)

    def swap_battery(self) -> None:
        """The memory is initialised anew: unsent records are gone, and were never shown as received."""
        self.journal += 1
        self.log = {self.journal: {}}
        self.sent = 0

    def receive(self, message: Message) -> list[Message]:
        self.seen.append(message)
        if isinstance(message, (Admit, RecordAck, RecordNak, Resend)) and message.device_id != self.device:
            return []
        if isinstance(message, Admit):
            self.admitted = message.admitted == Admission.ADMITTED
            if self.admitted and message.table:
                self.section, self.table = message.section, message.table
        elif isinstance(message, TablePlan):
            self.plan = message
            return [self.status()]
        elif isinstance(message, Credit):
            self.credit = message.credit
        elif isinstance(message, RecordAck):
            self._acked(message)
        elif isinstance(message, RecordNak) and message.journal_id == self.journal:
            if message.reason == RecordReason.CONFLICT:
                self._new_journal()
            elif message.reason == RecordReason.GAP:
                return self._again(message.seq)
        elif isinstance(message, Resend):
            return self._again(message.from_seq)
        return []

    def _acked(self, ack: RecordAck) -> None:
        self.credit = ack.credit
        log = self.log.get(ack.journal_id, {})
        for seq in list(log):
            if seq <= ack.upto and seq > self.acked.get(ack.journal_id, 0):
                self.shown[self.device, ack.journal_id, seq] = log[seq]
        self.acked[ack.journal_id] = max(ack.upto, self.acked.get(ack.journal_id, 0))
        for seq in sorted(log):
            if seq <= ack.upto - self.ring:
                del log[seq]  # the slot is used again

    def _new_journal(self) -> None:
        old = [self.log[self.journal][seq] for seq in self.waiting()]
        self.journal += 1
        self.sent = 0
        for content in old:
            self.enter(content)

    def _again(self, from_seq: int) -> list[Message]:
        held = [seq for seq in sorted(self.log.get(self.journal, {})) if seq >= from_seq]
        self.sent = max(self.sent, held[-1] if held else 0)
        return [self.record(seq) for seq in held]


class FakeHost:
    """Collector and store without tasks: messages go in, ``pump`` commits, answers are delivered to the terminals."""

    def __init__(
        self,
        path: Path,
        setup: EventSetup | None = None,
        *,
        limits: Limits = DEFAULT_LIMITS,
        connect: Connect = connect_sqlite3,
        synchronous: str = "FULL",
    ) -> None:
        self.path = path
        self.now = 0.0
        self.database = Database.open(path, MIGRATIONS, connect=connect, synchronous=synchronous, check=False)
        self.setup = setup or an_event()
        row = EventRow(self.setup.id, self.setup.name, setup_to_json(self.setup), self.setup.plan_version, "")
        with self.database.transaction() as connection:
            desk.save_event(connection, row)
            roster, journals = desk.devices(connection), ledger.journals(connection)
        self.collector = Collector(self.setup, roster, journals, limits)
        self.terminals: dict[int, FakeTerminal] = {}
        self.sends: list[Send] = []
        self.log: list[tuple[str, object]] = []
        self.broken = ""
        self.inbox: deque[tuple[FakeTerminal, Message]] = deque()
        self.collector.receive("base", StationConnected(StationIdentity(1, "s", "1", 1), False), 0.0)

    # --- terminals ---

    def add(self, terminal: FakeTerminal) -> FakeTerminal:
        self.terminals[terminal.address] = terminal
        return terminal

    def introduce(self, terminal: FakeTerminal) -> FakeTerminal:
        self.add(terminal)
        for message in terminal.boot():
            self.give(terminal, message)
        self.run()
        return terminal

    def give(self, terminal: FakeTerminal, message: Message) -> None:
        self.inbox.append((terminal, message))

    def run(self) -> None:
        """Until nothing happens any more (time does not pass)."""
        for _ in range(10_000):
            if self.inbox:
                terminal, message = self.inbox.popleft()
                self._note("in", message)
                sends = self.collector.receive("base", StationMessage(terminal.address, message), self.now, "19:30")
                self._deliver(sends)
            elif not (self.pump() or self._more()):
                return
        raise AssertionError("the host and its terminals never come to rest")

    def _more(self) -> bool:
        for terminal in self.terminals.values():
            for message in terminal.to_send():
                self.give(terminal, message)
        return bool(self.inbox)

    def pump(self, after_commit: Callable[[], None] | None = None) -> bool:
        """One transaction, if anything waits. ``after_commit`` runs between COMMIT and the acknowledgements."""
        batch = self.collector.take()
        if batch is None:
            return False
        try:
            with self.database.transaction() as connection:
                done = ingest(connection, self.collector.setup, batch.jobs)
                if self.broken:
                    raise StoreError(self.broken)
        except StoreError as error:
            self._deliver(self.collector.failed(batch, str(error), self.now))
            return True
        pairs = zip(batch.jobs, done, strict=True)
        self._note(
            "commit", [job.raw.key for job, one in pairs if isinstance(job, TakeRecord) and one.verdict in TAKEN]
        )
        if after_commit is not None:
            after_commit()
        self._deliver(self.collector.committed(batch, done, self.now))
        return True

    def _deliver(self, sends: list[Send]) -> None:
        for send in sends:
            self.sends.append(send)
            self._note("out", send.message)
            for address, terminal in self.terminals.items():
                if send.address in (0, address):
                    for answer in terminal.receive(send.message):
                        self.give(terminal, answer)

    def _note(self, what: str, thing: object) -> None:
        self.log.append((what, thing))

    def wait(self, seconds: float) -> None:
        """Time passes in small steps; terminals repeat what is not acknowledged."""
        end = self.now + seconds
        while self.now < end:
            self.now += 0.5
            self._deliver(self.collector.tick(self.now))
            for terminal in self.terminals.values():
                terminal.repeat()
            self.run()

    def recover(self) -> None:
        self.broken = ""
        self._deliver(self.collector.recovered())
        self.run()

    # --- the store ---

    @property
    def event(self) -> str:
        return desk.event_hex(self.setup.id)

    def ask(self, question: Callable[[Connection], Any]) -> Any:
        with self.database.transaction() as connection:
            return question(connection)

    def current(self) -> list[CurrentResult]:
        with self.database.transaction() as connection:
            return results.current(connection, self.event)

    def records(self) -> list[ledger.KeptRecord]:
        with self.database.transaction() as connection:
            return list(ledger.records(connection))

    def alarms(self) -> list[ledger.Alarm]:
        with self.database.transaction() as connection:
            return ledger.alarms(connection)

    def close(self) -> None:
        self.database.close()
