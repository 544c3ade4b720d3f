"""What happens later inside a simulated device: callbacks in the order of their times, ties in the order of booking."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable


class Agenda:
    """A heap of (time, callback). ``run`` calls those that are due; a callback gets the time it was booked for."""

    def __init__(self, now: float) -> None:
        self.now = now
        self._heap: list[tuple[float, int, Booking]] = []
        self._number = itertools.count()

    def at(self, when: float, callback: Callable[[], None]) -> Booking:
        booking = Booking(callback)
        heapq.heappush(self._heap, (max(when, self.now), next(self._number), booking))
        return booking

    def after(self, delay: float, callback: Callable[[], None]) -> Booking:
        return self.at(self.now + delay, callback)

    def clear(self) -> None:
        """Nothing of what was booked will happen."""
        self._heap.clear()

    def next_time(self) -> float | None:
        while self._heap and self._heap[0][2].callback is None:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def run(self, now: float) -> None:
        """Everything due up to ``now``. During a callback ``self.now`` is the time it was due."""
        while (when := self.next_time()) is not None and when <= now:
            booking = heapq.heappop(self._heap)[2]
            callback, booking.callback = booking.callback, None
            self.now = max(self.now, when)
            if callback is not None:
                callback()
        self.now = max(self.now, now)


class Booking:
    """A place in the agenda that can be given back."""

    __slots__ = ("callback",)

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None
