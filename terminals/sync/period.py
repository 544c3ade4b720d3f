"""What of the session bears on results: locked tables, and the correction period of Law 79C.

The period runs from the moment that results are made available until they are final. The moment is kept as an event,
and so is the end; once the end is kept, a clock that goes wrong changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from firmware_bridge.db import Connection
from firmware_bridge.errors import EntryError
from terminals.store import desk
from terminals.store.desk import DeskEvent
from terminals.sync.setup import EventSetup

PUBLISHED, FINAL, REOPENED = "published", "final", "reopened"


@dataclass(frozen=True, slots=True)
class Period:
    """published_at, ends_at: seconds since 1970 by this machine's clock, None before the publication."""

    published_at: float | None = None
    ends_at: float | None = None
    final: bool = False

    def due(self, now: float) -> bool:
        """The period is over and nobody has said so yet."""
        return self.ends_at is not None and not self.final and now >= self.ends_at


def period(connection: Connection, event: str) -> Period:
    """Where the event stands, from its desk events."""
    found = Period()
    for item in desk.desk_events(connection, event, PUBLISHED, FINAL, REOPENED):
        if item.kind == PUBLISHED:
            at = float(item.data["at"])
            found = Period(at, at + 60 * float(item.data["minutes"]), found.final)
        elif item.kind == FINAL:
            found = Period(found.published_at, found.ends_at, True)
        elif item.kind == REOPENED:
            found = Period()
    return found


def is_final(connection: Connection, event: str) -> bool:
    return period(connection, event).final


def publish(connection: Connection, setup: EventSetup, now: float, actor: str, wall: str = "") -> Period:
    """The results are available from now on. Publishing again before the end begins the period anew.

    Raises EntryError when they are final already.
    """
    event = desk.event_hex(setup.id)
    if is_final(connection, event):
        raise EntryError("the results are final already.", code="final-already")
    data = {"at": now, "minutes": setup.settings.correction_minutes}
    desk.append_desk(connection, event, DeskEvent(PUBLISHED, data, actor, wall))
    return period(connection, event)


def shift(connection: Connection, event: str, seconds: float, wall: str = "") -> None:
    """The clock was put forward or back by ``seconds``: a period that runs lasts as long as it would have."""
    found = period(connection, event)
    if not seconds or found.published_at is None or found.ends_at is None or found.final:
        return
    data = {"at": found.published_at + seconds, "minutes": (found.ends_at - found.published_at) / 60}
    desk.append_desk(connection, event, DeskEvent(PUBLISHED, data, "", wall))


def finish_when_due(connection: Connection, event: str, now: float, wall: str = "") -> bool:
    """Make the results final if the period is over; True when that happened just now."""
    if not period(connection, event).due(now):
        return False
    desk.append_desk(connection, event, DeskEvent(FINAL, {"at": now}, "", wall))
    return True


def locked_tables(connection: Connection, event: str) -> frozenset[tuple[str, int]]:
    """(section letter, table) of the tables that the director has locked."""
    locked: set[tuple[str, int]] = set()
    for item in desk.desk_events(connection, event, "lock", "unlock"):
        if item.kind == "lock":
            locked.add((str(item.data["section"]), int(item.data["table"])))
        elif item.kind == "unlock":
            locked.discard((str(item.data["section"]), int(item.data["table"])))
    return frozenset(locked)
