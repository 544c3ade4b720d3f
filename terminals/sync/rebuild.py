"""Work out the projection again from the events, and compare it with what is there (``db rebuild``, evidence)."""

from __future__ import annotations

from collections.abc import Iterable

from firmware_bridge.db import Connection
from terminals.store import desk, results
from terminals.store.values import PlayKey, PlayState, ResultEvent
from terminals.sync.projection import resolve


def states_of(events: Iterable[ResultEvent]) -> dict[PlayKey, PlayState]:
    """The state of every play that has events."""
    by_play: dict[PlayKey, list[ResultEvent]] = {}
    for event in events:
        by_play.setdefault(event.play, []).append(event)
    return {play: resolve(play, found) for play, found in sorted(by_play.items())}


def rebuild(connection: Connection, event: int) -> int:
    """Throw the projection of an event away and make it anew; gives how many plays changed by that (0 is right).

    Runs inside a transaction of the caller.
    """
    ident = desk.event_hex(event)
    before = {row.play: row for row in results.current(connection, ident)}
    results.clear_current(connection, ident)
    for state in states_of(results.all_events(connection, ident)).values():
        results.put_current(connection, ident, state)
    after = {row.play: row for row in results.current(connection, ident)}
    return sum(before.get(play) != after.get(play) for play in {*before, *after})
