"""Acts that are asked for again because their answer was lost: done once, answered twice.

A caller gives an act a key of its own in the header ``Idempotency-Key``. The answer of an act that was done is kept
here, for as long as the service runs; one that failed has changed nothing and is tried again.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from starlette.responses import Response

from firmware_bridge.errors import EntryError

HEADER = "idempotency-key"
MAX_KEY = 64
KEPT = 512
"""Answers; the oldest go first."""


class Repeats:
    """The answers of acts by who asked, what for, and under which key."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str, str], tuple[bytes, asyncio.Future[Response | None]]] = OrderedDict()

    async def once(
        self, who: str, path: str, key: str, body: bytes, work: Callable[[], Awaitable[Response]]
    ) -> Response:
        """The answer of ``work``, which is done only if this key has not been used for it before.

        Raises EntryError when the key is too long, or was used for another body; and what ``work`` raises.
        """
        if not 0 < len(key) <= MAX_KEY:
            raise EntryError(f"a key has 1 to {MAX_KEY} letters.", code="bad-key")
        name, digest = (who, path, key), hashlib.sha256(body).digest()
        while (known := self._known.get(name)) is not None:
            if known[0] != digest:
                raise EntryError(
                    "this key was used for another act.", next_step="Give each act a key of its own.", code="key-used"
                )
            kept = await asyncio.shield(known[1])
            if kept is not None:
                return _again(kept)
        done: asyncio.Future[Response | None] = asyncio.get_running_loop().create_future()
        self._known[name] = digest, done
        answer = None
        try:
            answer = await work()
        finally:
            if answer is not None and answer.status_code < 300:
                done.set_result(answer)
                self._forget_oldest()
            else:
                del self._known[name]
                done.set_result(None)
        return answer

    def _forget_oldest(self) -> None:
        """Never an act that is under way: asked for again, it would be done twice."""
        answered = [name for name, (_, future) in self._known.items() if future.done()]
        for name in answered[: max(0, len(answered) - KEPT)]:
            del self._known[name]


def _again(answer: Response) -> Response:
    return Response(bytes(answer.body), answer.status_code, media_type=answer.media_type)
