"""An event loop whose clock jumps to the next deadline: an evening of waiting for people passes in no time.

Only for programs that wait for timers and for each other; nothing outside the process may be waited for.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

T = TypeVar("T")

_POLL_EVERY = 256
"""Turns between two looks at the operating system, so that Ctrl-C still gets through."""


class JumpingSelector(selectors.SelectSelector):
    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self._turns = 0

    def ready(self) -> list[tuple[selectors.SelectorKey, int]]:
        """What the operating system has to tell at this moment."""
        return super().select(0)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._turns += 1
        if timeout is None or self._turns % _POLL_EVERY == 0:
            found = super().select(0)
            if found:
                return found
            if timeout is None:
                raise RuntimeError("nothing will ever happen: everybody waits for somebody else")
        self.now += max(0.0, timeout)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """``time()`` starts at 0 and moves only when nothing is left to do at the present moment."""

    def __init__(self) -> None:
        self._jumping = JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


class LoopClock:
    """The clock of an event loop, as ``firmware_bridge.clock.Clock``."""

    def __init__(self, loop: asyncio.AbstractEventLoop, wall: datetime | None = None) -> None:
        self._loop = loop
        self._wall = wall or datetime(2026, 1, 1, 18, 0, tzinfo=UTC)

    def monotonic(self) -> float:
        return self._loop.time()

    def wall(self) -> datetime:
        return self._wall + timedelta(seconds=self._loop.time())


def run_virtual(coroutine: Coroutine[Any, Any, T]) -> T:
    """As ``asyncio.run``, in virtual time. Raises RuntimeError when nothing could ever happen any more."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)
