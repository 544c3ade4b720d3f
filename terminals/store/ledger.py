"""The ledger: every record that ever came, under its key, exactly once; conflicts and alarms beside it.

All functions work inside a transaction of the caller and give what is in it. SQL only; what a record means is
decided in ``terminals.sync``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from firmware_bridge.db import Connection
from terminals.store.values import RawRecord, RecordKey, RecordState, device_hex


@dataclass(frozen=True, slots=True)
class KeptRecord:
    """A record in the ledger. number: commit order among all records; reason: why it is in quarantine."""

    raw: RawRecord
    state: RecordState
    number: int
    event: str
    reason: str = ""


def body_of(connection: Connection, key: RecordKey) -> bytes | None:
    """The body that is stored under a key, None when the key is new."""
    row = connection.execute(
        "SELECT body FROM record WHERE device = ? AND journal = ? AND seq = ?",
        (key.device_hex, key.journal, key.seq),
    ).fetchone()
    return None if row is None else bytes(row[0])


def state_of(connection: Connection, key: RecordKey) -> tuple[RecordState, str] | None:
    """State and event of the record under a key, None when the key is new."""
    row = connection.execute(
        "SELECT state, event FROM record WHERE device = ? AND journal = ? AND seq = ?",
        (key.device_hex, key.journal, key.seq),
    ).fetchone()
    return None if row is None else (RecordState(row[0]), str(row[1]))


def insert(connection: Connection, raw: RawRecord, event: str, state: RecordState, reason: str = "") -> None:
    """Add a record. Its key must be new: the database refuses a second row under it."""
    connection.execute(
        "INSERT INTO record (device, journal, seq, body, crc, auth, event, state, reason)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            raw.key.device_hex,
            raw.key.journal,
            raw.key.seq,
            raw.body,
            raw.crc,
            raw.auth,
            event,
            state.value,
            reason,
        ),
    )


def insert_conflict(connection: Connection, raw: RawRecord, event: str) -> bool:
    """Keep a record whose key is taken by another body. False when exactly this one is already kept."""
    where = (raw.key.device_hex, raw.key.journal, raw.key.seq, raw.body)
    known = connection.execute(
        "SELECT 1 FROM conflict WHERE device = ? AND journal = ? AND seq = ? AND body = ?", where
    ).fetchone()
    if known is not None:
        return False
    connection.execute(
        "INSERT INTO conflict (device, journal, seq, body, crc, auth, event) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*where, raw.crc, raw.auth, event),
    )
    return True


def upto(connection: Connection, device: int, journal: int) -> int:
    """The highest sequence number up to which a journal has no gap (declared holes left aside); 0 when it is new."""
    row = connection.execute(
        "SELECT upto FROM journal WHERE device = ? AND journal = ?", (device_hex(device), journal)
    ).fetchone()
    return 0 if row is None else int(row[0])


def set_upto(connection: Connection, device: int, journal: int, value: int) -> None:
    connection.execute(
        "INSERT INTO journal (device, journal, upto) VALUES (?, ?, ?)"
        " ON CONFLICT (device, journal) DO UPDATE SET upto = excluded.upto",
        (device_hex(device), journal, value),
    )


def journals(connection: Connection) -> dict[tuple[int, int], int]:
    """(device, journal) -> upto, of all journals."""
    rows = connection.execute("SELECT device, journal, upto FROM journal").fetchall()
    return {(int(device, 16), journal): high for device, journal, high in rows}


def boundaries(connection: Connection, device: int, journal: int) -> list[tuple[int, str]]:
    """(first seq, event) of a journal, ascending: which of its records belong to which event."""
    rows = connection.execute(
        "SELECT first, event FROM journal_event WHERE device = ? AND journal = ? ORDER BY first",
        (device_hex(device), journal),
    ).fetchall()
    return [(int(row[0]), str(row[1])) for row in rows]


def events_of(connection: Connection, device: int, journal: int) -> set[str]:
    """The events to which stored records of a journal belong."""
    rows = connection.execute(
        "SELECT DISTINCT event FROM record WHERE device = ? AND journal = ?", (device_hex(device), journal)
    ).fetchall()
    return {str(event) for (event,) in rows}


def begin_in(connection: Connection, device: int, journal: int, event: str, next_seq: int) -> None:
    """A terminal plays an event from now on: what it keys in from ``next_seq`` on belongs there.

    What a journal that is new to the store holds already belongs there too. Saying the event again that a journal
    plays already changes nothing. A boundary at or behind ``next_seq`` gives way: no record belongs to it.
    """
    known = boundaries(connection, device, journal)
    if known and known[-1][1] == event:
        return
    first = next_seq
    if not known:
        before = connection.execute(
            "SELECT event FROM record WHERE device = ? AND journal = ? ORDER BY seq DESC LIMIT 1",
            (device_hex(device), journal),
        ).fetchone()
        if before is None or before[0] == event:
            first = 1
        else:
            _add_boundary(connection, device, journal, 1, str(before[0]))
    connection.execute(
        "DELETE FROM journal_event WHERE device = ? AND journal = ? AND first >= ?",
        (device_hex(device), journal, first),
    )
    _add_boundary(connection, device, journal, first, event)


def set_boundaries(connection: Connection, device: int, journal: int, parts: Sequence[tuple[int, str]]) -> None:
    """The terminal itself says from which number on a journal belongs to which event; that counts from its first part
    on. Records that are stored already stay where they are."""
    known = boundaries(connection, device, journal)
    first = min(number for number, _ in parts)
    wanted: dict[int, str] = {}
    before = next((of for number, of in reversed(known) if number < first), None)
    for number, event in sorted(parts):
        if event != before:
            wanted[number] = event
        before = event
    if dict(item for item in known if item[0] >= first) == wanted:
        return
    connection.execute(
        "DELETE FROM journal_event WHERE device = ? AND journal = ? AND first >= ?",
        (device_hex(device), journal, first),
    )
    for number, event in wanted.items():
        _add_boundary(connection, device, journal, number, event)


def _add_boundary(connection: Connection, device: int, journal: int, first: int, event: str) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO journal_event (device, journal, first, event) VALUES (?, ?, ?, ?)",
        (device_hex(device), journal, first, event),
    )


def declare_hole(connection: Connection, device: int, journal: int, first: int, last: int) -> None:
    """Records ``first`` to ``last`` can't be had from the terminal any more; the journal goes on behind them."""
    connection.execute(
        "INSERT OR IGNORE INTO hole (device, journal, first, last) VALUES (?, ?, ?, ?)",
        (device_hex(device), journal, first, last),
    )
    set_upto(connection, device, journal, last)


def holes(connection: Connection, device: int | None = None) -> list[tuple[int, int, int, int]]:
    """(device, journal, first, last) of every declared hole."""
    rows = connection.execute(
        "SELECT device, journal, first, last FROM hole WHERE ? IS NULL OR device = ? ORDER BY device, journal, first",
        (None if device is None else "", "" if device is None else device_hex(device)),
    ).fetchall()
    return [(int(row[0], 16), row[1], row[2], row[3]) for row in rows]


def records(connection: Connection, event: str | None = None) -> Iterator[KeptRecord]:
    """All records in commit order, conflicts last; of one event if given."""
    for state, table in ((None, "record"), (RecordState.CONFLICT, "conflict")):
        columns = "state, reason" if state is None else "'conflict', ''"
        rows = connection.execute(
            f"SELECT number, device, journal, seq, body, crc, auth, event, {columns} FROM {table}"
            " WHERE ? IS NULL OR event = ? ORDER BY number",
            (event, event),
        )
        for number, device, journal, seq, body, crc, auth, of_event, kind, reason in rows:
            raw = RawRecord(RecordKey(int(device, 16), journal, seq), bytes(body), crc, bytes(auth))
            yield KeptRecord(raw, RecordState(kind), number, of_event, reason)


def counts(connection: Connection, event: str | None = None) -> dict[str, int]:
    """How many records are stored, quarantined and in conflict."""
    out = {state.value: 0 for state in RecordState}
    rows = connection.execute(
        "SELECT state, COUNT(*) FROM record WHERE ? IS NULL OR event = ? GROUP BY state", (event, event)
    ).fetchall()
    out.update(dict(rows))
    out[RecordState.CONFLICT.value] = int(
        connection.execute("SELECT COUNT(*) FROM conflict WHERE ? IS NULL OR event = ?", (event, event)).fetchone()[0]
    )
    return out


# --- alarms ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that the director must know. subject: what it is about; times: how often; seen: he has looked."""

    kind: str
    subject: str
    text: str
    times: int
    seen: bool


def raise_alarm(connection: Connection, kind: str, subject: str, text: str) -> None:
    """A new alarm, or one more time of a known one, which then wants to be seen again."""
    connection.execute(
        "INSERT INTO alarm (kind, subject, text, times) VALUES (?, ?, ?, 1)"
        " ON CONFLICT (kind, subject) DO UPDATE SET times = times + 1, text = excluded.text, seen = 0",
        (kind, subject, text),
    )


def alarms(connection: Connection, *, unseen: bool = False) -> list[Alarm]:
    rows = connection.execute(
        "SELECT kind, subject, text, times, seen FROM alarm WHERE seen <= ? ORDER BY kind, subject", (int(not unseen),)
    ).fetchall()
    return [Alarm(kind, subject, text, times, bool(seen)) for kind, subject, text, times, seen in rows]


def mark_alarm_seen(connection: Connection, kind: str, subject: str) -> None:
    connection.execute("UPDATE alarm SET seen = 1 WHERE kind = ? AND subject = ?", (kind, subject))
