"""The machine's events, one at a time, with a time limit; and how long the job has waited for them."""

from __future__ import annotations

import asyncio
from collections import deque

from drivers.api import BoardConfirmed, DealingMachine, MachineEvent
from firmware_bridge.clock import Clock


class Mailbox:
    """Events of the machine in their order, mixed with confirmations from the host's own keyboard.

    A pending read of the machine is kept across time-outs instead of being cancelled, so that no event can be lost
    between two waits.
    """

    def __init__(self, machine: DealingMachine, clock: Clock) -> None:
        self._machine = machine
        self._clock = clock
        self._ready: deque[MachineEvent] = deque()
        self._pending: asyncio.Task[MachineEvent] | None = None
        self._woken = asyncio.Event()
        self.waited_s = 0.0

    def confirm(self, board: int, copy: int) -> None:
        """As if the key at the machine had been pressed."""
        self._ready.append(BoardConfirmed(board, copy))
        self._woken.set()

    def put_back(self, event: MachineEvent) -> None:
        """The next ``get`` returns this event again."""
        self._ready.appendleft(event)

    async def get(self, timeout: float | None) -> MachineEvent | None:
        """The next event, or None after ``timeout`` seconds without one."""
        if self._ready:
            return self._ready.popleft()
        began = self._clock.monotonic()
        try:
            return await self._wait(timeout)
        finally:
            self.waited_s += self._clock.monotonic() - began

    async def _wait(self, timeout: float | None) -> MachineEvent | None:
        if self._pending is None:
            self._pending = asyncio.ensure_future(self._machine.next_event())
        self._woken.clear()
        woken = asyncio.ensure_future(self._woken.wait())
        try:
            await asyncio.wait({self._pending, woken}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            woken.cancel()
        if self._pending.done():
            pending, self._pending = self._pending, None
            return pending.result()
        return self._ready.popleft() if self._ready else None

    def close(self) -> None:
        """Give up the pending read."""
        if self._pending is not None:
            self._pending.cancel()
            self._pending = None
