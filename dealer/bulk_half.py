"""A second process that deals half of every block of a large set, where the system can fork and has a core to spare.

Both processes share a piece of memory: indices go in, digests and text come out. The child touches no file and no
database, and ends when its pipe closes, so that it never outlives its parent.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from firmware_bridge.errors import DealError

_REQUEST = struct.Struct("<QQ")
_REPLY = struct.Struct("<QQ")
DIGEST = 16

Work = Callable[[npt.NDArray[np.uint32], int], tuple[int, bytes, list[memoryview]]]
"""Deals one half: index array and first number in; number of a bad board or 0, digests, and text out."""


def _ended() -> DealError:
    return DealError("A helping process was ended from outside.", next_step="Deal the set again.", code="process-ended")


class Half:
    """The child process. capacity: boards at most; row: bytes of text a board at most. Made before other threads."""

    def __init__(self, work: Work, capacity: int, row: int) -> None:
        self._digests_at = capacity * 12
        self._text_at = self._digests_at + capacity * DIGEST
        self._memory = mmap.mmap(-1, self._text_at + capacity * row)
        self._work = work
        read_requests, self._requests = os.pipe()
        self._replies, write_replies = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            try:
                os.close(self._requests)
                os.close(self._replies)
                self._serve(read_requests, write_replies)
            finally:
                os._exit(0)
        os.close(read_requests)
        os.close(write_replies)

    def _serve(self, requests: int, replies: int) -> None:
        while True:
            request = os.read(requests, _REQUEST.size)
            if len(request) < _REQUEST.size:
                return
            first, count = _REQUEST.unpack(request)
            index = np.frombuffer(self._memory, dtype=np.uint32, count=3 * count).reshape(count, 3)
            bad, digests, text = self._work(index, first)
            self._memory[self._digests_at : self._digests_at + len(digests)] = digests
            at = self._text_at
            for piece in text:
                self._memory[at : at + len(piece)] = bytes(piece)
                at += len(piece)
            os.write(replies, _REPLY.pack(bad, at - self._text_at))

    def start(self, index: npt.NDArray[np.uint32], first: int) -> None:
        """Begin the half that starts with board ``first``. Raises DealError when the child is gone."""
        data = index.tobytes()
        self._memory[: len(data)] = data
        try:
            os.write(self._requests, _REQUEST.pack(first, len(index)))
        except BrokenPipeError as error:
            raise _ended() from error

    def result(self, count: int, with_digests: bool) -> tuple[int, bytes, memoryview]:
        """Number of a bad board or 0, the digests, and the text, which stays until the next ``start``.

        Raises DealError when the child is gone.
        """
        reply = os.read(self._replies, _REPLY.size)
        if len(reply) < _REPLY.size:
            raise _ended()
        bad, size = _REPLY.unpack(reply)
        digests = self._memory[self._digests_at : self._digests_at + (count * DIGEST if with_digests else 0)]
        return bad, digests, memoryview(self._memory)[self._text_at : self._text_at + size]

    def close(self) -> None:
        """End the child and wait for it."""
        os.close(self._requests)
        os.close(self._replies)
        os.waitpid(self._child, 0)
