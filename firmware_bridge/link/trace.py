"""The last frames of a port, redacted, so that a fault can be told from its history."""

from __future__ import annotations

from collections import deque

from firmware_bridge.wire.frames import Frame
from firmware_bridge.wire.redact import redacted

TRACE_LENGTH = 200


class FrameTrace:
    """Keeps the last 200 lines: frames sent and received, and remarks. Payloads with cards never enter."""

    def __init__(self, length: int = TRACE_LENGTH) -> None:
        self._lines: deque[tuple[float, str, str]] = deque(maxlen=length)

    def sent(self, now: float, frame: Frame) -> None:
        self._lines.append((now, ">", redacted(frame)))

    def received(self, now: float, frame: Frame) -> None:
        self._lines.append((now, "<", redacted(frame)))

    def note(self, now: float, text: str) -> None:
        """A remark of the session; no bytes of the line in it."""
        self._lines.append((now, "!", text))

    def lines(self) -> list[str]:
        """Oldest first: seconds of the session's clock, direction (> sent, < received, ! remark), what."""
        return [f"{at:.4f} {mark} {text}" for at, mark, text in self._lines]
