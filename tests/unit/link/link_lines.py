"""Four fake lines between a session and the peer of the tests, in virtual time."""

from __future__ import annotations

import heapq
import itertools

from firmware_bridge.link.events import SessionEnded
from firmware_bridge.link.session import Session


class Line:
    """Carries bytes both ways. lose: share of frames that vanish; delay: (least, most) seconds; chop: bytes at once."""

    def __init__(self, rng, lose=0.0, delay=(0.0, 0.0), chop=None):
        self.rng, self.lose, self.delay, self.chop = rng, lose, delay, chop
        self._free = {"host": 0.0, "peer": 0.0}

    def deliveries(self, to, data, now):
        """(time, bytes) in order; a stream never overtakes itself."""
        pieces = [data] if self.chop is None else [data[i : i + self.chop] for i in range(0, len(data), self.chop)]
        if self.lose:
            frames = [part for part in data.split(b"\0") if part]
            pieces = [b"\0" + part + b"\0" for part in frames if self.rng.random() >= self.lose]
        for piece in pieces:
            at = max(self._free[to], now + self.rng.uniform(*self.delay))
            self._free[to] = at
            yield at, piece


class World:
    """Runs session and peer over a line until nothing is left to do, or a time is over."""

    def __init__(self, session: Session, peer, line: Line):
        self.session, self.peer, self.line = session, peer, line
        self.now = 0.0
        self.events = []
        self._heap = []
        self._order = itertools.count()
        self.steps = 0

    def at(self, when, action):
        """Calls ``action()`` at a time."""
        heapq.heappush(self._heap, (when, next(self._order), "call", action))

    def flush(self):
        for to, data in (("peer", self.session.take_output(self.now)), ("host", self.peer.output(self.now))):
            if data:
                for when, piece in self.line.deliveries(to, data, self.now):
                    heapq.heappush(self._heap, (when, next(self._order), to, piece))

    def run(self, until, stop=lambda: False):
        self.flush()
        while not stop():
            self.steps += 1
            assert self.steps < 200_000, "the two ends race each other"
            due = [until]
            if self._heap:
                due.append(self._heap[0][0])
            due += [t for t in (self.session.next_deadline(), self.peer.next_deadline()) if t is not None]
            self.now = max(self.now, min(due))
            if self.now >= until:
                return
            if self._heap and self._heap[0][0] <= self.now:
                _, _, to, item = heapq.heappop(self._heap)
                if to == "peer":
                    self.peer.receive(item, self.now)
                elif to == "host":
                    self.events += self.session.receive(item, self.now)
                else:
                    item()
            self.events += self.session.tick(self.now)
            self.flush()

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def ended(self):
        return bool(self.of(SessionEnded))
