"""A ByteStream on top of any asyncio transport: what serial ports and TCP connections have in common.

Reading is pull: bytes wait in a bounded buffer, and when nobody fetches them the transport is told to stop reading, so
that the pressure reaches the device instead of the memory. The end of a connection has one name here, LinkLost,
whatever exception the library or the operating system chose for it.
"""

from __future__ import annotations

import asyncio
import logging

from firmware_bridge.errors import LinkLost

_LOG = logging.getLogger(__name__)

READ_HIGH_WATER = 64 * 1024
"""Bytes not yet fetched above which the transport stops reading."""

WRITE_HIGH_WATER = 8 * 1024
"""Bytes not yet sent above which ``write`` waits: at 115200 baud that is 0.7 s of line time."""

CLOSE_GRACE = 0.5
"""Seconds that ``close`` gives the operating system to take what was already written."""

RELEASE_GRACE = 2.0
"""Seconds that ``close`` waits for the library to report the port as released."""


def lost(name: str, cause: BaseException | None) -> LinkLost:
    """The one error for a connection that ended, with the system's own words for the technical reader."""
    if cause is None:
        detail = "The other end closed the connection."
    else:
        text = str(getattr(cause, "strerror", "") or cause).strip() or type(cause).__name__
        detail = f"The connection broke ({text.rstrip('.')})."
    return LinkLost(
        detail,
        where=name,
        next_step="Check the cable and that the device has power; it is tried again by itself.",
    )


class TransportStream(asyncio.Protocol):
    """The ByteStream. One reader and one writer at a time, all on the loop that made the transport."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._reading_paused = False
        self._closed = False
        self._lost: LinkLost | None = None
        self._readable: asyncio.Future[None] | None = None
        self._writable: asyncio.Future[None] | None = None
        self._released: asyncio.Future[None] | None = None
        self._opened = asyncio.Event()

    @property
    def name(self) -> str:
        return self._name

    async def opened(self) -> None:
        """Wait until the transport has introduced itself; some do so only at the next turn of the loop."""
        await self._opened.wait()

    async def read(self) -> bytes:
        """At least one byte. Raises LinkLost once everything that arrived before the loss has been fetched."""
        while not self._buffer:
            if self._lost is not None:
                raise self._lost
            if self._closed:
                raise lost(self._name, None)
            if self._readable is not None:
                raise RuntimeError("two readers on one port")
            self._readable = asyncio.get_running_loop().create_future()
            try:
                await self._readable
            finally:
                self._readable = None
        data = bytes(self._buffer)
        self._buffer.clear()
        self._resume_reading()
        return data

    async def write(self, data: bytes) -> None:
        transport = self._usable()
        transport.write(data)
        if self._lost is not None:
            raise self._lost
        await self._until_writable()

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._wake()
        transport = self._transport
        if transport is None or self._lost is not None:
            return
        self._released = asyncio.get_running_loop().create_future()
        # Not transport.close(): an orderly close waits for the last byte, which a dead line or a stuck flow control
        # never takes. What the operating system already has is still sent.
        if not transport.is_closing():
            if transport.get_write_buffer_size():
                await self._let_it_drain(transport)
            if not transport.is_closing():
                transport.abort()
        try:
            async with asyncio.timeout(RELEASE_GRACE):
                await self._released
        except TimeoutError:
            _LOG.warning("%s: the system has not released the port yet", self._name)

    # --- called by the transport ---------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=WRITE_HIGH_WATER)
        self._opened.set()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._readable is not None and not self._readable.done():
            self._readable.set_result(None)
        if len(self._buffer) >= READ_HIGH_WATER and not self._reading_paused and self._transport is not None:
            self._reading_paused = True
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: BaseException | None) -> None:
        if self._lost is None:
            self._lost = lost(self._name, exc)
        self._transport = None
        self._wake()
        if self._released is not None and not self._released.done():
            self._released.set_result(None)

    def pause_writing(self) -> None:
        if self._writable is None:
            self._writable = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        if self._writable is not None:
            if not self._writable.done():
                self._writable.set_result(None)
            self._writable = None

    # --- helpers -------------------------------------------------------------------------------------------------

    def _usable(self) -> asyncio.Transport:
        if self._lost is not None:
            raise self._lost
        if self._closed or self._transport is None or self._transport.is_closing():
            raise lost(self._name, None)
        return self._transport

    async def _until_writable(self) -> None:
        waiting = self._writable
        if waiting is not None:
            await asyncio.shield(waiting)
            if self._lost is not None:
                raise self._lost

    async def _let_it_drain(self, transport: asyncio.Transport) -> None:
        transport.set_write_buffer_limits(high=0)
        if transport.get_write_buffer_size() and self._writable is None:
            self.pause_writing()
        try:
            async with asyncio.timeout(CLOSE_GRACE):
                await self._until_writable()
        except (TimeoutError, LinkLost):
            pass

    def _resume_reading(self) -> None:
        if self._reading_paused and self._transport is not None:
            self._reading_paused = False
            self._transport.resume_reading()

    def _wake(self) -> None:
        if self._readable is not None and not self._readable.done():
            self._readable.set_result(None)
        self.resume_writing()
