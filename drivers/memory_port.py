"""Two ends of a line inside one process: for simulation in virtual time, and for tests. It breaks when told to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from drivers.api import ByteStream
from drivers.transport_stream import lost


class MemoryStream:
    """One end. What is written here is read at ``peer`` in the same pieces; nothing is delayed or altered."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._peer: MemoryStream | None = None
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._ended = False

    @property
    def name(self) -> str:
        return self._name

    async def read(self) -> bytes:
        if self._ended and self._pieces.empty():
            raise lost(self._name, None)
        piece = await self._pieces.get()
        if piece is None:
            self._pieces.put_nowait(None)
            raise lost(self._name, None)
        return piece

    async def write(self, data: bytes) -> None:
        if self._ended or self._peer is None:
            raise lost(self._name, None)
        if data:
            self._peer._pieces.put_nowait(bytes(data))

    async def close(self) -> None:
        self.cut()

    def cut(self) -> None:
        """Pull the cable: both ends find out once they have read what was already on the line."""
        for end in (self, self._peer):
            if end is not None and not end._ended:
                end._ended = True
                end._pieces.put_nowait(None)


def stream_pair(name: str) -> tuple[MemoryStream, MemoryStream]:
    """A connected pair, the host's end first."""
    host, device = MemoryStream(name), MemoryStream(f"{name} (device)")
    host._peer, device._peer = device, host
    return host, device


class MemoryOpener:
    """A StreamOpener that asks ``accept`` for the host's end of a new line each time.

    ``accept`` raises DeviceError or LinkLost to say that there is no device at present.
    """

    def __init__(
        self, url: str, accept: Callable[[], Awaitable[ByteStream]], *, bytes_per_second: float | None = None
    ) -> None:
        self._url = url
        self._accept = accept
        self._bytes_per_second = bytes_per_second

    @property
    def url(self) -> str:
        return self._url

    @property
    def bytes_per_second(self) -> float | None:
        return self._bytes_per_second

    async def __call__(self) -> ByteStream:
        return await self._accept()


__all__ = ["MemoryOpener", "MemoryStream", "stream_pair"]
