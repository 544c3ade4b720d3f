"""How a terminal's records reach the host: credit, acknowledgements, refusals, sending again (0x70 to 0x75).

Nothing here decides what a record says; everything that must not be lost is in the terminal's memory.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Protocol

from hwsim import messages
from hwsim.agenda import Agenda, Booking
from hwsim.messages import Fields
from hwsim.numbers import Kind, RecordReason
from hwsim.station.nvlog import Key, Stored, TerminalMemory

RETRY = 30.0  # seconds without any answer after which a terminal says hello and sends its records again
GARBLED_PAUSE = 1.0
LACKING_LIMIT = 8  # how often a host may ask for what memory no longer has before the rest is told in another journal
REPLACES = 11  # offset in a record's body


class Radio(Protocol):
    """The way to the base station; False if nobody listens there."""

    def send(self, address: int, kind: int, fields: Fields) -> bool: ...

    def is_up(self) -> bool: ...


class Upload:
    """held_back: the host has not admitted this terminal, or has refused its records; nothing is sent until it does.

    introduce: says hello and sends what waits."""

    def __init__(
        self,
        address: int,
        memory: TerminalMemory,
        radio: Radio,
        agenda: Agenda,
        chance: random.Random,
        key: bytes | None,
    ) -> None:
        self._address = address
        self._memory = memory
        self._radio = radio
        self._agenda = agenda
        self._chance = chance
        self._key = key
        self.credit = 1
        self.held_back = False
        self.introduce: Callable[[], None] = self.pump
        self._in_flight: dict[Key, None] = {}
        self._again: list[Key] = []
        self._lacking: tuple[Key, int] = ((0, 0), 0)
        self._retry: Booking | None = None

    def reset(self) -> None:
        """A session begins or ends: nothing is on its way any more."""
        self.credit = 1
        self._in_flight.clear()
        self._again.clear()

    def stop(self) -> None:
        self.held_back = True
        if self._retry is not None:
            self._retry.cancel()

    def pump(self) -> None:
        """Send what credit allows."""
        if self.held_back or not self._radio.is_up():
            return
        while self._again and len(self._in_flight) < self.credit:
            record = self._memory.records.get(self._again.pop(0))
            if record is not None and not self._send_record(record):
                return
        if self._again or len(self._in_flight) >= self.credit:
            return
        for record in self._memory.waiting():
            if len(self._in_flight) >= self.credit:
                return
            if (record.journal, record.seq) not in self._in_flight and not self._send_record(record):
                return

    def _send_record(self, record: Stored) -> bool:
        device = self._memory.device_id
        told: Fields = {"body": record.body}
        if record.extra:
            told = messages.unpack_name(record.body) if record.name else messages.unpack_table(record.body)
        fields = {
            **told,
            "journal_id": record.journal,
            "seq": record.seq,
            "crc": messages.record_crc(device, record.journal, record.seq, record.body),
            "auth": messages.record_auth(self._key, device, record.journal, record.seq, record.body),
        }
        kind = Kind.NAME_RECORD if record.name else Kind.TABLE_RECORD if record.table else Kind.RECORD
        if not self._radio.send(self._address, kind, fields):
            return False
        self._in_flight[record.journal, record.seq] = None
        self._book_retry()
        return True

    def _book_retry(self) -> None:
        if self._retry is None:
            self._retry = self._agenda.after(RETRY, self._retry_records)

    def _retry_records(self) -> None:
        self._retry = None
        if self._in_flight:
            self._in_flight.clear()
            if self.credit:  # else the host has said that it takes nothing now
                # The host may have missed the hello, or has taken another terminal for this one.
                self.introduce()

    def acknowledged(self, journal: int, upto: int, credit: int) -> list[Stored]:
        """RECORD_ACK. Returns the records that are covered now and were not before; that is in memory already."""
        self.credit = credit
        for key in [k for k in self._in_flight if k[0] == journal and k[1] <= upto]:
            del self._in_flight[key]
        fresh = self._memory.acknowledge(journal, upto)
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        if self._in_flight:
            self._book_retry()
        return fresh

    def refused(self, journal: int, seq: int, reason: int) -> None:
        """RECORD_NAK."""
        if reason in (RecordReason.NOT_ADMITTED, RecordReason.AUTH):
            if (journal, seq) not in self._in_flight:
                return  # somebody else sent that in this terminal's name
            self._in_flight.clear()
            self.held_back = True
        elif reason == RecordReason.CONFLICT:
            self._move_on(journal, seq)
        elif reason == RecordReason.GAP:
            self.send_again(journal, seq)
        else:  # garbled on the way: what is in memory is right, so it goes again, but not in a busy loop
            self._agenda.after(GARBLED_PAUSE, lambda: self._forget_sent(journal, seq))

    def _forget_sent(self, journal: int, seq: int) -> None:
        self._in_flight.pop((journal, seq), None)
        record = self._memory.records.get((journal, seq))
        if record is not None and record.acked and (journal, seq) not in self._again:
            self._again.insert(0, (journal, seq))  # the host wants it again although it had it once
        self.pump()

    def send_again(self, journal: int, from_seq: int) -> None:
        """RESEND, or a gap: everything of that journal from there on, as far as memory holds it."""
        held = sorted(r.seq for r in self._memory.records.values() if r.journal == journal and not r.moved)
        if from_seq in held:
            self._queue_again(journal, from_seq)
            return
        if not held or held[-1] < from_seq:
            return
        # Memory has forgotten what the host misses. It gets the rest all the same, and calls what it can't have a hole;
        # a host that goes on asking for it would never take the rest, so that is told in another journal.
        known, times = self._lacking
        self._lacking = ((journal, from_seq), times + 1 if known == (journal, from_seq) else 1)
        if self._lacking[1] > LACKING_LIMIT:
            self._lacking = ((0, 0), 0)
            self._again.clear()
            self._move_on(journal, from_seq)
        elif self._lacking[1] == 1:
            self._queue_again(journal, from_seq)
        else:  # not in a busy loop
            self._agenda.after(GARBLED_PAUSE, lambda: self._queue_again(journal, from_seq, pump=True))

    def _queue_again(self, journal: int, from_seq: int, *, pump: bool = False) -> None:
        for key in [k for k in self._in_flight if k[0] == journal and k[1] >= from_seq]:
            del self._in_flight[key]
        held = sorted(r.seq for r in self._memory.records.values() if r.journal == journal and not r.moved)
        self._again = [(journal, seq) for seq in held if seq >= from_seq]
        if pump:
            self.pump()

    def _move_on(self, journal: int, from_seq: int) -> None:
        """Tell in another journal what the host has not taken in this one."""
        memory = self._memory
        moving = [r for r in memory.waiting() if r.journal == journal and r.seq >= from_seq]
        if not moving:
            return
        everything = {r.seq: r for r in memory.records.values() if r.journal == journal}
        if journal == memory.journal:  # else power went in the middle of this, and the new one is there already
            memory.new_journal(self._chance.getrandbits(32) or 1)
        self._in_flight.clear()
        new_seq: dict[int, int] = {}
        for record in moving:
            if record.extra:
                memory.move(record, record.body)
                continue
            distance = record.body[REPLACES]
            original = record.seq - distance
            if distance and original not in new_seq and original in everything:
                # A correction can only name a record of its own journal: that one has to be told again as well.
                new_seq[original] = memory.add(everything[original].body, record.event).seq
            body = bytearray(record.body)
            if distance:
                body[REPLACES] = memory.next_seq - new_seq[original] if original in new_seq else 0
            new_seq[record.seq] = memory.move(record, bytes(body)).seq
