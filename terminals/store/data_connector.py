"""What a scoring program set up through the Data Connector, what both sides know, and what waits for it. SQL only.

An *item* is something that the tables produced and the program has to be told; its id rises over all queues together
and is never given twice. A *mark* is how far a queue (event, session, kind) was delivered and accepted. A *state* is
the last thing both sides know under a key, whoever told it: what equals it is no news. Bodies are JSON texts exactly
as they travel; nothing here reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from firmware_bridge.db import Connection

READER = "data-connector/"
"""Name of the outbox reader of one event, followed by the event."""
MAX_ID = (1 << 63) - 1
CLEARED, OWN = 1, 2
"""What ``cleared`` of an item says: the program wanted its queues empty; it told this itself, so that only polls for
everything give it; 0 for all others."""
_REWRITTEN = ("", "", "rewritten", "")


@dataclass(frozen=True, slots=True)
class ProgramEvent:
    """An event of a scoring program. event: our id, 16 hexadecimal digits. guid: the program's. digest: of the message
    that began it. version: rises with every change of ``data``, which is JSON of the structure that was sent."""

    event: str
    guid: str
    club: str
    digest: str
    version: int
    data: str


@dataclass(frozen=True, slots=True)
class Item:
    id: int
    body: str


@dataclass(frozen=True, slots=True)
class Mark:
    """Highest id that was delivered, and highest that was accepted; 0 none."""

    delivered: int = 0
    accepted: int = 0


# --- events ------------------------------------------------------------------------------------------------------


def begin_event(connection: Connection, row: ProgramEvent, sessions: Iterable[str]) -> None:
    """Add an event; an older one of the same guid stays, but is not the newest any more."""
    connection.execute("UPDATE program_event SET newest = 0 WHERE guid = ? AND newest = 1", (row.guid,))
    connection.execute(
        "INSERT INTO program_event (event, guid, club, digest, newest, version, data) VALUES (?, ?, ?, ?, 1, ?, ?)",
        (row.event, row.guid, row.club, row.digest, row.version, row.data),
    )
    name_sessions(connection, row.event, sessions)


def name_sessions(connection: Connection, event: str, sessions: Iterable[str]) -> None:
    """These session guids mean this event from now on."""
    for guid in sessions:
        connection.execute("INSERT OR REPLACE INTO program_session (guid, event) VALUES (?, ?)", (guid, event))


def change_event(connection: Connection, event: str, data: str, digest: str | None = None) -> None:
    connection.execute(
        "UPDATE program_event SET data = ?, version = version + 1, digest = COALESCE(?, digest) WHERE event = ?",
        (data, digest, event),
    )


def event_by_guid(connection: Connection, guid: str) -> ProgramEvent | None:
    """The newest event with this guid."""
    row = connection.execute(
        "SELECT event, guid, club, digest, version, data FROM program_event WHERE guid = ? AND newest = 1", (guid,)
    ).fetchone()
    return None if row is None else ProgramEvent(*row)


def event_by_id(connection: Connection, event: str) -> ProgramEvent | None:
    row = connection.execute(
        "SELECT event, guid, club, digest, version, data FROM program_event WHERE event = ?", (event,)
    ).fetchone()
    return None if row is None else ProgramEvent(*row)


def version_of(connection: Connection, event: str) -> int:
    """The version of an event's data, 0 when no program set it up."""
    row = connection.execute("SELECT version FROM program_event WHERE event = ?", (event,)).fetchone()
    return 0 if row is None else int(row[0])


def generations(connection: Connection, guid: str) -> int:
    """How many events there were with this guid."""
    return int(connection.execute("SELECT COUNT(*) FROM program_event WHERE guid = ?", (guid,)).fetchone()[0])


def event_of_session(connection: Connection, guid: str) -> str | None:
    row = connection.execute("SELECT event FROM program_session WHERE guid = ?", (guid,)).fetchone()
    return None if row is None else str(row[0])


def club_events(connection: Connection, club: str) -> list[ProgramEvent]:
    """Events that are the newest of their guid, of one club."""
    rows = connection.execute(
        "SELECT event, guid, club, digest, version, data FROM program_event WHERE club = ? AND newest = 1"
        " ORDER BY event",
        (club,),
    ).fetchall()
    return [ProgramEvent(*row) for row in rows]


# --- what both sides know ----------------------------------------------------------------------------------------


def put_state(connection: Connection, event: str, session: str, kind: str, key: str, body: str) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO program_state (event, session, kind, key, body) VALUES (?, ?, ?, ?, ?)",
        (event, session, kind, key, body),
    )


def drop_state(connection: Connection, event: str, session: str, kind: str, key: str) -> None:
    connection.execute(
        "DELETE FROM program_state WHERE event = ? AND session = ? AND kind = ? AND key = ?",
        (event, session, kind, key),
    )


def state(connection: Connection, event: str, session: str, kind: str, key: str) -> str | None:
    row = connection.execute(
        "SELECT body FROM program_state WHERE event = ? AND session = ? AND kind = ? AND key = ?",
        (event, session, kind, key),
    ).fetchone()
    return None if row is None else str(row[0])


def states(connection: Connection, event: str, session: str, kind: str) -> dict[str, str]:
    """key -> body, of one kind."""
    rows = connection.execute(
        "SELECT key, body FROM program_state WHERE event = ? AND session = ? AND kind = ? ORDER BY key",
        (event, session, kind),
    ).fetchall()
    return {str(key): str(body) for key, body in rows}


# --- queues ------------------------------------------------------------------------------------------------------


def add_item(
    connection: Connection, event: str, session: str, kind: str, key: str, body: str, cleared: int = 0
) -> None:
    """One more thing for the program, and from now on the last state of its key. cleared: OWN for its own words."""
    connection.execute(
        "INSERT INTO program_item (event, session, kind, key, body, cleared) VALUES (?, ?, ?, ?, ?, ?)",
        (event, session, kind, key, body, cleared),
    )
    put_state(connection, event, session, kind, key, body)


def keys(connection: Connection, event: str, session: str, kind: str) -> dict[str, bool]:
    """Keys of a queue's items, and whether the program will be told one of that key (again) by polls for news."""
    rows = connection.execute(
        "SELECT key, MAX(cleared = 0 AND id > ?) FROM program_item WHERE event = ? AND session = ? AND kind = ?"
        " GROUP BY key",
        (mark(connection, event, session, kind).accepted, event, session, kind),
    ).fetchall()
    return {str(key): bool(waits) for key, waits in rows}


def put_own(
    connection: Connection, event: str, session: str, kind: str, key: str, body: str, known: Mapping[str, bool]
) -> None:
    """What the program itself told. It is no news to it, but it comes behind older news of the same key wherever that
    is told, so that the last that the program hears of a key is what stands. known: see ``keys``."""
    if key in known and state(connection, event, session, kind, key) != body:
        add_item(connection, event, session, kind, key, body, 0 if known[key] else OWN)
    else:
        put_state(connection, event, session, kind, key, body)


def items(
    connection: Connection,
    event: str,
    session: str,
    kind: str,
    after: int = 0,
    upto: int = MAX_ID,
    limit: int = -1,
    own: bool = False,
) -> list[Item]:
    """Items of a queue that were not cleared, with an id above ``after`` and at most ``upto``, in order; the first
    ``limit`` of them, -1 for all. own: those too that the program itself told."""
    rows = []
    for cleared in (0, OWN) if own else (0,):
        rows += connection.execute(
            "SELECT id, body FROM program_item"
            " WHERE event = ? AND session = ? AND kind = ? AND cleared = ? AND id > ? AND id <= ? ORDER BY id LIMIT ?",
            (event, session, kind, cleared, after, upto, limit),
        ).fetchall()
    return [Item(*row) for row in sorted(rows)[: None if limit < 0 else limit]]


def newest(connection: Connection, event: str, session: str, kind: str) -> int:
    """The highest id of a queue's items that were not cleared, 0 without any."""
    row = connection.execute(
        "SELECT MAX(id) FROM program_item WHERE event = ? AND session = ? AND kind = ? AND cleared IN (0, ?)",
        (event, session, kind, OWN),
    ).fetchone()
    return 0 if row is None or row[0] is None else int(row[0])


def rewritten(connection: Connection) -> int:
    """Rises whenever items that are there already are hidden, brought back or changed."""
    found = state(connection, *_REWRITTEN)
    return 0 if found is None else int(found)


def _rewrite(connection: Connection) -> None:
    put_state(connection, *_REWRITTEN, str(rewritten(connection) + 1))


def mark(connection: Connection, event: str, session: str, kind: str) -> Mark:
    row = connection.execute(
        "SELECT delivered, accepted FROM program_mark WHERE event = ? AND session = ? AND kind = ?",
        (event, session, kind),
    ).fetchone()
    return Mark() if row is None else Mark(*row)


def set_mark(connection: Connection, event: str, session: str, kind: str, value: Mark) -> None:
    """Move the marks of a queue forward; neither ever goes back."""
    connection.execute(
        "INSERT INTO program_mark (event, session, kind, delivered, accepted) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (event, session, kind) DO UPDATE SET delivered = MAX(delivered, excluded.delivered),"
        " accepted = MAX(accepted, excluded.accepted)",
        (event, session, kind, value.delivered, value.accepted),
    )


def clear_queues(connection: Connection, club: str) -> int:
    """Hide what was delivered to a club's programs; gives how many items that were.

    What no program has seen yet stays, and ``restore_queues`` brings the rest back.
    """
    where = (
        f" WHERE cleared IN (0, {OWN}) AND event IN (SELECT event FROM program_event WHERE club = ?)"
        " AND id <= (SELECT delivered FROM program_mark AS m WHERE m.event = program_item.event"
        " AND m.session = program_item.session AND m.kind = program_item.kind)"
    )
    count = int(connection.execute(f"SELECT COUNT(*) FROM program_item{where}", (club,)).fetchone()[0])
    connection.execute(f"UPDATE program_item SET cleared = cleared + {CLEARED}{where}", (club,))
    _rewrite(connection)
    return count


def restore_queues(connection: Connection, club: str) -> int:
    """Undo ``clear_queues``: the items are in the "all" queues again; gives how many."""
    where = (
        f" WHERE cleared IN ({CLEARED}, {OWN + CLEARED}) AND event IN (SELECT event FROM program_event WHERE club = ?)"
    )
    count = int(connection.execute(f"SELECT COUNT(*) FROM program_item{where}", (club,)).fetchone()[0])
    connection.execute(f"UPDATE program_item SET cleared = cleared - {CLEARED}{where}", (club,))
    _rewrite(connection)
    return count


def people_version(connection: Connection, event: str) -> int:
    """Rises with every change of a person of an event, 0 before the first."""
    row = connection.execute("SELECT MAX(version) FROM person_change WHERE event = ?", (event,)).fetchone()
    return 0 if row is None or row[0] is None else int(row[0])


def forget_later_seats(connection: Connection, event: str, section: str) -> None:
    """Nobody takes a seat of this section later than at the start any more (``terminals.sync.seats``)."""
    connection.execute("DELETE FROM person WHERE event = ? AND section = ? AND seat LIKE '%@%'", (event, section))


def all_events(connection: Connection) -> list[ProgramEvent]:
    """Every event that a program ever set up."""
    rows = connection.execute(
        "SELECT event, guid, club, digest, version, data FROM program_event ORDER BY event"
    ).fetchall()
    return [ProgramEvent(*row) for row in rows]


def erase_bodies(connection: Connection, bodies: Mapping[str, str]) -> int:
    """Replace texts that name a person (old body -> new body) wherever they are kept; gives how many places."""
    count = 0
    for old, new in bodies.items():
        for table in ("program_item", "program_state"):
            count += int(connection.execute(f"SELECT COUNT(*) FROM {table} WHERE body = ?", (old,)).fetchone()[0])
            connection.execute(f"UPDATE {table} SET body = ? WHERE body = ?", (new, old))
    _rewrite(connection)
    return count


def forget_key(connection: Connection, kind: str, key: str) -> None:
    """What is kept under a key that itself names a person: the state goes, items lose the key."""
    connection.execute("DELETE FROM program_state WHERE kind = ? AND key = ?", (kind, key))
    connection.execute("UPDATE program_item SET key = '-' WHERE kind = ? AND key = ?", (kind, key))


def bodies_with(connection: Connection, text: str) -> list[str]:
    """Bodies in which a text occurs, for ``erase_bodies``."""
    rows = connection.execute(
        "SELECT body FROM program_item WHERE instr(body, ?) > 0 UNION SELECT body FROM program_state"
        " WHERE instr(body, ?) > 0",
        (text, text),
    ).fetchall()
    return [str(row[0]) for row in rows]
