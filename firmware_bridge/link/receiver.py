"""The receiving half of a session: order, acknowledgement, fragments (docs/protocol.md section 2)."""

from __future__ import annotations

from firmware_bridge.link.reassembly import Dropped, Reassembly
from firmware_bridge.wire.frames import Frame

ACK_DELAY = 0.008
"""Seconds that an acknowledgement waits for a frame to travel with; the page allows 10 ms."""


class SequencedReceiver:
    """Takes the next expected frame and no other, and knows when an acknowledgement is due."""

    def __init__(self) -> None:
        self.out_of_order = 0
        self._reassembly = Reassembly()
        self.reset(window=1)

    def reset(self, window: int) -> None:
        """A new session: number 0 is expected. window: frames that the peer may have unacknowledged."""
        self.expected = 0
        """The number acknowledged in every frame: that of the next frame wanted."""
        self.ack_due: float | None = None
        self._window = window
        self._since_ack = 0
        self._reassembly.reset()

    def take(self, frame: Frame, now: float) -> tuple[bytes | None, Dropped | None]:
        """Takes a sequenced frame; returns the payload of a message that is now whole, and one given up, if any."""
        if frame.seq != self.expected:
            # Most often a repeat whose acknowledgement was lost: say again, at once, what is expected.
            self.out_of_order += 1
            self.ack_due = now
            return None, None
        self.expected = (self.expected + 1) % 256
        self._since_ack += 1
        if 2 * self._since_ack >= self._window:
            self.ack_due = now  # the peer's window is half used: waiting longer would slow it down
        elif self.ack_due is None:
            self.ack_due = now + ACK_DELAY
        return self._reassembly.take(frame, now)

    def acknowledged(self) -> int:
        """A frame goes out: returns the number it acknowledges with; none is due any more."""
        self.ack_due = None
        self._since_ack = 0
        return self.expected

    def expire(self, now: float) -> Dropped | None:
        """The message that has not become complete in time, if any."""
        return self._reassembly.expire(now)

    def deadlines(self) -> list[float]:
        """When an acknowledgement or ``expire`` is due."""
        return [due for due in (self.ack_due, self._reassembly.deadline()) if due is not None]
