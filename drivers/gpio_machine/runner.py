"""Runs a home-built machine in its own process: bytes on standard input and output, or on a TCP port.

The loop never waits for the card reader (a thread calls it) nor for the host. A watchdog thread switches everything
off and ends the process when the loop itself stands still; the loop's own end, whatever the reason, does the same.
"""

from __future__ import annotations

import logging
import os
import queue
import selectors
import socket
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from drivers.api import CardRead, CardReader
from drivers.gpio_machine.device import HomeBuiltMachine
from drivers.gpio_pins import PinBank
from firmware_bridge.wire.messages import Display
from firmware_bridge.wire.numbers import Fault, MachineStateCode

_LOG = logging.getLogger(__name__)

LAST_CARD = 5.0
"""Seconds that a card in flight has to arrive after the host has gone."""

PENDING_LIMIT = 256 * 1024

WATCHDOG_STATUS = 70

Show = Callable[[int, int, int, int, str], None]
"""A display of the machine's own: action, board, copy, sound, text."""


class Line(Protocol):
    """Where the host's bytes come from."""

    ends_with_host: bool

    def files(self) -> tuple[int, ...]:
        """Descriptors to wait for."""
        ...

    def read(self) -> bytes | None:
        """What has come, b"" for nothing, None when the host has gone."""
        ...

    def write(self, data: bytes) -> int: ...

    def close(self) -> None: ...


class PipeLine:
    """Standard input and output of a child process; the machine ends with its host."""

    ends_with_host = True

    def __init__(self, source: int, target: int) -> None:
        self._source, self._target = source, target
        os.set_blocking(source, False)
        os.set_blocking(target, False)

    def files(self) -> tuple[int, ...]:
        return (self._source,)

    def read(self) -> bytes | None:
        try:
            return os.read(self._source, 4096) or None
        except (BlockingIOError, InterruptedError):
            return b""
        except OSError:
            return None

    def write(self, data: bytes) -> int:
        try:
            return os.write(self._target, data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            return len(data)

    def close(self) -> None:
        return


class TcpLine:
    """A port for one host at a time; the next one may come when the last has gone."""

    ends_with_host = False

    def __init__(self, host: str, port: int) -> None:
        self._listener = socket.create_server((host, port))
        self._listener.setblocking(False)
        self._peer: socket.socket | None = None
        self.address = self._listener.getsockname()[:2]

    def files(self) -> tuple[int, ...]:
        return (self._listener.fileno(), *((self._peer.fileno(),) if self._peer is not None else ()))

    def read(self) -> bytes | None:
        data: bytes | None = b""
        if self._peer is not None:
            try:
                data = self._peer.recv(4096) or None
            except (BlockingIOError, InterruptedError):
                data = b""
            except OSError:
                data = None
            if data is None:
                self._peer.close()
                self._peer = None
        try:
            peer, _ = self._listener.accept()
        except OSError:
            return data
        if self._peer is not None:
            peer.close()
        else:
            peer.setblocking(False)
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._peer = peer
        return data

    def write(self, data: bytes) -> int:
        if self._peer is None:
            return len(data)
        try:
            return self._peer.send(data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            return len(data)

    def close(self) -> None:
        for sock in (self._peer, self._listener):
            if sock is not None:
                sock.close()


class Runner:
    """``run`` returns after ``stop``, or when the host has gone and the line ends with it. Motors are off then."""

    def __init__(
        self,
        machine: HomeBuiltMachine,
        bank: PinBank,
        reader: CardReader,
        line: Line,
        clock: Callable[[], float],
        *,
        watchdog: float,
        edges: bool = True,
        show: Show | None = None,
        abandon: Callable[[int], None] = os._exit,
    ) -> None:
        self._machine = machine
        self._bank = bank
        self._reader = reader
        self._line = line
        self._clock = clock
        self._watchdog = watchdog
        self._edges = edges
        self._show = show
        self._abandon = abandon
        self._wake_in, self._wake_out = socket.socketpair()
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)
        self._stopping = threading.Event()
        self._asked: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[CardRead | Exception] = queue.SimpleQueue()
        self._reading = False
        self._pending = bytearray()
        self._alive_at = clock()
        self._host_gone_at: float | None = None

    def stop(self) -> None:
        """May be called from any thread and from a signal handler."""
        self._stopping.set()
        self._wake()

    def run(self) -> None:
        threads = [
            threading.Thread(target=self._read_cards, name="card reader", daemon=True),
            threading.Thread(target=self._watch, name="watchdog", daemon=True),
        ]
        for thread in threads:
            thread.start()
        if self._edges and not self._bank.watch(self._wake, self._clock):
            _LOG.warning("no edge detection on this computer: the pins are polled")
        try:
            while not self._stopping.is_set() and not self._host_is_gone():
                self._turn()
            self._machine.stop()
            self._pending += self._machine.take_output(self._clock())
            self._write()
        finally:
            self._stopping.set()
            self._asked.put(False)
            try:
                self._bank.release()
            finally:
                self._line.close()

    # --- the loop ------------------------------------------------------------------------------------------------

    def _turn(self) -> None:
        machine = self._machine
        now = self._alive_at = self._clock()
        machine.tick(now)
        self._card_reader(now)
        self._displays()
        self._pending += machine.take_output(now)
        self._write()
        timeout = min(max(0.0, machine.next_deadline() - self._clock()), self._watchdog / 3)
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_in, selectors.EVENT_READ)
            if self._host_gone_at is None:
                for descriptor in self._line.files():
                    selector.register(descriptor, selectors.EVENT_READ)
            ready = selector.select(timeout)
        if any(key.fileobj is self._wake_in for key, _ in ready):
            self._drain_wakes()
        if self._host_gone_at is None and any(key.fileobj is not self._wake_in for key, _ in ready):
            self._receive()

    def _receive(self) -> None:
        data = self._line.read()
        now = self._clock()
        if data:
            self._machine.receive(data, now)
        elif data is None:
            self._pending.clear()
            self._machine.line_down(now)
            if self._line.ends_with_host:
                self._host_gone_at = now

    def _host_is_gone(self) -> bool:
        """True once nobody is there any more and the card in flight has arrived."""
        if self._host_gone_at is None:
            return False
        late = self._clock() >= self._host_gone_at + LAST_CARD
        return late or self._machine.controller.state is not MachineStateCode.DEALING

    def _write(self) -> None:
        if self._pending:
            sent = self._line.write(bytes(self._pending[:4096]))
            del self._pending[:sent]
            if len(self._pending) > PENDING_LIMIT:
                # Nobody takes them; the link repeats what matters when somebody does.
                self._pending.clear()

    def _displays(self) -> None:
        while (shown := self._machine.next_display()) is not None:
            self._show_one(shown)

    def _show_one(self, shown: Display) -> None:
        if self._show is None:
            return
        try:
            self._show(shown.action, shown.board, shown.copy, shown.sound, shown.text)
        except Exception:
            # The builder's own display code; dealing does not depend on it.
            _LOG.exception("the display failed")
            self._show = None

    # --- the card reader, in its thread --------------------------------------------------------------------------

    def _card_reader(self, now: float) -> None:
        try:
            answer = self._answers.get_nowait()
        except queue.Empty:
            pass
        else:
            self._reading = False
            if isinstance(answer, Exception):
                # Its words could name the card that lies there.
                places = traceback.extract_tb(answer.__traceback__)
                where = f"{Path(places[-1].filename).name} line {places[-1].lineno}" if places else "the reader"
                _LOG.error("the card reader failed: %s in %s", type(answer).__name__, where)
                self._machine.controller.emergency(Fault.SENSOR)
            elif self._machine.wants_reading:
                self._machine.card_read(answer, now)
        if self._machine.wants_reading and not self._reading:
            self._reading = True
            self._asked.put(True)

    def _read_cards(self) -> None:
        while self._asked.get():
            try:
                self._answers.put(self._reader())
            except Exception as error:
                self._answers.put(error)
            self._wake()

    # --- waking and watching -------------------------------------------------------------------------------------

    def _wake(self) -> None:
        try:
            self._wake_out.send(b"x")
        except OSError:
            # Full: it is awake already. Closed: it has ended.
            return

    def _drain_wakes(self) -> None:
        try:
            while self._wake_in.recv(4096):
                pass
        except OSError:
            return

    def _watch(self) -> None:
        while not self._stopping.wait(self._watchdog / 4):
            if self._clock() - self._alive_at > self._watchdog:
                try:
                    self._bank.all_off()
                finally:
                    _LOG.critical("the machine's program stood still: everything is switched off")
                    self._abandon(WATCHDOG_STATUS)
                return
