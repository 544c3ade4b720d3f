"""Events, devices, people, and what happens at the desk beside results. SQL only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from firmware_bridge.db import Connection
from firmware_bridge.errors import StoreError
from terminals.store.values import device_hex


class DeviceState(StrEnum):
    WAITING = "waiting"
    ADMITTED = "admitted"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Device:
    """A terminal that has shown itself. section, table: 0 when it is at no table. key: b"" when it has none."""

    id: int
    state: DeviceState
    section: int = 0
    table: int = 0
    key: bytes = b""
    model: str = ""
    firmware: str = ""
    note: str = ""

    def __repr__(self) -> str:
        # The key is a secret: it must not reach a log through somebody's f-string.
        return f"Device({device_hex(self.id)}, {self.state}, section={self.section}, table={self.table})"


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event as it is stored; ``setup`` is JSON of ``terminals.sync.setup``."""

    id: int
    name: str
    setup: str
    plan_version: int
    created: str


@dataclass(frozen=True, slots=True)
class DeskEvent:
    """Something of the whole session: a call, a publication, a locked table, a message. data: plain JSON values."""

    kind: str
    data: Mapping[str, Any]
    actor: str = ""
    wall: str = ""
    number: int = 0


def event_hex(event: int) -> str:
    """An event id as files and the database see it: 16 hexadecimal digits."""
    return device_hex(event)


def save_event(connection: Connection, row: EventRow, *, activate: bool = True) -> None:
    """Add or change an event; with ``activate`` it becomes the one that terminals play.

    When another event was active before, every admitted terminal waits to be admitted anew.
    """
    ident = event_hex(row.id)
    if activate:
        before = connection.execute("SELECT id FROM event WHERE active = 1").fetchone()
        if before is not None and before[0] != ident:
            connection.execute("UPDATE device SET state = 'waiting', section = 0, place = 0 WHERE state = 'admitted'")
        connection.execute("UPDATE event SET active = 0 WHERE active = 1 AND id <> ?", (ident,))
    connection.execute(
        "INSERT INTO event (id, name, setup, plan_version, active, created) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET name = excluded.name, setup = excluded.setup,"
        " plan_version = excluded.plan_version, active = excluded.active",
        (ident, row.name, row.setup, row.plan_version, int(activate), row.created),
    )


def load_event(connection: Connection, event: int | None = None) -> EventRow | None:
    """One event, or the active one."""
    rows = connection.execute(
        "SELECT id, name, setup, plan_version, created FROM event WHERE (? IS NULL AND active = 1) OR id = ?",
        (None if event is None else "", "" if event is None else event_hex(event)),
    ).fetchall()
    if not rows:
        return None
    ident, name, setup, version, created = rows[0]
    return EventRow(int(ident, 16), name, setup, version, created)


def event_list(connection: Connection) -> list[tuple[int, str, bool]]:
    """(id, name, active) of every event, in the order in which they were begun: by what the desk did first in each,
    because clocks are not to be trusted."""
    rows = connection.execute(
        "SELECT e.id, e.name, e.active FROM event e LEFT JOIN"
        " (SELECT event, MIN(number) AS first FROM desk_event GROUP BY event) d ON d.event = e.id"
        " ORDER BY d.first, e.created, e.id"
    ).fetchall()
    return [(int(row[0], 16), row[1], bool(row[2])) for row in rows]


# --- devices -----------------------------------------------------------------------------------------------------


def save_device(connection: Connection, device: Device) -> None:
    """Add or change a device. Raises StoreError when another admitted terminal holds its table."""
    if device.state is DeviceState.ADMITTED and device.table:
        other = holder(connection, device.section, device.table)
        if other is not None and other != device.id:
            raise StoreError(
                f"another terminal ({device_hex(other)}) is at this table.",
                where=f"section {device.section}, table {device.table}",
                next_step="Replace that terminal first.",
                code="table-taken",
            )
    connection.execute(
        "INSERT INTO device (id, state, section, place, key, model, firmware, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET state = excluded.state, section = excluded.section, place = excluded.place,"
        " key = excluded.key, model = excluded.model, firmware = excluded.firmware, note = excluded.note",
        (
            device_hex(device.id),
            device.state.value,
            device.section,
            device.table,
            device.key or None,
            device.model,
            device.firmware,
            device.note,
        ),
    )
    if device.state is DeviceState.ADMITTED:
        connection.execute(
            "INSERT OR IGNORE INTO admission (device, event) SELECT ?, id FROM event WHERE active = 1",
            (device_hex(device.id),),
        )


def was_admitted(connection: Connection, device: int, event: str) -> bool:
    """True when a terminal was admitted to this event at some time."""
    row = connection.execute(
        "SELECT 1 FROM admission WHERE device = ? AND event = ?", (device_hex(device), event)
    ).fetchone()
    return row is not None


def first_wall(connection: Connection, event: str) -> str:
    """The time of day of the first that happened in an event, as text for people; "" when nothing did."""
    row = connection.execute(
        "SELECT wall FROM (SELECT wall FROM desk_event WHERE event = ? AND wall <> '' ORDER BY number LIMIT 1)"
        " UNION ALL"
        " SELECT wall FROM (SELECT wall FROM result_event WHERE event = ? AND wall <> '' ORDER BY number LIMIT 1)",
        (event, event),
    ).fetchone()
    return "" if row is None else str(row[0])


def holder(connection: Connection, section: int, table: int) -> int | None:
    """The admitted terminal of a table."""
    row = connection.execute(
        "SELECT id FROM device WHERE state = 'admitted' AND section = ? AND place = ? AND place > 0", (section, table)
    ).fetchone()
    return None if row is None else int(row[0], 16)


def devices(connection: Connection) -> dict[int, Device]:
    """The roster."""
    rows = connection.execute("SELECT id, state, section, place, key, model, firmware, note FROM device").fetchall()
    found = [
        Device(int(ident, 16), DeviceState(state), section, table, bytes(key or b""), model, firmware, note)
        for ident, state, section, table, key, model, firmware, note in rows
    ]
    return {device.id: device for device in found}


# --- the desk ----------------------------------------------------------------------------------------------------


def append_desk(connection: Connection, event: str, item: DeskEvent) -> int:
    """Add a desk event and its outbox row; gives its number."""
    connection.execute(
        "INSERT INTO desk_event (event, kind, data, actor, wall) VALUES (?, ?, ?, ?, ?)",
        (event, item.kind, json.dumps(dict(item.data), ensure_ascii=False), item.actor, item.wall),
    )
    number = int(connection.execute("SELECT last_insert_rowid()").fetchone()[0])
    connection.execute("INSERT INTO outbox (event, kind, subject) VALUES (?, 'desk', ?)", (event, number))
    return number


def newest_wall(connection: Connection) -> str:
    """The time of day of what was stored last, as text; "" when nothing was. For people: nothing is ordered by it."""
    rows = [
        *connection.execute("SELECT wall FROM desk_event ORDER BY number DESC LIMIT 20").fetchall(),
        *connection.execute("SELECT wall FROM result_event ORDER BY number DESC LIMIT 20").fetchall(),
    ]
    return max((str(wall) for (wall,) in rows), default="")


def desk_events(connection: Connection, event: str, *kinds: str, after: int = 0) -> list[DeskEvent]:
    """In order; of these kinds, or all."""
    wanted = f" AND kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
    rows = connection.execute(
        "SELECT number, kind, data, actor, wall FROM desk_event"
        f" WHERE event = ? AND number > ?{wanted} ORDER BY number",
        (event, after, *kinds),
    ).fetchall()
    return [DeskEvent(kind, json.loads(data), actor, wall, number) for number, kind, data, actor, wall in rows]


def last_number(connection: Connection) -> int:
    """The number of the newest desk event of any event, 0 before the first."""
    row = connection.execute("SELECT COALESCE(MAX(number), 0) FROM desk_event").fetchone()
    return 0 if row is None else int(row[0])


def probe(connection: Connection) -> None:
    """A write that changes nothing that matters: it tells whether the disk takes results again."""
    connection.execute("INSERT INTO probe (id, times) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET times = times + 1")


# --- people ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Person:
    """Who sits where; kept outside the ledger, so that a person can be erased without touching results."""

    section: str
    pair: int
    seat: str
    number: str = ""
    name: str = ""


def save_person(connection: Connection, event: str, person: Person) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO person (event, section, pair, seat, number, name) VALUES (?, ?, ?, ?, ?, ?)",
        (event, person.section, person.pair, person.seat, person.number, person.name),
    )


def people(connection: Connection, event: str) -> list[Person]:
    rows = connection.execute(
        "SELECT section, pair, seat, number, name FROM person WHERE event = ? ORDER BY section, pair, seat", (event,)
    ).fetchall()
    return [Person(*row) for row in rows]


def save_players(connection: Connection, players: Iterable[tuple[str, str, str]]) -> int:
    """Replace the club's list of players by (number, name, folded name); gives how many they are."""
    connection.execute("DELETE FROM player")
    count = 0
    for number, name, folded in players:
        connection.execute(
            "INSERT OR REPLACE INTO player (number, name, folded) VALUES (?, ?, ?)", (number, name, folded)
        )
        count += 1
    return count


def players_beginning(connection: Connection, words: Sequence[str], limit: int) -> list[tuple[str, str]]:
    """(number, name) of the club's players whose number begins with the only word, or whose folded name has every word
    at the start of one of its own. words: folded, letters and digits only."""
    if not words:
        return []
    if len(words) == 1 and words[0].isdigit():
        sql, values = "number LIKE ? ORDER BY LENGTH(number), number", [f"{words[0]}%"]
    else:
        sql = " AND ".join(["' ' || folded LIKE ?"] * len(words)) + " ORDER BY folded, number"
        values = [f"% {word}%" for word in words]
    rows = connection.execute(f"SELECT number, name FROM player WHERE {sql} LIMIT ?", (*values, limit)).fetchall()
    return [(str(number), str(name)) for number, name in rows]


def people_known(connection: Connection, limit: int = 5000) -> list[tuple[str, str]]:
    """(number, name) of everybody who ever sat in an event."""
    rows = connection.execute(
        "SELECT DISTINCT number, name FROM person WHERE name <> '' ORDER BY name, number LIMIT ?", (limit,)
    ).fetchall()
    return [(str(number), str(name)) for number, name in rows]


def places_of(connection: Connection, number: str, name: str) -> list[tuple[str, Person]]:
    """(event, place) of everybody with this number, or this name and no number, in any event; "" is nobody."""
    rows = connection.execute(
        "SELECT event, section, pair, seat, number, name FROM person"
        " WHERE (number = ? AND ? <> '') OR (name = ? AND ? <> '' AND number = '') ORDER BY event, section, pair, seat",
        (number, number, name, name),
    ).fetchall()
    return [(str(event), Person(*rest)) for event, *rest in rows]


def member(connection: Connection, number: str) -> str:
    """The name of a player on the club's list, "" when the number is not on it."""
    row = connection.execute("SELECT name FROM player WHERE number = ?", (number,)).fetchone()
    return "" if row is None else str(row[0])


def name_of_number(connection: Connection, number: str) -> str:
    """The name of a player's number, "" when nobody knows it."""
    row = connection.execute(
        "SELECT name FROM player WHERE number = ?"
        " UNION ALL SELECT name FROM person WHERE number = ? AND name <> '' LIMIT 1",
        (number, number),
    ).fetchone()
    return "" if row is None else str(row[0])


SHORTEST_NAME = 3
"""Letters; less may be a section or a seat."""
ERASED = "(erased)"
"""Stands in the desk's log where a name stood: who substituted for whom, what a message said."""


def erase_person(connection: Connection, number: str, name: str) -> int:
    """Take a person's name and number out of every event and of the desk's log; gives how many places that were.

    In the log the name is taken out where it was given, else in the events in which the number is known.
    """
    found = connection.execute(
        "SELECT event, name FROM person WHERE (number = ? AND ? <> '') OR (name = ? AND ? <> '')",
        (number, number, name, name),
    ).fetchall()
    connection.execute(
        "UPDATE person SET number = '', name = '' WHERE (number = ? AND ? <> '') OR (name = ? AND ? <> '')",
        (number, number, name, name),
    )
    connection.execute(
        "DELETE FROM player WHERE (number = ? AND ? <> '') OR (name = ? AND ? <> '')", (number, number, name, name)
    )
    known: list[tuple[str | None, str]] = [(str(event), str(called)) for event, called in found if called]
    return len(found) + _erase_from_log(connection, [*known, (None, name)] if name else known)


def _erase_from_log(connection: Connection, names: list[tuple[str | None, str]]) -> int:
    """names: in which event (None: in all) which name. The log is append-only for everything else."""
    words = [
        (where, re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE))
        for where, name in names
        if len(name) >= SHORTEST_NAME
    ]
    if not words:
        return 0
    changed = []
    for number, event, data in connection.execute("SELECT number, event, data FROM desk_event").fetchall():
        value = before = json.loads(data)
        for where, name in words:
            if where in (None, event):
                value = _without(value, name)
        if value != before:
            changed.append((json.dumps(value, ensure_ascii=False), number))
    if changed:
        (guard,) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'desk_event_no_update'").fetchone()
        connection.execute("DROP TRIGGER desk_event_no_update")
        for row in changed:
            connection.execute("UPDATE desk_event SET data = ? WHERE number = ?", row)
        connection.execute(guard)
    return len(changed)


def _without(value: Any, name: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return name.sub(ERASED, value)
    if isinstance(value, list):
        return [_without(one, name) for one in value]
    if isinstance(value, dict):
        return {key: _without(one, name) for key, one in value.items()}
    return value
