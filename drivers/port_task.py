"""One task owns one port: it moves bytes between a carrier and the link session, keeps time, and gets the link back.

A loss of the carrier is answered by opening it again, with pauses from 0.2 s to 5 s. A session that ends while the
carrier still stands is begun anew on the same carrier first: closing a serial port and opening it again starts many
home-built boards anew, in mid-board.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from drivers import port_words as words
from drivers.api import ByteStream, StreamOpener
from drivers.host import SYSTEM_RANDOM, HostIdentity
from drivers.port_log import PortLog
from drivers.stranger import SAMPLE, recognise_server, recognise_text
from firmware_bridge.clock import Clock
from firmware_bridge.errors import DeviceError, FirmwareBridgeError, LinkError, LinkLost
from firmware_bridge.link.events import (
    Established,
    LinkEvent,
    MessageReceived,
    MessageRejected,
    NoAnswer,
    PeerRestarted,
    SessionEnded,
    Unsupported,
)
from firmware_bridge.link.sender import QueueFull
from firmware_bridge.link.session import RandomBits, Session
from firmware_bridge.wire.messages import Hello, Message, Nak
from firmware_bridge.wire.numbers import Role

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 5.0
"""Seconds between two attempts to get a lost link back."""

LAST_WORDS = 1.0
"""Seconds that the reader may take to fetch what had arrived before the carrier broke."""

FAREWELL = 0.5
"""Seconds that saying goodbye may take."""

_LOG = logging.getLogger(__name__)


class PortState(StrEnum):
    CLOSED = "closed"
    OPENING = "opening"
    GREETING = "greeting"
    UP = "up"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class PortUp:
    """The session stands. A message can be sent."""

    hello: Hello


@dataclass(frozen=True, slots=True)
class PortDown:
    """There is no session any more, or an attempt to get one failed. final: the task has given up."""

    error: FirmwareBridgeError
    final: bool


@dataclass(frozen=True, slots=True)
class PortMessage:
    """A message of the device, or its NAK to one of ours."""

    address: int
    message: Message | Nak


PortEvent = PortUp | PortDown | PortMessage

Sink = Callable[[PortEvent], Awaitable[None]]


class _Over(Exception):
    """Ends a conversation; not shown to anybody."""

    def __init__(self, error: FirmwareBridgeError) -> None:
        super().__init__(error.what)
        self.error = error


@dataclass(frozen=True, slots=True)
class _Ending:
    """How a conversation ended. was_up: there was a session. carrier_broken: the carrier has to be opened again."""

    error: FirmwareBridgeError
    was_up: bool = False
    carrier_broken: bool = False


class PortTask:
    """Owns the port behind ``opener``. ``sink`` gets every event in order; while it waits, the port is not read.

    Before the first session any failure is final and ``start``'s caller hears of it; after that the task tries for
    ever. All methods belong to one event loop.
    """

    def __init__(
        self,
        opener: StreamOpener,
        host: HostIdentity,
        clock: Clock,
        *,
        role: Role,
        sink: Sink,
        rng: RandomBits = SYSTEM_RANDOM,
    ) -> None:
        self._opener = opener
        self._clock = clock
        self._sink = sink
        self._session = Session(host.hello(), role, rng, bytes_per_second=opener.bytes_per_second)
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._line = asyncio.Lock()
        self._state = PortState.CLOSED
        self._where = opener.url
        self._ever_up = False
        self._was_up = False
        self._sample = bytearray()
        self._given_up: FirmwareBridgeError | None = None
        self._log = PortLog()
        self.reconnects = 0

    @property
    def url(self) -> str:
        return self._opener.url

    @property
    def state(self) -> PortState:
        return self._state

    @property
    def session(self) -> Session:
        """For counters and round-trip times."""
        return self._session

    def statistics(self) -> dict[str, float]:
        """How the line behaves: for health reports. round_trip in seconds, 0 before the first measurement."""
        decoder = self._session.decoder_counters
        damaged = ("crc_errors", "cobs_errors", "overlong", "short", "reserved_flags")
        return {
            "link_drops": self.reconnects,
            "frames_sent": self._session.counters.sent,
            "frames_received": self._session.counters.received,
            "frames_repeated": self._session.retransmissions,
            "frames_damaged": sum(decoder[name] for name in damaged),
            "round_trip": self._session.round_trip or 0.0,
        }

    # --- what the owner asks -------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Open the port and begin to greet. Raises DeviceError if it does not open; does nothing if running."""
        if self._task is not None and not self._task.done():
            return
        self._ever_up = False
        self._state = PortState.OPENING
        try:
            stream = await self._open()
        except FirmwareBridgeError:
            self._state = PortState.CLOSED
            raise
        self._task = asyncio.create_task(self._supervise(stream), name=f"port {self.url}")

    def send_now(self, message: Message, address: int = 0) -> None:
        """Queue a message. Raises LinkLost without a session, QueueFull when too much waits already."""
        if self._state is not PortState.UP or not self._session.established:
            raise self.not_connected()
        self._session.send(message, address, self._clock.monotonic())
        self._wake.set()

    async def send(self, message: Message, address: int = 0) -> None:
        """Queue a message, after waiting for room in the queue. Raises LinkLost without a session."""
        # One sender at a time waits for room, the others in line behind it: they do not all try at every free place.
        async with self._line:
            while True:
                try:
                    self.send_now(message, address)
                    return
                except QueueFull:
                    await self.room()

    async def room(self) -> None:
        """Wait until messages may have left the queue, or there is no session any more."""
        self._room.clear()
        await self._room.wait()

    def give_up(self, error: FirmwareBridgeError) -> None:
        """End the present conversation as if the device had failed with ``error``."""
        self._given_up = error
        self._wake.set()

    def not_connected(self) -> LinkLost:
        return words.not_connected(self._where)

    def why_silent(self, seconds: float) -> FirmwareBridgeError:
        """Why there was no session within ``seconds``, from what was heard so far."""
        if self._state is PortState.OPENING:
            return words.never_opened(self._where, seconds)
        if self._state is PortState.UP:
            return words.not_introduced(self._where)
        return self._words(words.heard_of(self._session))

    def dump(self, why: str) -> None:
        """Write the last frames of this port, redacted, into the log."""
        self._log.dump(self._where, why, self._session.trace, self._clock.monotonic())

    async def close(self) -> None:
        """Say goodbye, release the port, leave no task behind."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        self._state = PortState.CLOSED
        self._room.set()

    # --- the task ------------------------------------------------------------------------------------------------

    async def _supervise(self, stream: ByteStream | None) -> None:
        pause = FIRST_PAUSE
        try:
            while True:
                if stream is None:
                    self._state = PortState.OPENING
                    try:
                        stream = await self._open()
                    except FirmwareBridgeError as error:
                        ending = _Ending(error)
                if stream is not None:
                    ending = await self._converse(stream)
                    if ending.was_up:
                        pause = FIRST_PAUSE
                    if ending.carrier_broken or not ending.was_up:
                        gone, stream = stream, None
                        await self._farewell(gone)
                final = not self._ever_up
                await self._report(ending.error, final)
                if final:
                    return
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
                self.reconnects += 1
        except Exception as error:
            _LOG.exception("%s: the driver failed", self._where)
            await self._report(
                DeviceError(
                    f"The driver itself failed ({type(error).__name__}).",
                    where=self._where,
                    next_step="Start the program again, and report this with its log file.",
                    code="driver-broken",
                ),
                final=True,
            )
        finally:
            if stream is not None:
                await self._farewell(stream)

    async def _open(self) -> ByteStream:
        try:
            stream = await self._opener()
        except FirmwareBridgeError:
            raise
        except Exception as error:
            # A carrier of somebody else's making may raise anything.
            raise DeviceError(
                f"The port did not open ({type(error).__name__}: {error}).",
                where=self.url,
                next_step="Check that the device is plugged in and switched on.",
                code="port-unusable",
            ) from error
        self._where = stream.name
        return stream

    async def _converse(self, stream: ByteStream) -> _Ending:
        """One session on one open carrier, to its end."""
        now = self._clock.monotonic()
        self._session.close(now)
        self._session.start(now)
        self._state = PortState.GREETING
        self._given_up = None
        self._sample.clear()
        self._was_up = False
        reader = asyncio.create_task(self._read(stream), name=f"read {self.url}")
        writer = asyncio.create_task(self._write(stream), name=f"write {self.url}")
        try:
            await asyncio.wait({reader, writer}, return_when=asyncio.FIRST_COMPLETED)
            if not reader.done() and isinstance(writer.exception(), LinkLost):
                # What arrived before the cable was pulled is still to be fetched; then the reader finds out too.
                await asyncio.wait({reader}, timeout=LAST_WORDS)
        finally:
            for task in (reader, writer):
                task.cancel()
            await asyncio.wait({reader, writer})
        return self._ending(reader, writer)

    def _ending(self, reader: asyncio.Task[None], writer: asyncio.Task[None]) -> _Ending:
        errors = [task.exception() for task in (reader, writer) if not task.cancelled()]
        for error in errors:
            if isinstance(error, _Over):
                return _Ending(error.error, was_up=self._was_up)
        for error in errors:
            if isinstance(error, FirmwareBridgeError):
                told = error if self._was_up else (recognise_text(bytes(self._sample), self._where) or error)
                return _Ending(told, was_up=self._was_up, carrier_broken=True)
        for error in errors:
            if error is not None:
                raise error
        raise RuntimeError("a port ended without a reason")

    async def _read(self, stream: ByteStream) -> None:
        session, clock = self._session, self._clock
        while True:
            data = await stream.read()
            if self._state is PortState.GREETING:
                self._look_at(data)
            events = session.receive(data, clock.monotonic())
            self._wake.set()
            self._room.set()
            for event in events:
                await self._on_event(event)

    async def _write(self, stream: ByteStream) -> None:
        session, clock, wake = self._session, self._clock, self._wake
        loop = asyncio.get_running_loop()
        while True:
            wake.clear()
            if self._given_up is not None:
                self._was_up = False
                raise _Over(self._given_up)
            now = clock.monotonic()
            for event in session.tick(now):
                await self._on_event(event)
            data = session.take_output(now)
            if data:
                await stream.write(data)
            deadline = session.next_deadline()
            if deadline is None:
                await wake.wait()
                continue
            alarm = loop.call_later(max(0.0, deadline - clock.monotonic()), wake.set)
            try:
                await wake.wait()
            finally:
                alarm.cancel()

    def _look_at(self, data: bytes) -> None:
        """A web or login server will never be a device: no need to wait for the time limit."""
        if len(self._sample) < SAMPLE:
            self._sample += data[: SAMPLE - len(self._sample)]
            stranger = recognise_server(bytes(self._sample), self._where)
            if stranger is not None:
                raise _Over(stranger)

    async def _on_event(self, event: LinkEvent) -> None:
        match event:
            case MessageReceived():
                await self._sink(PortMessage(event.address, event.message))
            case Established():
                self._state = PortState.UP
                self._was_up = self._ever_up = True
                self._log.connected(self._where, f"{event.peer.model} {event.peer.firmware}")
                await self._sink(PortUp(event.peer))
            case Unsupported():
                self._log.complain(self._where, f"the device does not take message {event.nak.kind:#04x}")
                await self._sink(PortMessage(event.address, event.nak))
            case MessageRejected():
                self._log.complain(self._where, f"message {event.kind:#04x} rejected", event.detail)
            case PeerRestarted():
                await self._report(
                    LinkLost("The device has started anew.", where=self._where, code="device-restarted"), final=False
                )
                self._state = PortState.GREETING
            case NoAnswer():
                raise _Over(self._words(event))
            case SessionEnded():
                raise _Over(event.error(self._where))

    def _words(self, event: NoAnswer) -> FirmwareBridgeError:
        return words.no_answer(event, bytes(self._sample), self._where)

    async def _report(self, error: FirmwareBridgeError, final: bool) -> None:
        lost_now = self._state is PortState.UP
        self._state = PortState.CLOSED if final else PortState.WAITING
        self._room.set()
        if lost_now:
            self.dump(error.what)
        self._log.lost(error, quiet=final)
        await self._sink(PortDown(error, final))

    async def _farewell(self, stream: ByteStream) -> None:
        now = self._clock.monotonic()
        self._session.close(now)
        data = self._session.take_output(now)
        try:
            if data:
                async with asyncio.timeout(FAREWELL):
                    await stream.write(data)
        except (LinkError, TimeoutError):
            # It is gone already, or takes nothing any more; it will notice the silence.
            pass
        finally:
            await stream.close()
