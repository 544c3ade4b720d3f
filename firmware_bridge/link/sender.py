"""The sending half of a session: queue, window, cumulative acknowledgement, repeats (docs/protocol.md section 2)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from firmware_bridge.errors import LinkError
from firmware_bridge.link.retransmit import RetransmitTimer
from firmware_bridge.wire.frames import MAX_FRAME, MIN_FRAME, Flag

MAX_TRANSMISSIONS = 5
"""How often the oldest frame is sent without progress, at the least, before the session is lost."""
GIVE_UP_AFTER = 3.0
"""Seconds from the first of these transmissions before the session is lost: on a quick line five of them take less than
a second, and a busy computer or a device that writes its memory may well stand still for longer than that."""
MAX_MESSAGE = 16384
"""Longest message, all fragments together."""
SMALLEST_MAX_FRAME = 64
LARGEST_WINDOW = 64


class QueueFull(LinkError):
    """The outgoing queue is full: the peer acknowledges more slowly than messages are made. Nothing was queued."""

    default_code = "queue-full"


@dataclass(slots=True)
class Outgoing:
    """One sequenced frame on its way. flags: SEQUENCED and the fragment bits. last: it completes its message."""

    kind: int
    address: int
    flags: int
    payload: bytes
    last: bool
    seq: int = 0
    sent_at: float = 0.0
    transmissions: int = 0


class SequencedSender:
    """Queues messages as frames, lets ``window`` of them out, and repeats what is not acknowledged.

    limit: queued frames at which ``enqueue`` begins to refuse. One message may go over it with its last fragments, so
    that memory stays below ``limit`` frames and one message.
    """

    def __init__(self, limit: int = 256) -> None:
        self.limit = limit
        self.timer = RetransmitTimer()
        self.retransmissions = 0
        self.reset(window=1, max_frame=SMALLEST_MAX_FRAME)

    def reset(self, window: int, max_frame: int) -> None:
        """A new session: number 0 is next, nothing is queued. Values out of their range are taken to the nearest."""
        self.window = min(LARGEST_WINDOW, max(1, window))
        self._max_payload = min(MAX_FRAME, max(SMALLEST_MAX_FRAME, max_frame)) - MIN_FRAME
        self._queue: deque[Outgoing] = deque()
        self._unacked: deque[Outgoing] = deque()
        self._next_seq = 0
        self._to_repeat = 0
        self._rounds = 0
        self._progress_at = 0.0
        self._stuck_since = 0.0
        self.pending = 0
        self.timer = RetransmitTimer()

    @property
    def unacked(self) -> int:
        """Frames sent and not yet acknowledged."""
        return len(self._unacked)

    def enqueue(self, kind: int, address: int, payload: bytes) -> None:
        """Queues a message, cut into fragments if it is too long for one frame.

        Raises QueueFull, or LinkError if the message is longer than 16384 bytes; then nothing was queued.
        """
        if len(payload) > MAX_MESSAGE:
            raise LinkError(f"A message has at most {MAX_MESSAGE} bytes, not {len(payload)}.", code="message-too-long")
        if len(self._queue) >= self.limit:
            raise QueueFull(
                f"{len(self._queue)} frames wait to be sent, no more are taken.",
                next_step="Wait until the device has taken some.",
            )
        step = self._max_payload
        ends = range(step, len(payload) + step, step) if payload else (0,)
        for end in ends:
            more = end < len(payload)
            flags = Flag.SEQUENCED | (Flag.MORE if more else 0) | (Flag.CONTINUED if end > step else 0)
            self._queue.append(Outgoing(kind, address, int(flags), payload[max(0, end - step) : end], not more))
        self.pending += 1

    def acknowledge(self, ack: int, now: float) -> bool:
        """Takes a cumulative acknowledgement: ``ack`` is the number that the peer expects next.

        Returns True if it acknowledges anything new. One that can't be true is ignored.
        """
        if not self._unacked:
            return False
        count = (ack - self._unacked[0].seq) % 256
        if not 0 < count <= len(self._unacked):
            return False
        newest = self._unacked[count - 1]
        if newest.transmissions == 1:
            self.timer.sample(now - newest.sent_at)
        else:
            self.timer.relax()
        for _ in range(count):
            if self._unacked.popleft().last:
                self.pending -= 1
        self._to_repeat = 0
        self._rounds = 1
        self._progress_at = now
        return True

    def deadline(self) -> float | None:
        """When ``expire`` is due, None if nothing is unacknowledged."""
        if not self._unacked or self._to_repeat:
            return None
        return max(self._progress_at, self._unacked[0].sent_at) + self.timer.timeout

    def expire(self, now: float) -> bool:
        """Marks everything unacknowledged for repeat if the time-out has run out.

        Returns False if the frames have been sent five times and for 3 s without progress: the peer is lost.
        """
        due = self.deadline()
        if due is None or now < due:
            return True
        if self._rounds == 1:
            self._stuck_since = max(self._progress_at, self._unacked[0].sent_at)
        elif self._rounds >= MAX_TRANSMISSIONS and now >= self._stuck_since + GIVE_UP_AFTER:
            return False
        self._rounds += 1
        self._to_repeat = len(self._unacked)
        self.timer.back_off()
        return True

    def output(self) -> Iterator[Outgoing]:
        """The frames to send now: repeats first, then new ones as far as the window allows.

        The caller sets ``sent_at`` of each, the moment at which its last byte has left.
        """
        first = len(self._unacked) - self._to_repeat
        for index in range(max(0, first), len(self._unacked)):
            frame = self._unacked[index]
            frame.transmissions += 1
            self.retransmissions += 1
            yield frame
        self._to_repeat = 0
        while self._queue and len(self._unacked) < self.window:
            frame = self._queue.popleft()
            frame.seq = self._next_seq
            frame.transmissions = 1
            self._next_seq = (self._next_seq + 1) % 256
            if not self._unacked:
                self._rounds = 1
            self._unacked.append(frame)
            yield frame
