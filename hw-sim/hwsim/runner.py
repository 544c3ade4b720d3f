"""Runs one simulated device in real time behind an endpoint, until it is told to stop."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import threading
import time
from collections.abc import Callable

from hwsim.endpoints import Endpoint
from hwsim.line import Device, Line
from hwsim.numbers import ByeReason

INBOUND_LIMIT = 4096  # what an operating system holds for a serial port
STALL_LIMIT = 1.0
FLUSH_TIME = 0.3


class Runner:
    """``run`` returns after SIGTERM, SIGINT or ``stop``. ``clock`` is monotonic seconds."""

    def __init__(self, device: Device, endpoint: Endpoint, baud: int | None, clock: Callable[[], float]) -> None:
        self.line = Line(device, baud)
        self.device = device
        self.endpoint = endpoint
        self._clock = clock
        self._wake_in, self._wake_out = socket.socketpair()
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)
        self._stopping = False
        self._pending = bytearray()
        self._stalled_since: float | None = None
        self._plug_at: float | None = None

    def stop(self) -> None:
        """May be called from any thread and from a signal handler."""
        self._stopping = True
        try:
            self._wake_out.send(b"x")
        except OSError:
            pass

    def stop_on_signals(self) -> None:
        for name in ("SIGTERM", "SIGINT"):
            signal.signal(getattr(signal, name), lambda *_: self.stop())

    def stop_with_parent(self) -> None:
        """Stop when standard input ends, which happens when the parent process does."""

        def watch() -> None:
            # Not through sys.stdin: its lock, held by this thread, would abort the interpreter at its end.
            try:
                while os.read(0, 4096):
                    pass
            except OSError:
                pass
            self.stop()

        threading.Thread(target=watch, daemon=True, name="parent").start()

    def run(self) -> None:
        while not self._stopping:
            self._turn()
        now = self._clock()
        self.device.bye(ByeReason.STOP)
        end = now + FLUSH_TIME
        while (now := self._clock()) < end:
            self.line.advance(now)
            self._pending += self.line.to_host(now)
            self._write(now)
            if not self._pending and not self.line.outbound_held():
                break
            time.sleep(0.002)
        self.endpoint.close()
        self._wake_in.close()
        self._wake_out.close()

    def _turn(self) -> None:
        now = self._clock()
        self._plugging(now)
        self.line.advance(now)
        self._pending += self.line.to_host(now)
        self._write(now)
        self._plugging(now)
        deadline = self.line.next_deadline()
        times = [t for t in (deadline, self._plug_at) if t is not None]
        timeout = max(0.0, min(min(times, default=now + 1.0) - self._clock(), 1.0))
        take = self.line.inbound_held() < INBOUND_LIMIT
        ready = self._select(timeout, take)
        if self._wake_in.fileno() in ready:
            try:
                self._wake_in.recv(64)
            except OSError:
                pass
        data = self.endpoint.read(ready, take)
        now = self._clock()
        if data is None:
            self._pending.clear()
            self.line.device.line_down(now)
        elif data:
            self.line.from_host(data, now)

    def _select(self, timeout: float, take: bool) -> list[int]:
        # A fresh selector each time: the handful of descriptors changes with every plug and peer.
        with selectors.SelectSelector() as selector:
            selector.register(self._wake_in.fileno(), selectors.EVENT_READ)
            writable = set(self.endpoint.writable()) if self._pending else set()
            for fd in set(self.endpoint.readable()) | writable:
                # A device that takes no bytes must not be woken by them, but still by a second host.
                reading = take or fd not in self.endpoint.writable()
                events = selectors.EVENT_READ * reading | selectors.EVENT_WRITE * (fd in writable)
                if events:
                    selector.register(fd, events)
            return [key.fd for key, events in selector.select(timeout) if events & selectors.EVENT_READ]

    def _write(self, now: float) -> None:
        if not self._pending:
            self._stalled_since = None
            return
        count = self.endpoint.write(bytes(self._pending[:65536]))
        del self._pending[:count]
        if count:
            self._stalled_since = None
        elif self._stalled_since is None:
            self._stalled_since = now
        elif now - self._stalled_since >= STALL_LIMIT:
            # Nobody reads: bytes of a serial line are gone when the other side does not take them.
            self._pending.clear()
            self._stalled_since = None

    def _plugging(self, now: float) -> None:
        seconds = self.device.take_unplug()
        if seconds is not None:
            self._pending.clear()
            self.line.disconnect(now)
            self.endpoint.unplug()
            self._plug_at = now + seconds
        elif self._plug_at is not None and now >= self._plug_at:
            self._plug_at = None
            self.endpoint.plug()
            self.line.connect()
