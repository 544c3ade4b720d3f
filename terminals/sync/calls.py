"""Which tables call the director, worked out from the events of the desk: called, coming, done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from firmware_bridge.db import Connection
from firmware_bridge.errors import EntryError
from firmware_bridge.wire.numbers import CallState
from terminals.store import desk
from terminals.store.desk import DeskEvent
from terminals.sync.setup import section_number

CALL = "call"  # from a terminal: section number, table, round, state
ANSWERED = "call-answered"  # from the desk: section letter, table, state
KINDS = (CALL, ANSWERED)


@dataclass(frozen=True, slots=True)
class TableCall:
    """The last word about one table. section: number, 1 is A. number: of the desk event that began the call, so calls
    are served in this order. wall: when, for people to read."""

    section: int
    table: int
    round: int
    state: CallState
    number: int = 0
    wall: str = ""

    @property
    def open(self) -> bool:
        return self.state in (CallState.CALLED, CallState.COMING)


def calls(items: Iterable[DeskEvent]) -> dict[tuple[int, int], TableCall]:
    """The state of every table that ever called, by section number and table; ``items`` in the order of the store."""
    found: dict[tuple[int, int], TableCall] = {}
    for item in items:
        told = told_by(item)
        if told is None:
            continue
        before = found.get((told.section, told.table))
        if before is not None and before.open and told.open:
            # Asked twice, or answered: it keeps its place in the queue.
            wanted = max(before.state, told.state)
            told = TableCall(told.section, told.table, before.round, wanted, before.number, before.wall)
        elif item.kind == ANSWERED and told.open and (before is None or not before.open):
            continue  # somebody comes to a table that has taken its call back
        found[told.section, told.table] = told
    return found


def call_list(connection: Connection, event: str) -> list[TableCall]:
    """Open calls of an event, the one that waits longest first."""
    found = calls(desk.desk_events(connection, event, *KINDS))
    return sorted((one for one in found.values() if one.open), key=lambda one: one.number)


def told_by(item: DeskEvent) -> TableCall | None:
    """What one event says; None for what is no call or can't be read."""
    data = item.data
    section = data.get("section")
    if isinstance(section, str):
        try:
            section = section_number(section)
        except EntryError:
            return None
    table, state = data.get("table"), data.get("state")
    if item.kind not in KINDS or not isinstance(section, int) or not isinstance(table, int):
        return None
    if state not in tuple(CallState):
        return None
    round_ = data.get("round")
    at = round_ if isinstance(round_, int) else 0
    return TableCall(section, table, at, CallState(state), item.number, item.wall)
