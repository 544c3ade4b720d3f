"""The hub that carries many terminals, over any carrier. It routes and keeps nothing, and neither does this driver."""

from __future__ import annotations

from drivers.api import (
    StationConnected,
    StationDisconnected,
    StationEvent,
    StationIdentity,
    StationMessage,
    StreamOpener,
)
from drivers.event_queue import EventQueue
from drivers.host import SYSTEM_RANDOM, HostIdentity
from drivers.meeting import Meeting
from drivers.port_task import PortDown, PortEvent, PortMessage, PortTask, PortUp
from firmware_bridge.clock import Clock
from firmware_bridge.errors import LinkLost
from firmware_bridge.link.session import RandomBits
from firmware_bridge.wire.messages import Hello, Message
from firmware_bridge.wire.numbers import Role

EVENT_LIMIT = 1024
"""Events not yet fetched above which the port is no longer read. The terminals keep what is not acknowledged."""


class FramedBaseStation:
    """The BaseStation. All methods belong to one event loop; ``next_event`` has one caller at a time."""

    def __init__(
        self, opener: StreamOpener, host: HostIdentity, clock: Clock, *, rng: RandomBits = SYSTEM_RANDOM
    ) -> None:
        self._port = PortTask(opener, host, clock, role=Role.STATION, sink=self._take, rng=rng)
        self._events: EventQueue[StationEvent] = EventQueue(EVENT_LIMIT)
        self._identity: StationIdentity | None = None
        self._meeting: Meeting[StationIdentity] = Meeting(self._port)
        self._up = False

    @property
    def url(self) -> str:
        return self._port.url

    def statistics(self) -> dict[str, float]:
        """How the line behaves: link_drops, frames_sent, _received, _repeated, _damaged, round_trip in seconds."""
        return self._port.statistics()

    @property
    def identity(self) -> StationIdentity | None:
        return self._identity

    async def connect(self, timeout: float) -> StationIdentity:
        """Open and shake hands. Raises DeviceError, LinkLost or ProtocolMismatch, in words for people.

        After a failure it may be tried again. Does nothing if the station is connected.
        """
        if self._up and self._identity is not None:
            return self._identity
        return await self._meeting.wait(timeout)

    async def send(self, address: int, message: Message) -> None:
        """Hand a message to the link; waits while the link has too much to send. Raises LinkLost without a link."""
        await self._port.send(message, address)

    async def next_event(self) -> StationEvent:
        """The next event; raises LinkLost only after ``close``."""
        return await self._events.get()

    async def close(self) -> None:
        await self._port.close()
        self._events.close(LinkLost("The connection was closed.", where=self.url))

    async def _take(self, event: PortEvent) -> None:
        match event:
            case PortMessage(address=address, message=message):
                await self._events.put(StationMessage(address, message))
            case PortUp(hello=hello):
                await self._on_up(hello)
            case PortDown(error=error, final=final):
                if self._up:
                    self._up = False
                    await self._events.put(StationDisconnected(error.what))
                if final:
                    self._meeting.failed(error)

    async def _on_up(self, hello: Hello) -> None:
        before = self._identity
        self._identity = StationIdentity(hello.device_id, hello.model, hello.firmware, hello.boot_id)
        restarted = before is not None and (before.device_id, before.boot_id) != (hello.device_id, hello.boot_id)
        self._up = True
        await self._events.put(StationConnected(self._identity, restarted))
        self._meeting.met(self._identity)
