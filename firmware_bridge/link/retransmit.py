"""The retransmission time-out, measured on the line itself (docs/protocol.md section 2).

Smoothed round-trip time + 4 x its variation (gains 1/8 and 1/4), between 25 ms and 5 s. Only frames sent once are
measured: an acknowledgement of a repeated frame may belong to either copy (Karn's rule). It shows that the line lives,
though, so it takes one doubling back. Without that, a line that loses a tenth of its frames needs ten times as long,
because while frames are being repeated hardly any is sent just once.
"""

from __future__ import annotations

FIRST_TIMEOUT = 0.5
MIN_TIMEOUT = 0.025
MAX_TIMEOUT = 5.0


class RetransmitTimer:
    """Round-trip times in, time-out out; all in seconds."""

    __slots__ = ("_measured", "_variation", "smoothed", "timeout")

    def __init__(self) -> None:
        self.smoothed: float | None = None
        self._variation = 0.0
        self._measured = FIRST_TIMEOUT
        self.timeout = FIRST_TIMEOUT

    def sample(self, round_trip: float) -> None:
        """Takes the round-trip time of a frame that was sent exactly once."""
        round_trip = max(round_trip, 0.0)
        if self.smoothed is None:
            self.smoothed = round_trip
            self._variation = round_trip / 2
        else:
            self._variation += (abs(round_trip - self.smoothed) - self._variation) / 4
            self.smoothed += (round_trip - self.smoothed) / 8
        self._measured = min(MAX_TIMEOUT, max(MIN_TIMEOUT, self.smoothed + 4 * self._variation))
        self.timeout = self._measured

    def back_off(self) -> None:
        """Doubles the time-out after it has run out once."""
        self.timeout = min(MAX_TIMEOUT, self.timeout * 2)

    def relax(self) -> None:
        """Halves the time-out, not below the measured one: a repeated frame has been acknowledged."""
        self.timeout = max(self._measured, self.timeout / 2)
