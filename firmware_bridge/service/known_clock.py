"""The computer's clock as far as it is known to be right: a Pi without a battery starts somewhere in the past.

Results are never ordered by it. The correction period (Law 79C), the clock of a round and the times that people read go
by it, so a clock that can't be right is asked about, once for each start, and may be put right for as long as the
program runs.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from firmware_bridge.clock import Clock, SystemClock

RELEASED = datetime(2026, 1, 1, tzinfo=UTC)
"""No evening with this program was before that."""
SLACK = timedelta(minutes=10)
"""Two computers that shared a data directory may differ by so much."""
JUMP = 60.0
"""Seconds by which a clock that runs does not move by itself."""


class KnownClock:
    """A clock that can be told the time. doubt: it can't be right, and nobody has said yet what time it is."""

    def __init__(self, inner: Clock) -> None:
        self._inner = inner
        self._offset = 0.0
        self._drift = self._now_drift()
        self.doubt = False

    def monotonic(self) -> float:
        return self._inner.monotonic()

    def wall(self) -> datetime:
        return self._inner.wall() + timedelta(seconds=self._offset)

    def look(self, newest: str) -> None:
        """Compare the clock with ``newest``, the time of day of what was stored last ("" when nothing was)."""
        now = self.wall()
        try:
            stored = datetime.fromisoformat(newest) if newest else RELEASED
        except ValueError:
            stored = RELEASED
        if stored.tzinfo is None:
            stored = stored.replace(tzinfo=UTC)
        self.doubt = now < max(RELEASED, stored - SLACK)

    def tell(self, now: datetime | None) -> float:
        """Somebody has looked at a clock: it is ``now``, or this one is right (None). Gives how far it moves."""
        self.doubt = False
        if now is None:
            return 0.0
        moved = (now - self.wall()).total_seconds()
        self._offset += moved
        return moved

    def jumped(self) -> float:
        """Seconds by which the computer's clock was put forward or back since the last look, as seen by who reads it.

        A clock that somebody told us keeps what was told; one that nobody doubted follows the computer's.
        """
        drift = self._now_drift()
        moved, self._drift = drift - self._drift, drift
        if abs(moved) < JUMP:
            return 0.0
        self.doubt = False  # whoever set the computer's clock has answered
        if self._offset:
            self._offset -= moved
            return 0.0
        return moved

    def _now_drift(self) -> float:
        wall = self._inner.wall().timestamp()
        if isinstance(self._inner, SystemClock) and hasattr(time, "CLOCK_BOOTTIME"):
            return wall - time.clock_gettime(time.CLOCK_BOOTTIME)  # it runs on while a laptop sleeps
        return wall - self._inner.monotonic()


def words(moment: datetime) -> str:
    """A moment as this computer's people write it."""
    return f"{moment.astimezone():%d.%m.%Y %H:%M}"
