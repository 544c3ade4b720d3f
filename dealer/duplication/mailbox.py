"""The machine's events, one at a time, with a time limit; and how long the job has waited for them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from drivers.api import BoardConfirmed, DealingMachine, MachineEvent
from firmware_bridge.clock import Clock

LIMIT = 256
"""Events fetched ahead; beyond that they wait with the driver. A board makes about 60."""


class Mailbox:
    """Events of the machine in their order, mixed with confirmations from the host's own keyboard.

    One task fetches events for as long as the job lives, so that none can be lost between a time-out and the next
    wait. ``on_event`` hears every event before it is handed out, whoever asked for it.
    """

    def __init__(self, machine: DealingMachine, clock: Clock) -> None:
        self._machine = machine
        self._clock = clock
        self._ready: deque[MachineEvent] = deque()
        self._fetching: asyncio.Task[None] | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None
        self.waited_s = 0.0
        self.on_event: Callable[[MachineEvent], Awaitable[None]] | None = None

    def confirm(self, board: int, copy: int) -> None:
        """As if the key at the machine had been pressed."""
        self._ready.append(BoardConfirmed(board, copy))
        self._wake()

    def put_back(self, event: MachineEvent) -> None:
        """The next ``get`` returns this event again."""
        self._ready.appendleft(event)

    async def get(self, timeout: float | None) -> MachineEvent | None:
        """The next event, or None after ``timeout`` seconds without one. Raises what the machine's driver raises."""
        if not self._ready:
            began = self._clock.monotonic()
            await self._wait(timeout)
            self.waited_s += self._clock.monotonic() - began
        if not self._ready:
            return None
        event = self._ready.popleft()
        if self._room is not None and len(self._ready) < LIMIT // 2:
            self._room.set_result(None)
            self._room = None
        if self.on_event is not None:
            await self.on_event(event)
        return event

    def next_is(self, *kinds: type[MachineEvent]) -> bool:
        """An event of one of these kinds is here already and comes next."""
        return bool(self._ready) and isinstance(self._ready[0], kinds)

    def take_all(self) -> list[MachineEvent]:
        """What is here already and was not asked for; ``on_event`` has not heard it."""
        events = list(self._ready)
        self._ready.clear()
        return events

    async def _wait(self, timeout: float | None) -> None:
        if self._fetching is None:
            self._fetching = asyncio.create_task(self._fetch(), name="machine events")
        elif self._fetching.done():
            self._fetching.result()  # raises what ended it
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        alarm = loop.call_later(timeout, self._wake) if timeout is not None else None
        try:
            await self._waiter
        finally:
            self._waiter = None
            if alarm is not None:
                alarm.cancel()
        if not self._ready and self._fetching.done():
            self._fetching.result()

    async def _fetch(self) -> None:
        try:
            while True:
                self._ready.append(await self._machine.next_event())
                self._wake()
                if len(self._ready) >= LIMIT:
                    self._room = asyncio.get_running_loop().create_future()
                    await self._room
        finally:
            self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def close(self) -> None:
        """Fetch no more, and call nobody: whoever listens is let go of with the machine and its port."""
        self.on_event = None
        if self._fetching is not None:
            if self._fetching.done() and not self._fetching.cancelled():
                self._fetching.exception()  # seen: whoever still asks is told nothing more
            self._fetching.cancel()
            self._fetching = None
