"""Which events are over, and since when: their tables' codes still deliver what waited on phones, for 30 days.

Kept in ``past-cards.json`` beside ``access.json``; there is no code in it. Without it, or when it can't be read, codes
of earlier events are worth nothing, as they were before this program kept it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firmware_bridge.errors import StoreError
from terminals.sync.setup import MAX_SECTIONS, MAX_TABLE, EventSetup

FILE_NAME = "past-cards.json"
LATE_S = 30 * 24 * 3600.0
"""Seconds after the end of an event for which what was keyed in during it is still taken."""
MAX_EVENTS = 40
"""Events remembered; a club has no more in 30 days, and the oldest goes first."""


@dataclass(slots=True)
class _Event:
    """tables: number of a section -> its last table. ended: seconds since the epoch, 0.0 while that is not known."""

    tables: dict[int, int]
    ended: float = 0.0


class PastCards:
    """now: seconds since the epoch, None while the computer's clock can't be right. write: stores a JSON value."""

    def __init__(self, now: Callable[[], float | None], write: Callable[[Any], None]) -> None:
        self._now = now
        self._write = write
        self._past: dict[int, _Event] = {}
        self._played: tuple[int, _Event] | None = None

    def read(self, path: Path) -> None:
        """Take over what was kept; a file that is missing or damaged says nothing."""
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            past = {int(name, 16): _event(one) for name, one in list(found["past"].items())[-MAX_EVENTS:]}
            played = None if found["played"] is None else (int(found["played"]["event"], 16), _event(found["played"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return
        self._past, self._played = past, played

    def begin(self, setup: EventSetup | None) -> bool:
        """This event is played from now on (None: no event); what was played before is over. True when that changes
        what is kept."""
        before, now = (self._played, dict(self._past)), self._now()
        if self._played is not None and (setup is None or setup.id != self._played[0]):
            ident, event = self._played
            self._past.pop(ident, None)
            self._past[ident] = _Event(event.tables, now or 0.0)
            self._played = None
        if setup is not None:
            self._past.pop(setup.id, None)
            last = {s.number: MAX_TABLE if s.movement is None else s.movement.tables for s in setup.sections}
            self._played = setup.id, _Event(last)
        for ident in [ident for ident, one in self._past.items() if now and one.ended and now - one.ended > LATE_S]:
            del self._past[ident]
        while len(self._past) > MAX_EVENTS:
            del self._past[next(iter(self._past))]
        changed = (self._played, self._past) != before
        if changed:
            self._save()
        return changed

    def takes(self, event: int) -> bool:
        """True while late records of this event are taken. While the clock can't be right nobody knows: see the desk's
        ``KnownClock.doubt``."""
        one, now = self._past.get(event), self._now()
        if one is None:
            return False
        if now is None:
            return True
        if not one.ended:
            one.ended = now  # it ended while the clock was wrong; from now on time is counted
            self._save()
        return now - one.ended <= LATE_S

    def tables(self) -> Iterator[tuple[int, int, int]]:
        """(event, section, table) of every event that is over."""
        for event, one in self._past.items():
            for section, last in one.tables.items():
                for table in range(1, last + 1):
                    yield event, section, table

    def _save(self) -> None:
        played = None if self._played is None else {"event": f"{self._played[0]:016x}", **_value(self._played[1])}
        past = {f"{ident:016x}": _value(one) for ident, one in self._past.items()}
        # On a full disk the event must still begin; what is not written is known until the service ends.
        with contextlib.suppress(StoreError):
            self._write({"played": played, "past": past})


def _event(found: Any) -> _Event:
    tables = {int(section): int(last) for section, last in found["tables"].items()}
    if any(not 1 <= one <= MAX_SECTIONS for one in tables) or any(not 0 <= one <= MAX_TABLE for one in tables.values()):
        raise ValueError("no such section or table")
    return _Event(tables, float(found["ended"]))


def _value(one: _Event) -> dict[str, Any]:
    return {"tables": {str(section): last for section, last in one.tables.items()}, "ended": one.ended}
