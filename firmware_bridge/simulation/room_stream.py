"""The host's end of a line in virtual time: a byte stream without a port, for soaks in one process."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

from drivers.api import ByteStream
from drivers.transport_stream import lost


class Room(Protocol):
    """What is at the other end of the line."""

    def from_host(self, data: bytes) -> None: ...


class RoomStream(ByteStream):
    """The host's end of one line. ``room`` is told what the host writes."""

    def __init__(self, room: Room, name: str) -> None:
        self._room = room
        self._name = name
        self._pieces: deque[bytes] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self.ended = False

    @property
    def name(self) -> str:
        return self._name

    async def read(self) -> bytes:
        while not self._pieces:
            if self.ended:
                raise lost(self._name, None)
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        data = b"".join(self._pieces)
        self._pieces.clear()
        return data

    async def write(self, data: bytes) -> None:
        if self.ended:
            raise lost(self._name, None)
        self._room.from_host(bytes(data))

    async def close(self) -> None:
        self.cut()

    def feed(self, data: bytes) -> None:
        self._pieces.append(data)
        self._wake()

    def cut(self) -> None:
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
