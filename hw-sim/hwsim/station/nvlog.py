"""A terminal's non-volatile memory: who it is, the evening's plan, every record until long after it was acknowledged.

One append-only log. An entry is stored whole or not at all, so a battery that falls out at any byte leaves the terminal
with everything that its screen ever claimed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hwsim.memory import Log
from hwsim.messages import unpack_body, unpack_name, unpack_table
from hwsim.numbers import Positions, RecordKind, TableRecord

RING = 64  # acknowledged records that are kept for "send again", whatever event they are of
SESSIONS = 4  # of the newest events all records are kept, up to
RING_OF_SESSIONS = 160
PARTS = 32  # at most so many parts are told of which record belongs to which event
Key = tuple[int, int]  # journal, seq


@dataclass(slots=True)
class Stored:
    """One record. ``event``: the event it was keyed in for. ``name``: it says who sits where, ``table``: what the table
    records beside its results; all others are results."""

    journal: int
    seq: int
    body: bytes
    event: int
    acked: bool = False
    moved: bool = False  # taken over into a newer journal
    name: bool = False
    table: bool = False

    @property
    def extra(self) -> bool:
        """It is no result: its body has any length."""
        return self.name or self.table


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
        self.noted: set[tuple[int, int, int, int]] = set()  # event, round, board or pair of a code, what
        self.swapped: set[tuple[int, int]] = set()  # event, round: the pairs stay the other way round
        self.chosen: tuple[int, int] | None = None  # section and table that somebody picked at this terminal
        self.settings: int | None = None  # of the event, None before they were told
        self.codes: dict[int, bytes] = {}  # pair -> by what its code is known
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
            case ["table", journal, seq, body, event]:
                self._add_table(journal, seq, bytes.fromhex(body), event)
            case ["moved-table", old_journal, old_seq, journal, seq, body, event]:
                if (old_journal, old_seq) in self.records:
                    self.records[old_journal, old_seq].moved = True
                self._add_table(journal, seq, bytes.fromhex(body), event)
            case ["noted", event, round_, about, what]:
                self.noted.add((event, round_, about, what))
            case ["swapped", event, round_]:
                self.swapped.add((event, round_))
            case ["chosen", section, table]:
                self.chosen = (section, table)
            case ["settings", settings]:
                self.settings = settings
            case ["codes", codes]:
                self.codes = {pair: bytes.fromhex(verifier) for pair, verifier in codes}
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
            return
        distance = told["replaces"]
        before = self.records.get((journal, seq - distance)) if distance else None
        if before is not None and not before.extra:
            other = self._place_of_entry(before, seq)
            if other is not None and other != place:
                self.keyed -= {(*other, 0), (*other, 1)}  # that was another board
                self.keyed.add((*place, 0))
        self.keyed.add((*place, int(distance > 0)))

    def _place_of_entry(self, original: Stored, before: int) -> tuple[int, int, int] | None:
        """Event, round and board that an entry had before the record with that number."""
        place = None
        for record in self.records.values():
            if record.extra or record.journal != original.journal or record.seq >= before:
                continue
            told = unpack_body(record.body)
            if record is original or (told["replaces"] and record.seq - told["replaces"] == original.seq):
                place = (record.event, told["round"], told["board"])
        return place

    def _add_table(self, journal: int, seq: int, body: bytes, event: int) -> None:
        self.records[journal, seq] = Stored(journal, seq, body, event, table=True)
        self.next_seq = seq + 1
        told = unpack_table(body)
        about = told["ns"] if told["what"] == TableRecord.CODE else told["board"]
        self.noted.add((event, told["round"], about, told["what"]))
        if told["what"] == TableRecord.POSITIONS:
            place = (event, told["round"])
            self.swapped.discard(place)
            if told["data"][:1] == bytes([Positions.STAY]):
                self.swapped.add(place)

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
        recent = self._recent_events()
        for at, key in enumerate(done):
            left = len(done) - at
            if left <= RING or (left <= RING_OF_SESSIONS and self.records[key].event in recent):
                continue
            del self.records[key]

    def _recent_events(self) -> set[int]:
        events: list[int] = []
        for record in reversed(self.records.values()):
            if record.event not in events:
                events.append(record.event)
                if len(events) == SESSIONS:
                    break
        return set(events)

    def _compact(self) -> None:
        entries: list[list[Any]] = [["boots", self.device_id, self.boots]]
        # What was done is remembered as long as a record of its event is, or its plan: beyond that nobody asks.
        events = {record.event for record in self.records.values()} | {self.plan.get("event_id", 0)}
        self.keyed = {key for key in self.keyed if key[0] in events}
        self.named = {key for key in self.named if key[0] in events}
        self.noted = {key for key in self.noted if key[0] in events}
        self.swapped = {key for key in self.swapped if key[0] in events}
        entries += [["keyed", *key] for key in sorted(self.keyed)]
        entries += [["named", *key] for key in sorted(self.named)]
        for record in self.records.values():
            what = "name" if record.name else "table" if record.table else "record"
            entries.append([what, record.journal, record.seq, record.body.hex(), record.event])
            if record.moved:
                entries.append(["gone", record.journal, record.seq])
        acked: dict[int, int] = {}
        for record in self.records.values():
            if record.acked:
                acked[record.journal] = record.seq
        entries += [["acked", journal, upto] for journal, upto in acked.items()]
        # After the records: reading them marks and unmarks by itself what they say.
        entries += [["noted", *key] for key in sorted(self.noted)]
        entries += [["swapped", *key] for key in sorted(self.swapped)]
        if self.chosen is not None:
            entries.append(["chosen", *self.chosen])
        if self.settings is not None:
            entries.append(["settings", self.settings])
        if self.codes:
            entries.append(["codes", _codes(self.codes)])
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

    def add_table(self, body: bytes, event: int) -> Stored:
        """Store what the table records beside its results under the next key."""
        key = (self.journal, self.next_seq)
        self._write(["table", *key, body.hex(), event])
        return self.records[key]

    def add(self, body: bytes, event: int) -> Stored:
        """Store a record under the next key. That its board has been keyed in follows from it: one entry, one truth."""
        key = (self.journal, self.next_seq)
        self._write(["record", *key, body.hex(), event])
        return self.records[key]

    def move(self, record: Stored, body: bytes) -> Stored:
        """The same record under the next key of the present journal."""
        key = (self.journal, self.next_seq)
        what = "moved-name" if record.name else "moved-table" if record.table else "moved"
        self._write([what, record.journal, record.seq, *key, body.hex(), record.event])
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

    def choose(self, section: int, table: int) -> None:
        self._write(["chosen", section, table])

    def hold_settings(self, settings: int) -> None:
        if settings != self.settings:
            self._write(["settings", settings])

    def hold_codes(self, codes: dict[int, bytes]) -> None:
        if codes != self.codes:
            self._write(["codes", _codes(codes)])

    # -- what it knows ------------------------------------------------------------------------------------------------

    def entries(self, event: int) -> dict[int, list[Stored]]:
        """Entries of an event in the present journal: number of the first record -> its records, the newest last."""
        found: dict[int, list[Stored]] = {}
        roots: dict[int, int] = {}
        for record in self.records.values():
            if record.extra or record.moved or record.journal != self.journal or record.event != event:
                continue
            distance = unpack_body(record.body)["replaces"]
            root = roots.get(record.seq - distance, record.seq - distance)
            roots[record.seq] = root
            found.setdefault(root, []).append(record)
        return found

    def standing(self, event: int, round_: int, board: int) -> Stored | None:
        """The newest record of the entry that stands for a board; None if there is none, or it was erased."""
        found = None
        for records in self.entries(event).values():
            told = unpack_body(records[-1].body)
            if (told["round"], told["board"]) == (round_, board) and told["kind"] != RecordKind.ERASED:
                found = records[-1]
        return found

    def original(self, event: int, round_: int, board: int) -> Stored | None:
        """The record that a correction of that board can name: the first one of its entry, if it is near enough."""
        for root, records in self.entries(event).items():
            told = unpack_body(records[-1].body)
            if (told["round"], told["board"]) == (round_, board) and told["kind"] != RecordKind.ERASED:
                return records[0] if self.next_seq - root <= 255 and records[0].seq == root else None
        return None

    def event_parts(self, event: int) -> list[tuple[int, int, int]]:
        """(journal, first seq, event): which records belong to which event, and those to come to ``event``."""
        parts: list[tuple[int, int, int]] = []
        for record in self.records.values():
            part = (record.journal, record.event)
            if not record.moved and (not parts or (parts[-1][0], parts[-1][2]) != part):
                parts.append((record.journal, record.seq, record.event))
        if event and (not parts or (parts[-1][0], parts[-1][2]) != (self.journal, event)):
            parts.append((self.journal, self.next_seq, event))
        return parts[-PARTS:]


def _codes(codes: dict[int, bytes]) -> list[list[Any]]:
    return [[pair, codes[pair].hex()] for pair in sorted(codes)]
