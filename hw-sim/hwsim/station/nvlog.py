"""A terminal's non-volatile memory: who it is, the evening's plan, every record until long after it was acknowledged.

One append-only log. An entry is stored whole or not at all, so a battery that falls out at any byte leaves the terminal
with everything that its screen ever claimed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hwsim.memory import Log
from hwsim.messages import unpack_body, unpack_name
from hwsim.numbers import RecordKind

RING = 64  # acknowledged records that are kept for "send again"
Key = tuple[int, int]  # journal, seq


@dataclass(slots=True)
class Stored:
    """One record. ``event``: the event it was keyed in for. ``name``: it says who sits where, not what was played."""

    journal: int
    seq: int
    body: bytes
    event: int
    acked: bool = False
    moved: bool = False  # taken over into a newer journal
    name: bool = False


class TerminalMemory:
    def __init__(self, log: Log) -> None:
        self._log = log
        self.device_id = 0
        self.boots = 0
        self.journal = 0
        self.next_seq = 1
        self.records: dict[Key, Stored] = {}  # in the order of keying in
        self.keyed: set[tuple[int, int, int, int]] = set()  # event, round, board, 1 if corrected
        self.named: set[tuple[int, int, int]] = set()  # event, pair, seat
        self.admission: dict[str, Any] = {}
        self.plan: dict[str, Any] = {}
        for entry in log.load():
            self._apply(json.loads(entry))

    def _write(self, entry: list[Any]) -> None:
        self._log.append(json.dumps(entry, separators=(",", ":")).encode())
        self._apply(entry)
        if self._log.size > self._log.REWRITE_AT:
            self._compact()

    def _apply(self, entry: list[Any]) -> None:
        match entry:
            case ["boot", device_id]:
                self.device_id = device_id
                self.boots += 1
            case ["boots", device_id, boots]:
                self.device_id, self.boots = device_id, boots
            case ["journal", journal, next_seq]:
                self.journal, self.next_seq = journal, next_seq
            case ["record", journal, seq, body, event]:
                self._add(journal, seq, bytes.fromhex(body), event)
            case ["name", journal, seq, body, event]:
                self._add_name(journal, seq, bytes.fromhex(body), event)
            case ["named", event, pair, seat]:
                self.named.add((event, pair, seat))
            case ["acked", journal, upto]:
                self._acknowledge(journal, upto)
            case ["moved", old_journal, old_seq, journal, seq, body, event]:
                if (old_journal, old_seq) in self.records:
                    self.records[old_journal, old_seq].moved = True
                self._add(journal, seq, bytes.fromhex(body), event)
            case ["moved-name", old_journal, old_seq, journal, seq, body, event]:
                if (old_journal, old_seq) in self.records:
                    self.records[old_journal, old_seq].moved = True
                self._add_name(journal, seq, bytes.fromhex(body), event)
            case ["gone", journal, seq]:
                self.records[journal, seq].moved = True
            case ["keyed", event, round_, board, again]:
                self.keyed.add((event, round_, board, again))
            case ["admission", fields]:
                self.admission = fields
            case ["plan", fields]:
                self.plan = fields
            case _:
                raise ValueError(f"unknown entry {entry[0]}")

    def _add(self, journal: int, seq: int, body: bytes, event: int) -> None:
        self.records[journal, seq] = Stored(journal, seq, body, event)
        self.next_seq = seq + 1
        told = unpack_body(body)
        place = (event, told["round"], told["board"])
        if told["kind"] == RecordKind.ERASED:
            self.keyed -= {(*place, 0), (*place, 1)}  # the table keys it in anew
        else:
            self.keyed.add((*place, int(told["replaces"] > 0)))

    def _add_name(self, journal: int, seq: int, body: bytes, event: int) -> None:
        self.records[journal, seq] = Stored(journal, seq, body, event, name=True)
        self.next_seq = seq + 1
        told = unpack_name(body)
        self.named.add((event, told["pair"], told["seat"]))

    def _acknowledge(self, journal: int, upto: int) -> None:
        done = []
        for key, record in self.records.items():
            if record.journal == journal and record.seq <= upto:
                record.acked = True
            if record.acked or record.moved:
                done.append(key)
        for key in done[: max(0, len(done) - RING)]:
            del self.records[key]

    def _compact(self) -> None:
        entries: list[list[Any]] = [["boots", self.device_id, self.boots]]
        entries += [["keyed", *key] for key in sorted(self.keyed)]
        entries += [["named", *key] for key in sorted(self.named)]
        for record in self.records.values():
            entries.append(
                ["name" if record.name else "record", record.journal, record.seq, record.body.hex(), record.event]
            )
            if record.moved:
                entries.append(["gone", record.journal, record.seq])
        acked: dict[int, int] = {}
        for record in self.records.values():
            if record.acked:
                acked[record.journal] = record.seq
        entries += [["acked", journal, upto] for journal, upto in acked.items()]
        entries.append(["journal", self.journal, self.next_seq])
        if self.admission:
            entries.append(["admission", self.admission])
        if self.plan:
            entries.append(["plan", self.plan])
        self._log.rewrite(json.dumps(entry, separators=(",", ":")).encode() for entry in entries)

    # -- what the terminal does ---------------------------------------------------------------------------------------

    def boot(self, device_id: int) -> None:
        """Count a start. The id is burnt in once, at the first."""
        self._write(["boot", self.device_id or device_id])

    def new_journal(self, journal: int) -> None:
        self._write(["journal", journal, 1])

    def add_name(self, body: bytes, event: int) -> Stored:
        """Store who sits where under the next key."""
        key = (self.journal, self.next_seq)
        self._write(["name", *key, body.hex(), event])
        return self.records[key]

    def add(self, body: bytes, event: int) -> Stored:
        """Store a record under the next key. That its board has been keyed in follows from it: one entry, one truth."""
        key = (self.journal, self.next_seq)
        self._write(["record", *key, body.hex(), event])
        return self.records[key]

    def move(self, record: Stored, body: bytes) -> Stored:
        """The same record under the next key of the present journal."""
        key = (self.journal, self.next_seq)
        self._write(
            ["moved-name" if record.name else "moved", record.journal, record.seq, *key, body.hex(), record.event]
        )
        return self.records[key]

    def acknowledge(self, journal: int, upto: int) -> list[Stored]:
        """Records that are now, and were not before, acknowledged."""
        fresh = [r for r in self.records.values() if r.journal == journal and r.seq <= upto and not r.acked]
        if fresh:
            self._write(["acked", journal, upto])
        return fresh

    def waiting(self) -> list[Stored]:
        return [r for r in self.records.values() if not r.acked and not r.moved]

    def admit(self, fields: dict[str, Any]) -> None:
        if fields != self.admission:
            self._write(["admission", fields])

    def hold_plan(self, fields: dict[str, Any]) -> None:
        if fields != self.plan:
            self._write(["plan", fields])
