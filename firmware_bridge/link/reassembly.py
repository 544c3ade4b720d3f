"""Puts fragments of long messages together again (docs/protocol.md section 2, Fragments)."""

from __future__ import annotations

from dataclasses import dataclass

from firmware_bridge.link.sender import MAX_MESSAGE
from firmware_bridge.wire.frames import Flag, Frame

FRAGMENT_TIMEOUT = 5.0
"""Seconds from the first piece to the last."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A message that will not be complete: its kind, address, and the link sequence number of the last piece taken."""

    kind: int
    address: int
    seq: int
    why: str


class Reassembly:
    """Takes sequenced frames in order, gives whole payloads. Holds one message of at most 16384 bytes."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets a message that is not complete, without a word."""
        self._parts: list[bytes] = []
        self._size = 0
        self._last: Frame | None = None
        self._since = 0.0

    @property
    def held(self) -> int:
        """Bytes of a message that is not complete yet."""
        return self._size

    def deadline(self) -> float | None:
        """When ``expire`` is due, None if no message is half received."""
        return None if self._last is None else self._since + FRAGMENT_TIMEOUT

    def expire(self, now: float) -> Dropped | None:
        """Drops a message that has not become complete in time."""
        due = self.deadline()
        return self._drop("not complete in 5 s") if due is not None and now >= due else None

    def take(self, frame: Frame, now: float) -> tuple[bytes | None, Dropped | None]:
        """The next sequenced frame.

        Returns the whole payload if the frame completes a message, and the message that had to be given up, if any.
        A piece whose beginning is missing is ignored: its message was given up already.
        """
        more = frame.flags & Flag.MORE
        if not frame.flags & Flag.CONTINUED:
            dropped = self._drop("another message came before its last piece")
            if not more:
                return frame.payload, dropped
            self._since = now
            self._add(frame)
            return None, dropped
        if self._last is None:
            return None, None
        if (frame.kind, frame.address) != (self._last.kind, self._last.address):
            return None, self._drop("a piece of another message came between its pieces")
        if self._size + len(frame.payload) > MAX_MESSAGE:
            self._last = frame
            return None, self._drop(f"longer than {MAX_MESSAGE} bytes")
        if not frame.payload and more:
            # Pieces without content would let a message grow for ever in number if not in bytes.
            self._last = frame
            return None, self._drop("an empty piece")
        self._add(frame)
        if more:
            return None, None
        payload = b"".join(self._parts)
        self.reset()
        return payload, None

    def _add(self, frame: Frame) -> None:
        self._parts.append(frame.payload)
        self._size += len(frame.payload)
        self._last = frame

    def _drop(self, why: str) -> Dropped | None:
        last = self._last
        self.reset()
        return None if last is None else Dropped(last.kind, last.address, last.seq, why)
