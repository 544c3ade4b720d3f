"""Virtual time for drivers that use threads: the clock stands still until every thread waits for the device.

The loop runs jobs for executors one at a time, at moments when it has nothing else to do, and hands data to a reading
thread at such moments only. So threads of the production driver run as they are, and yet everything happens in the same
order and at the same virtual time in every run.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import selectors
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from firmware_bridge.simulation.virtual_time import JumpingSelector
from hwsim.usb_bus import Gone, NothingCame, UsbDevice

T = TypeVar("T")

STUCK = 30.0
"""Real seconds after which a thread that neither works nor waits is a fault of ours."""


class VirtualUsb(UsbDevice):
    """A USB device whose far end is on the loop. to_device: called on the loop with what the host has written."""

    def __init__(self, clock: Callable[[], float], to_device: Callable[[bytes], None]) -> None:
        super().__init__()
        self.endpoints = True
        self._clock = clock
        self._to_device = to_device
        self._state = threading.Condition()
        self._reading = "nobody"  # or "works", "waits"
        self._deadline = 0.0
        self._coming = bytearray()
        self._granted = bytearray()
        self._expired = False
        self._mute = False
        self._written: deque[bytes] = deque()

    # -- on the loop --------------------------------------------------------------------------------------------------

    def feed(self, data: bytes) -> None:
        self._coming += data

    def unplug(self) -> None:
        self.plugged = False
        self._drop()

    def plug(self) -> None:
        self.plugged = True

    def host_dies(self) -> None:
        """The host's program is gone: what it still writes reaches nobody, and nothing reaches it."""
        self._mute = True
        self._drop()

    def _drop(self) -> None:
        self._coming.clear()
        self._granted.clear()
        self._written.clear()

    @property
    def _dead(self) -> bool:
        return self._mute or not self.plugged

    def turn(self) -> bool:
        """Pass on what is due at this moment, and wait until the reading thread waits again. False for nothing."""
        moved = self.deliver()
        with self._state:
            if self._reading == "waits" and (self._coming or self._expired or self._dead or self.stalls):
                self._granted += self._coming
                self._coming.clear()
                self._let_go()
                moved = True
        return moved

    def deliver(self) -> bool:
        """What the host has written goes on to the device."""
        moved = bool(self._written)
        while self._written:
            self._to_device(self._written.popleft())
        return moved

    def _let_go(self) -> None:
        """Wake the reading thread and wait until it has done what it does; the condition is held."""
        self._reading = "works"
        self._state.notify_all()
        if not self._state.wait_for(lambda: self._reading != "works", STUCK):
            raise RuntimeError("the reading thread does not come back")

    def wait_for_reader(self) -> None:
        """A host that has claimed the device is about to read."""
        with self._state:
            if self.claimed and not self._state.wait_for(lambda: self._reading != "nobody" or self._dead, STUCK):
                raise RuntimeError("the reading thread does not begin")

    def nudge(self) -> None:
        """Let a waiting reader look whether it is to stop."""
        with self._state:
            if self._reading == "waits":
                self._expired = True
                self._reading = "works"
                self._state.notify_all()

    def deadline(self) -> float | None:
        return self._deadline if self._reading == "waits" else None

    def expire(self) -> None:
        self._expired = True

    # -- in threads of the driver -------------------------------------------------------------------------------------

    def on_open(self) -> None:
        with self._state:
            self._mute = False
            self._drop()
            self._reading = "nobody"

    def on_close(self) -> None:
        with self._state:
            self._reading = "nobody"
            self._state.notify_all()

    def write(self, data: bytes) -> int:
        if self._dead:
            raise Gone
        self._written.append(data)
        return len(data)

    def read(self, size: int, timeout: float) -> bytes:
        with self._state:
            self._deadline = self._clock() + timeout
            self._reading = "waits"
            self._state.notify_all()
            self._state.wait_for(lambda: self._reading != "waits")
            if self._dead:
                self._reading = "nobody"
                self._state.notify_all()
                raise Gone
            if self._granted:
                data = bytes(self._granted[:size])
                del self._granted[:size]
                return data
            self._expired = False
            raise NothingCame


class _LockstepSelector(JumpingSelector):
    loop: LockstepLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        while True:
            if self.loop.settle(idle=timeout != 0):
                return self.ready()
            if timeout is None or timeout > 0:
                due = [when for device in self.loop.devices if (when := device.deadline()) is not None]
                first = min(due, default=None)
                if first is not None and (timeout is None or first < self.now + timeout):
                    passed = max(0.0, first - self.now)
                    self.now += passed
                    timeout = None if timeout is None else timeout - passed
                    for device in self.loop.devices:
                        if device.deadline() == first:
                            device.expire()
                    continue
            return super().select(timeout)


class LockstepLoop(asyncio.SelectorEventLoop):
    """``devices``: those whose reading threads keep step with it."""

    def __init__(self) -> None:
        self._stepping = _LockstepSelector()
        self._stepping.loop = self
        self.devices: list[VirtualUsb] = []
        self._jobs: deque[tuple[concurrent.futures.Executor, Callable[[], Any], asyncio.Future[Any]]] = deque()
        self._pool = concurrent.futures.ThreadPoolExecutor(2, "lockstep")
        super().__init__(self._stepping)

    def time(self) -> float:
        return self._stepping.now

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        future: asyncio.Future[Any] = self.create_future()
        self._jobs.append((executor or self._pool, functools.partial(func, *args), future))
        return future

    def settle(self, *, idle: bool) -> bool:
        """Everything that threads have to do at this moment; True when the loop has got something to do by it.

        idle: the loop has nothing else to do, so a reading thread that was begun must have come to its device.
        """
        if self._jobs:
            executor, job, future = self._jobs.popleft()
            self._finish(executor.submit(job), future)
            for device in self.devices:
                device.deliver()
            return True
        if idle:
            for device in self.devices:
                device.wait_for_reader()
        moved = False
        for device in self.devices:
            moved |= device.turn()
        return moved

    def _finish(self, running: concurrent.futures.Future[Any], future: asyncio.Future[Any]) -> None:
        for _ in range(int(STUCK / 0.01)):
            if concurrent.futures.wait([running], 0.01).done:
                break
            # It may wait for a reading thread to end, which looks for that only between two reads.
            for device in self.devices:
                device.nudge()
        if future.cancelled():
            return
        error = running.exception(STUCK)
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(running.result())

    def close(self) -> None:
        self._pool.shutdown(wait=False)
        super().close()


def run_lockstep(coroutine: Coroutine[Any, Any, T]) -> T:
    """As ``run_virtual``, for drivers with threads."""
    with asyncio.Runner(loop_factory=LockstepLoop) as runner:
        return runner.run(coroutine)
