"""A bounded queue of events between one port and its owner: a full one makes the port wait, nothing is dropped."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, TypeVar

Event = TypeVar("Event")


class EventQueue(Generic[Event]):
    """First in, first out. ``put`` waits while there are ``limit`` events; ``close`` lets what is in be fetched."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._events: deque[Event] = deque()
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._end: Exception | None = None

    def __len__(self) -> int:
        return len(self._events)

    async def put(self, event: Event) -> None:
        while len(self._events) >= self._limit and self._end is None:
            self._room.clear()
            await self._room.wait()
        if self._end is None:
            self._events.append(event)
            self._changed.set()

    async def get(self) -> Event:
        """The oldest event; waits for one. Raises what ``close`` was given once the queue is closed and empty."""
        while not self._events:
            if self._end is not None:
                raise self._end
            self._changed.clear()
            await self._changed.wait()
        event = self._events.popleft()
        self._room.set()
        return event

    def close(self, end: Exception) -> None:
        if self._end is None:
            self._end = end
        self._changed.set()
        self._room.set()
