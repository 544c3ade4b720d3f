"""How fast simulated time-consuming things happen: ``real``, ``demo``, ``line`` and ``max``.

``real`` is true to life. ``demo`` keeps the feel of it and shortens the waiting. At ``line`` nothing but the line's
baud rate takes time; at ``max`` not even that.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Speed:
    """Seconds, except ``card`` (seconds from card to card, None: as the machine's profile says) and ``paced``."""

    name: str
    card: float | None
    hand: float  # one action of the operator at the machine
    play: tuple[float, float]  # shortest and longest time for one board at a table
    key: float  # one touch of a key that somebody has been asked for
    move: float  # from the last board of a round to the first of the next
    status: float  # least time between two TERM_STATUS
    paced: bool

    @property
    def instant(self) -> bool:
        return self.card == 0


SPEEDS = {
    "real": Speed("real", None, 4.0, (330.0, 510.0), 2.0, 120.0, 1.0, True),
    "demo": Speed("demo", 0.009, 0.15, (0.60, 0.86), 0.03, 0.25, 0.2, True),
    "line": Speed("line", 0.0, 0.0, (0.0, 0.0), 0.0, 0.0, 0.2, True),
    "max": Speed("max", 0.0, 0.0, (0.0, 0.0), 0.0, 0.0, 0.2, False),
}
