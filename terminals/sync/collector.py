"""From terminals' messages to work for the store, and from commits to acknowledgements. Sans-IO: no disk, no clock.

``receive`` takes what a base station brought; ``take`` gives the next batch for the store; ``committed`` or ``failed``
says what became of it. Every one of them returns messages to send. Nothing is acknowledged before ``committed``.
Memory: one ``Terminal`` each, and at most ``Limits.queue`` jobs that wait for the disk.
"""

from __future__ import annotations

import hmac
from collections import deque
from collections.abc import Mapping

from drivers.api import StationConnected, StationDisconnected, StationEvent
from firmware_bridge.wire.messages import (
    BY_CLASS,
    Ask,
    Call,
    Credit,
    DirectorAsk,
    DirectorAuth,
    EntryCheck,
    Message,
    Nak,
    NameRecord,
    NameSearch,
    Record,
    RecordAck,
    Resend,
    TableRecord,
    TableSettings,
    TakeOver,
    TermEvents,
    TermGone,
    TermHello,
    TermStatus,
)
from firmware_bridge.wire.numbers import AskFor, RecordReason, TableRecordKind
from firmware_bridge.wire.record import name_auth, name_crc, name_hash, record_auth, record_crc
from terminals.store.desk import Device
from terminals.store.values import RawRecord, RecordKey, device_hex
from terminals.sync.contacts import DEFAULT_LIMITS, Batch, Limits, Send, Work
from terminals.sync.jobs import TAKEN, Done, TakeDesk, TakeDevice, TakeHole, TakeJournal, TakeRecord, TakeTable, Verdict
from terminals.sync.missing import Missing
from terminals.sync.people import name_body
from terminals.sync.questions import TakeQuestion
from terminals.sync.recorded import table_body
from terminals.sync.setup import EventSetup
from terminals.sync.terminal import Terminal, Track

NOT_KEPT = (TakeRecord, TakeQuestion)
"""Jobs that a terminal repeats by itself when they fail."""


class Collector(Missing):
    """The sync service's core. One event at a time; all stations feed the same one."""

    def __init__(
        self,
        setup: EventSetup,
        roster: Mapping[int, Device],
        journals: Mapping[tuple[int, int], int],
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        super().__init__(setup, roster, journals, limits)
        self._in_flight = 0
        self._full = False
        self._trouble = ""
        self._probe_at: float | None = None

    @property
    def trouble(self) -> str:
        """Why the store takes nothing at the moment, for the director; "" when all is well."""
        return self._trouble

    @property
    def queued(self) -> int:
        """Jobs that wait for the disk, those of the running transaction included."""
        return len(self._queue) + self._in_flight

    @property
    def credit(self) -> int:
        """What terminals are allowed now."""
        return 0 if self._trouble or self._full else self._limits.credit

    # --- in ---

    def receive(self, station: str, event: StationEvent, now: float, wall: str = "") -> list[Send]:
        """Take what a base station brought. wall: the time of day, kept with results for people to read."""
        if isinstance(event, StationConnected):
            self._stations.add(station)
            if event.restarted:
                self._lose(station)
            return [Send(station, 0, Credit(self.credit))]
        if isinstance(event, StationDisconnected):
            self._stations.discard(station)
            for terminal in self._terminals.values():
                if terminal.station == station:
                    terminal.present = False
            return []
        self._stations.add(station)
        message = event.message
        if isinstance(message, TermHello):
            return self._hello(station, event.address, message, now)
        sender = self._terminals.get((station, event.address))
        if sender is None:
            # Nothing is known of who sends this; a terminal introduces itself when its station has a session.
            self.strangers += 1
            return []
        return self._message(sender, message, now, wall)

    def _message(self, terminal: Terminal, message: Message, now: float, wall: str) -> list[Send]:
        terminal.last_seen = now
        terminal.present = not isinstance(message, TermGone)
        if isinstance(message, (Record, NameRecord, TableRecord)):
            return self._record(terminal, message, now, wall)
        if isinstance(message, TermStatus):
            terminal.status = message
            terminal.held_upto = message.waiting + (0 if terminal.current is None else terminal.current.verified)
            return self._status(terminal, message, now)
        if isinstance(message, Nak):
            if message.kind == BY_CLASS[TableSettings].kind:
                terminal.takes_settings = False  # an older program, which goes on without
            return []
        if isinstance(message, TermEvents):
            self._events(terminal, message)
            return []
        if isinstance(message, TakeOver):
            return self._take_over(terminal, message, now, wall)
        if isinstance(message, Call):
            return self._call(terminal, message, now, wall)
        if isinstance(message, DirectorAsk):
            return self._director_ask(terminal, now)
        if isinstance(message, DirectorAuth):
            return self._director_auth(terminal, message, now, wall)
        if isinstance(message, (EntryCheck, Ask, NameSearch)):
            return self._question(terminal, message, now, wall)
        return []

    def resend(self, device: int, journal: int, from_seq: int) -> list[Send]:
        """Ask a terminal for its records again, as far as its ring holds them."""
        terminal = self._by_device.get(device)
        if terminal is None:
            return []
        return [Send(terminal.station, terminal.address, Resend(device, journal, from_seq))]

    # --- the store ---

    def take(self) -> Batch | None:
        """The next batch; None when nothing waits, the last one is still on its way, or the store fails."""
        if self._in_flight or not self._queue or self._trouble:
            return None
        count = min(len(self._queue), self._limits.batch)
        batch = Batch(tuple(self._queue.popleft() for _ in range(count)))
        self._in_flight = count
        return batch

    def committed(self, batch: Batch, done: list[Done], now: float) -> list[Send]:
        """The batch is on disk. Only now are records acknowledged."""
        self._in_flight = 0
        out: list[Send] = []
        acks: dict[tuple[int, int], tuple[Terminal, Track]] = {}
        for work, result in zip(batch.work, done, strict=True):
            job = work.job
            if isinstance(job, TakeRecord):
                out += self._stored(work, job.raw.key, result, acks, now)
                code = job.table
                if code is not None and code.what == TableRecordKind.CODE and result.verdict is Verdict.STORED:
                    self.tell(code.section, code.ns, AskFor.CODES)
            elif isinstance(job, TakeDevice):
                out += self._device_kept(job.device, result, now)
            elif isinstance(job, TakeTable):
                out += self._taken_over(work, result, now)
            elif isinstance(job, TakeHole):
                self._hole_kept(work, job, result)
            elif isinstance(job, TakeQuestion):
                out += self._answered(work, job, result)
            elif isinstance(job, TakeDesk) and work.terminal is not None:
                out += self._call_kept(work.terminal, job)
        told: list[Send] = []  # before any refusal: a terminal that opens a new journal repeats only what is left
        for terminal, track in acks.values():
            upto = min(track.verified, track.conflict - 1) if track.conflict else track.verified
            if upto > 0 and terminal.tracks.get(track.journal) is track:
                terminal.credit = self.credit
                told.append(self._to(terminal, RecordAck(terminal.device, track.journal, upto, self.credit)))
            if track.dropped and self.credit and terminal.waiting < self._limits.per_terminal // 2:
                track.dropped = False
                told.append(self._to(terminal, Resend(terminal.device, track.journal, track.expected)))
        return told + out + self._drained()

    def failed(self, batch: Batch, why: str, now: float, *, again: bool = True) -> list[Send]:
        """Nothing of the batch is on disk. Terminals keep their records; credit is 0 until the store works again.

        again: roster changes, alarms and calls of the batch are tried again; not when one of them may be the cause.
        """
        self._in_flight = 0
        kept = [work for work in batch.work if again and not isinstance(work.job, NOT_KEPT)]
        for work in [*batch.work, *self._queue]:
            if isinstance(work.job, TakeRecord):
                self._forget(work)
            self._unanswered(work)
        self._queue = deque([*kept, *(work for work in self._queue if not isinstance(work.job, NOT_KEPT))])
        first = not self._trouble
        self._trouble = why
        self._probe_at = now + self._limits.probe_every
        return self._broadcast_credit() if first else []

    @property
    def probe_due(self) -> float | None:
        """When a failing store should be tried again."""
        return self._probe_at

    def probe_failed(self, why: str, now: float) -> None:
        self._trouble = why
        self._probe_at = now + self._limits.probe_every

    def recovered(self) -> list[Send]:
        """The store works again: credit comes back, and terminals send what was dropped."""
        if not self._trouble:
            return []
        self._trouble = ""
        self._probe_at = None
        self._full = False
        return self._broadcast_credit() + self._ask_dropped()

    # --- records ---

    def _begin(self, terminal: Terminal, hello: TermHello, now: float) -> list[Send]:
        """Follow the journal that a terminal names, from its oldest unacknowledged record."""
        if not hello.journal_id:
            return []
        self._put(TakeJournal(terminal.device, hello.journal_id, max(1, hello.next_seq)))
        upto = self._journals.get((terminal.device, hello.journal_id), 0)
        owed = max(1, hello.oldest_unacked or hello.next_seq)
        verified = min(owed - 1, upto)
        track = terminal.begin_track(Track(hello.journal_id, verified, verified + 1, unacked=owed))
        if 0 < hello.next_seq <= upto:
            subject = f"{device_hex(terminal.device)} {hello.journal_id:08x}"
            self._alarm(
                "memory-went-back",
                subject,
                "A terminal has forgotten records that it had sent. Nothing is lost here; compare its table's results.",
            )
        if verified + 1 < owed:
            # Our store is older than what this terminal was told: it may still hold the records.
            return self._ask(terminal, track, now)
        return []

    def _record(
        self, terminal: Terminal, record: Record | NameRecord | TableRecord, now: float, wall: str
    ) -> list[Send]:
        device, journal, seq = terminal.device, record.journal_id, record.seq
        if not terminal.admitted:
            return [self._nak(terminal, journal, seq, RecordReason.NOT_ADMITTED)]
        name = record if isinstance(record, NameRecord) else None
        table = record if isinstance(record, TableRecord) else None
        if isinstance(record, Record):
            body, crc_of, auth_of = record.body, record_crc, record_auth
        else:
            body = name_body(record) if isinstance(record, NameRecord) else table_body(record)
            crc_of, auth_of = name_crc, name_auth
        if not seq or record.crc != crc_of(device, journal, seq, body):
            wanted = terminal.track(journal)
            if wanted is not None and seq == wanted.expected:
                wanted.heard()  # damaged on the way, but the terminal has it
            return [self._nak(terminal, journal, seq, RecordReason.CRC)]
        key = self._roster[device].key
        if key and not hmac.compare_digest(record.auth, auth_of(key, device, journal, seq, body)):
            self._alarm(
                "auth",
                device_hex(device),
                "A record came without the right key of its terminal. Pair the terminal anew if it was replaced.",
            )
            return [self._nak(terminal, journal, seq, RecordReason.AUTH)]
        track = terminal.track(journal)
        if track is None:
            upto = self._journals.get((device, journal), 0)
            expected = min(seq, upto + 1)
            track = terminal.begin_track(Track(journal, expected - 1, expected))
        if track.conflict and seq >= track.conflict:
            return [self._nak(terminal, journal, track.conflict, RecordReason.CONFLICT)]
        if track.verified < seq < track.expected:
            return []  # it is on its way to the disk
        if seq > track.expected:
            track.nearest = min(track.nearest or seq, seq)
            track.answered = True
            return self._ask(terminal, track, now) if now - track.asked_at >= self._limits.ask_every else []
        limits = self._limits
        if self._trouble or self._full or terminal.waiting >= limits.per_terminal:
            track.dropped = True
            return [] if self.credit else [self._to(terminal, Credit(0))]
        if not terminal.record_pace.take(now, limits.per_second, limits.burst):
            terminal.over_limit += 1
            if seq == track.expected:
                track.nearest = seq
                track.asked_at = now
                self._missing[device, journal] = None  # asked for again when it may send more
            return []
        kept = body if isinstance(record, Record) else name_hash(device, journal, seq, body)
        crc = record.crc if isinstance(record, Record) else name_crc(device, journal, seq, kept)
        deal = None if table is None else self.deals(table.section, table.board)
        raw = RawRecord(RecordKey(device, journal, seq), kept, crc, record.auth)
        if seq == track.expected:
            track.advance(seq + 1)
        track.waiting += 1
        self._queue.append(Work(TakeRecord(raw, terminal.seat, wall, name, table, deal), terminal, track))
        if self.queued >= self._limits.queue:
            self._full = True
            return self._broadcast_credit()
        return []

    def _stored(
        self,
        work: Work,
        key: RecordKey,
        done: Done,
        acks: dict[tuple[int, int], tuple[Terminal, Track]],
        now: float,
    ) -> list[Send]:
        terminal, track = work.terminal, work.track
        if terminal is None or track is None:
            return []
        track.waiting -= 1
        name = (key.device, key.journal)
        self._journals[name] = max(self._journals.get(name, 0), done.upto)
        if done.verdict in TAKEN:
            if key.seq == track.verified + 1:
                track.verified = key.seq
            acks[name] = (terminal, track)
            return []
        if done.verdict is Verdict.CONFLICT:
            track.conflict = min(track.conflict or key.seq, key.seq)
            return [self._nak(terminal, key.journal, key.seq, RecordReason.CONFLICT)]
        track.expected = min(track.expected, track.verified + 1, done.upto + 1)
        return self._ask(terminal, track, now)

    def _forget(self, work: Work) -> None:
        track = work.track
        if track is not None:
            track.waiting -= 1
            track.expected = min(track.expected, track.verified + 1)
            track.dropped = True

    def _drained(self) -> list[Send]:
        if not self._full or self._trouble or self.queued > self._limits.queue // 2:
            return []
        self._full = False
        return self._broadcast_credit() + self._ask_dropped()

    def _ask_dropped(self) -> list[Send]:
        out = []
        for terminal in self.terminals:
            for track in terminal.tracks.values():
                if track.dropped:
                    track.dropped = False
                    out.append(self._to(terminal, Resend(terminal.device, track.journal, track.expected)))
        return out

    # --- small things ---

    def _broadcast_credit(self) -> list[Send]:
        for terminal in self._by_device.values():
            terminal.credit = self.credit
        return [Send(station, 0, Credit(self.credit)) for station in sorted(self._stations)]
