"""Time as a value that is handed in, so that simulations can run in virtual time.

Two clocks are told apart on purpose. ``monotonic`` orders what this process does and drives every time-out.
``wall`` is for people to read; nothing is ever ordered by it, because a Pi without a battery starts in the past.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    def monotonic(self) -> float:
        """Seconds since an arbitrary start; never goes back."""
        ...

    def wall(self) -> datetime:
        """The time of day in UTC, as far as this machine knows it."""
        ...


class SystemClock:
    """The clocks of the operating system."""

    def monotonic(self) -> float:
        return time.monotonic()

    def wall(self) -> datetime:
        return datetime.now(UTC)


class ManualClock:
    """A clock that stands still until somebody moves it: virtual time for tests and soaks."""

    def __init__(self, start: float = 0.0, wall: datetime | None = None) -> None:
        self._now = start
        self._wall = wall or datetime(2026, 1, 1, 19, 0, tzinfo=UTC)
        self._wall_start = start

    def monotonic(self) -> float:
        return self._now

    def wall(self) -> datetime:
        return self._wall + timedelta(seconds=self._now - self._wall_start)

    def advance(self, seconds: float) -> None:
        """Move forward by ``seconds`` >= 0. Raises ValueError for a step back."""
        if seconds < 0:
            raise ValueError("a monotonic clock does not go back")
        self._now += seconds
