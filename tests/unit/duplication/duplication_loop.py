"""An event loop whose clock jumps to the next deadline: hours of waiting for an operator pass in no time."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        found = super().select(0)
        if found:
            return found
        if timeout is None:
            raise RuntimeError("nothing will ever happen: the job waits for an event that nobody sends")
        self.now += max(0.0, timeout)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now


class LoopClock:
    """The clock of the running loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def monotonic(self) -> float:
        return self._loop.time()

    def wall(self) -> datetime:
        return datetime(2026, 1, 1, 18, 0, tzinfo=UTC) + timedelta(seconds=self._loop.time())


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """As ``asyncio.run``, in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)
