"""What tables record beside results: auctions, play, hands, positions, acceptances. Append-only. SQL only.

``data`` is what the terminal sent (docs/protocol.md section 8); ``terminals.sync.recorded`` knows what it means.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from firmware_bridge.db import Connection
from terminals.store.values import PlayKey, RecordKey


class TableEventKind(StrEnum):
    AUCTION = "auction"
    PLAY = "play"
    HANDS = "hands"
    POSITIONS = "positions"
    ACCEPTED = "accepted"
    CODE = "code"
    SET_ASIDE = "set-aside"  # it makes no sense; data is the whole body


@dataclass(frozen=True, slots=True)
class TableEvent:
    """board is 0 when it is about none. confirmed: as in the record. number: given by the store."""

    kind: TableEventKind
    section: str
    board: int
    ns: int
    ew: int
    round: int
    table: int
    key: RecordKey
    confirmed: int = 0
    data: bytes = field(default=b"", repr=False)
    wall: str = ""
    number: int = 0

    @property
    def play(self) -> PlayKey:
        return PlayKey(self.section, self.board, self.ns, self.ew)


_COLUMNS = (
    "number, kind, section, board, ns, ew, round, place, device, journal, seq, confirmed, data, wall FROM table_event"
)


def append(connection: Connection, event: str, item: TableEvent) -> int:
    """Add an event; gives its number."""
    connection.execute(
        "INSERT INTO table_event (event, kind, section, board, ns, ew, round, place, device, journal, seq, confirmed,"
        " data, wall) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            event,
            item.kind.value,
            item.section,
            item.board,
            item.ns,
            item.ew,
            item.round,
            item.table,
            item.key.device_hex,
            item.key.journal,
            item.key.seq,
            item.confirmed,
            item.data,
            item.wall,
        ),
    )
    return int(connection.execute("SELECT last_insert_rowid()").fetchone()[0])


def of_board(connection: Connection, event: str, section: str, board: int, *kinds: TableEventKind) -> list[TableEvent]:
    """Of a board in a section, in the order of the store; of these kinds, or all."""
    marks = f" AND kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
    rows = connection.execute(
        f"SELECT {_COLUMNS} WHERE event = ? AND section = ? AND board = ?{marks} ORDER BY number",
        (event, section, board, *(kind.value for kind in kinds)),
    ).fetchall()
    return [_event(row) for row in rows]


def all_events(connection: Connection, event: str, *kinds: TableEventKind) -> Iterator[TableEvent]:
    """Of an event, in the order of the store; of these kinds, or all."""
    marks = f" AND kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
    rows = connection.execute(
        f"SELECT {_COLUMNS} WHERE event = ?{marks} ORDER BY number", (event, *(kind.value for kind in kinds))
    )
    for row in rows:
        yield _event(row)


def newest(connection: Connection, event: str, kind: TableEventKind) -> int:
    """Number of the newest one of a kind, 0 without any."""
    row = connection.execute(
        "SELECT MAX(number) FROM table_event WHERE event = ? AND kind = ?", (event, kind.value)
    ).fetchone()
    return 0 if row is None or row[0] is None else int(row[0])


def people_changed(connection: Connection, event: str, after: int) -> tuple[int, list[tuple[str, int]]]:
    """(newest version, (section letter, pair) of every name that changed after version ``after``)."""
    rows = connection.execute(
        "SELECT section, pair, version FROM person_change WHERE event = ? AND version > ? ORDER BY version",
        (event, after),
    ).fetchall()
    newest = max((int(row[2]) for row in rows), default=after)
    return newest, [(str(row[0]), int(row[1])) for row in rows]


def _event(row: Any) -> TableEvent:
    return TableEvent(
        number=row[0],
        kind=TableEventKind(row[1]),
        section=row[2],
        board=row[3],
        ns=row[4],
        ew=row[5],
        round=row[6],
        table=row[7],
        key=RecordKey(int(row[8], 16), row[9], row[10]),
        confirmed=row[11],
        data=bytes(row[12]),
        wall=row[13],
    )
