"""Result events and the current results that follow from them. SQL only; the rules are in ``terminals.sync``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from firmware_bridge.db import Connection
from terminals.result import BoardState
from terminals.store import content
from terminals.store.values import EventKind, PlayKey, PlayState, PlayStatus, RecordKey, ResultEvent

_COLUMNS = (
    "number, kind, section, board, ns, ew, play, content, round, place, device, journal, seq, root, confirmed,"
    " warnings, action, target, actor, second, note, wall"
)


@dataclass(frozen=True, slots=True)
class CurrentResult:
    """A row of the projection. claims: how many entries there are; number: of the last event of the play."""

    play: PlayKey
    content: BoardState | None
    status: PlayStatus
    attention: tuple[str, ...]
    warnings: tuple[str, ...]
    ruled: bool
    claims: int
    round: int
    table: int
    changes: int
    number: int


def append(connection: Connection, event: str, item: ResultEvent) -> int:
    """Add an event and its outbox row; gives its number. Events are never changed or removed."""
    key = item.key
    connection.execute(
        "INSERT INTO result_event (event, kind, section, board, ns, ew, play, content, round, place, device, journal,"
        " seq, root, confirmed, warnings, action, target, actor, second, note, wall)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            event,
            item.kind.value,
            item.play.section,
            item.play.board,
            item.play.ns,
            item.play.ew,
            item.play.play,
            content.dumps(item.content),
            item.round,
            item.table,
            None if key is None else key.device_hex,
            None if key is None else key.journal,
            None if key is None else key.seq,
            item.root,
            item.confirmed,
            _words(item.warnings),
            item.action,
            item.target,
            item.actor,
            item.second,
            item.note,
            item.wall,
        ),
    )
    number = int(connection.execute("SELECT last_insert_rowid()").fetchone()[0])
    connection.execute("INSERT INTO outbox (event, kind, subject) VALUES (?, 'result', ?)", (event, number))
    return number


def of_play(connection: Connection, event: str, play: PlayKey) -> list[ResultEvent]:
    """All events of a play, in order."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM result_event"
        " WHERE event = ? AND section = ? AND board = ? AND ns = ? AND ew = ? AND play = ? ORDER BY number",
        (event, play.section, play.board, play.ns, play.ew, play.play),
    ).fetchall()
    return [_event(row) for row in rows]


def of_entry(connection: Connection, event: str, device_hex: str, journal: int, root: int) -> ResultEvent | None:
    """The last event of the entry that began with record ``root``; it names the play at which the entry now is."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM result_event"
        " WHERE device = ? AND journal = ? AND root = ? AND event = ? AND kind <> 'left'"
        " ORDER BY seq DESC, number DESC LIMIT 1",
        (device_hex, journal, root, event),
    ).fetchone()
    return None if row is None else _event(row)


def of_record(connection: Connection, event: str, key: RecordKey) -> ResultEvent | None:
    """The event that a record made (not the LEFT of a correction that went to another play)."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM result_event"
        " WHERE device = ? AND journal = ? AND seq = ? AND event = ? AND kind <> 'left' ORDER BY number DESC LIMIT 1",
        (key.device_hex, key.journal, key.seq, event),
    ).fetchone()
    return None if row is None else _event(row)


def newest_before(connection: Connection, event: str, key: RecordKey, play: PlayKey) -> RecordKey | None:
    """The newest record before ``key`` in its journal that gave this play a result; if that journal has none (what
    waited was told again in a new one), the newest of its other journals."""
    row = connection.execute(
        "SELECT journal, seq FROM result_event WHERE device = ? AND (journal <> ? OR seq < ?) AND event = ?"
        " AND section = ? AND board = ? AND ns = ? AND ew = ? ORDER BY journal = ? DESC, number DESC LIMIT 1",
        (
            *(key.device_hex, key.journal, key.seq, event),
            *(play.section, play.board, play.ns, play.ew),
            key.journal,
        ),
    ).fetchone()
    return None if row is None else RecordKey(key.device, int(row[0]), int(row[1]))


def of_action(connection: Connection, event: str, action: str) -> list[ResultEvent]:
    """The events of one act of the director."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM result_event WHERE action = ? AND action <> '' AND event = ? ORDER BY number",
        (action, event),
    ).fetchall()
    return [_event(row) for row in rows]


def all_events(connection: Connection, event: str, after: int = 0) -> Iterator[ResultEvent]:
    """Every event with a number above ``after``, in order."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM result_event WHERE event = ? AND number > ? ORDER BY number", (event, after)
    )
    for row in rows:
        yield _event(row)


def put_current(connection: Connection, event: str, state: PlayState) -> None:
    """Write the projection's row of a play."""
    play = state.play
    connection.execute(
        "INSERT OR REPLACE INTO current_result (event, section, board, ns, ew, play, content, status, attention,"
        " warnings, ruled, claims, round, place, changes, number)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            event,
            play.section,
            play.board,
            play.ns,
            play.ew,
            play.play,
            content.dumps(state.content),
            state.status.value,
            _words(state.attention),
            _words(state.warnings),
            int(state.ruled),
            len(state.claims),
            state.round,
            state.table,
            state.changes,
            state.number,
        ),
    )


def clear_current(connection: Connection, event: str) -> None:
    connection.execute("DELETE FROM current_result WHERE event = ?", (event,))


def current(connection: Connection, event: str, play: PlayKey | None = None, *, after: int = 0) -> list[CurrentResult]:
    """The projection, in the order of plays; of one play if given. after: only what an event above it has changed."""
    sql = (
        "SELECT section, board, ns, ew, play, content, status, attention, warnings, ruled, claims, round, place,"
        " changes, number FROM current_result WHERE event = ?"
    )
    values: tuple[Any, ...] = (event,)
    if after:
        sql += " AND number > ?"
        values += (after,)
    if play is not None:
        sql += " AND section = ? AND board = ? AND ns = ? AND ew = ? AND play = ?"
        values += (play.section, play.board, play.ns, play.ew, play.play)
    return _current(connection, sql, values)


def of_table_and_board(connection: Connection, event: str, section: str, table: int, board: int) -> list[CurrentResult]:
    """The projection's rows of a section that were entered at this table, or are of this board."""
    sql = (
        "SELECT section, board, ns, ew, play, content, status, attention, warnings, ruled, claims, round, place,"
        " changes, number FROM current_result WHERE event = ? AND section = ? AND (place = ? OR board = ?)"
    )
    return _current(connection, sql, (event, section, table, board))


def of_board(connection: Connection, event: str, board: int, section: str | None = None) -> list[CurrentResult]:
    """The projection's rows of a board, in all sections or in one."""
    sql = (
        "SELECT section, board, ns, ew, play, content, status, attention, warnings, ruled, claims, round, place,"
        " changes, number FROM current_result WHERE event = ? AND board = ?"
    )
    if section is not None:
        return _current(connection, sql + " AND section = ?", (event, board, section))
    return _current(connection, sql, (event, board))


_STATUSES: Mapping[str, PlayStatus] = MappingProxyType({one.value: one for one in PlayStatus})


def _current(connection: Connection, sql: str, values: tuple[Any, ...]) -> list[CurrentResult]:
    rows = connection.execute(sql + " ORDER BY section, board, ns, ew, play", values).fetchall()
    return [
        CurrentResult(
            play=PlayKey(sys.intern(row[0]), row[1], row[2], row[3], row[4]),
            content=content.loads(row[5]),
            status=_STATUSES[row[6]],
            attention=_codes(row[7]),
            warnings=_codes(row[8]),
            ruled=bool(row[9]),
            claims=row[10],
            round=row[11],
            table=row[12],
            changes=row[13],
            number=row[14],
        )
        for row in rows
    ]


def last_number(connection: Connection) -> int:
    """Number of the newest event, 0 when there is none."""
    return int(connection.execute("SELECT COALESCE(MAX(number), 0) FROM result_event").fetchone()[0])


def _event(row: Any) -> ResultEvent:
    return ResultEvent(
        number=row[0],
        kind=EventKind(row[1]),
        play=PlayKey(row[2], row[3], row[4], row[5], row[6]),
        content=content.loads(row[7]),
        round=row[8],
        table=row[9],
        key=None if row[10] is None else RecordKey(int(row[10], 16), row[11], row[12]),
        root=row[13],
        confirmed=row[14],
        warnings=_codes(row[15]),
        action=row[16],
        target=row[17],
        actor=row[18],
        second=row[19],
        note=row[20],
        wall=row[21],
    )


@lru_cache(maxsize=1024)
def _words(codes: tuple[str, ...]) -> str:
    return json.dumps(codes) if codes else ""


@lru_cache(maxsize=1024)
def _codes(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text else ()


# --- outbox ------------------------------------------------------------------------------------------------------


def outbox_after(connection: Connection, event: str, after: int, limit: int = 500) -> list[tuple[int, str, int]]:
    """(number, kind, subject) of what happened after ``after``, oldest first: what others still have to be told."""
    rows = connection.execute(
        "SELECT number, kind, subject FROM outbox WHERE event = ? AND number > ? ORDER BY number LIMIT ?",
        (event, after, limit),
    ).fetchall()
    return [(row[0], row[1], row[2]) for row in rows]


def reader_position(connection: Connection, name: str) -> int:
    """How far a reader of the outbox has come; 0 when it never read."""
    row = connection.execute("SELECT upto FROM outbox_reader WHERE name = ?", (name,)).fetchone()
    return 0 if row is None else int(row[0])


def set_reader_position(connection: Connection, name: str, upto: int) -> None:
    connection.execute(
        "INSERT INTO outbox_reader (name, upto) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET upto = MAX(upto, excluded.upto)",
        (name, upto),
    )
