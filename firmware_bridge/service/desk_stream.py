"""Server-sent events of the desk: what changed, numbered by the store, so that a page resumes where it was cut off.

An event's id is its number in the outbox of ``events.db``: it survives a restart of the service. Events without an id
(a terminal that has gone silent, the round clock) say "look again" and need no resuming.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import StreamingResponse

QUEUE = 512
"""Events that may wait for one page; a page that takes none is cut off and resumes."""
KEEP_ALIVE_S = 15.0
MAX_STREAMS = 1500


def encode(kind: str, data: Any, number: int | None = None) -> bytes:
    """One event as it goes over the line."""
    head = f"id: {number}\n" if number is not None else ""
    return f"{head}event: {kind}\ndata: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


@dataclass(eq=False, slots=True)
class Subscriber:
    queue: asyncio.Queue[bytes | None] = field(default_factory=lambda: asyncio.Queue(QUEUE))
    lost: bool = False


class Stream:
    """The pages that listen. ``publish`` never waits for any of them."""

    def __init__(self) -> None:
        self._subscribers: set[Subscriber] = set()

    @property
    def listeners(self) -> int:
        return len(self._subscribers)

    def publish(self, chunk: bytes) -> None:
        for one in list(self._subscribers):
            try:
                one.queue.put_nowait(chunk)
            except asyncio.QueueFull:
                one.lost = True
                self._subscribers.discard(one)

    def subscribe(self) -> Subscriber:
        one = Subscriber()
        self._subscribers.add(one)
        return one

    def leave(self, one: Subscriber) -> None:
        self._subscribers.discard(one)

    def close(self) -> None:
        for one in list(self._subscribers):
            one.lost = True
            if not one.queue.full():
                one.queue.put_nowait(None)
        self._subscribers.clear()

    async def listen(self, before: Callable[[], bytes]) -> AsyncIterator[bytes]:
        """Chunks for one page; ``before`` gives what it missed, asked after it is on the list, so that nothing falls
        between."""
        one = self.subscribe()
        try:
            yield before() or b": here\n\n"
            while not one.lost:
                try:
                    chunk = await asyncio.wait_for(one.queue.get(), KEEP_ALIVE_S)
                except TimeoutError:
                    chunk = b": still here\n\n"
                if chunk is None:
                    return
                while not one.queue.empty() and len(chunk) < 32_000:
                    more = one.queue.get_nowait()
                    if more is None:
                        yield chunk
                        return
                    chunk += more
                yield chunk
        finally:
            self.leave(one)


def event_stream(chunks: AsyncIterator[bytes]) -> StreamingResponse:
    return StreamingResponse(
        chunks, media_type="text/event-stream", headers={"cache-control": "no-store", "x-accel-buffering": "no"}
    )
