"""The device's end of a link session, sans-IO (docs/protocol.md, section 2).

Bytes and times go in; bytes, events and the next deadline come out. Times are seconds of any monotonic clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hwsim import codec, messages
from hwsim.codec import Frame, Splitter, encode_frame
from hwsim.messages import Fields, Malformed
from hwsim.numbers import ByeReason, Kind, NakReason, RefuseReason, Role

SILENCE = 5.0
PING_AFTER = 1.0
ACK_DELAY = 0.004
RTO_FIRST, RTO_MIN, RTO_MAX = 0.5, 0.025, 5.0
TRANSMISSIONS = 5
PATIENCE = 3.0
MESSAGE_MAX = 16384
FRAGMENT_TIME = 5.0
UNSEQUENCED = frozenset({Kind.HELLO, Kind.ACK, Kind.PING, Kind.REFUSE, Kind.BYE})


@dataclass(frozen=True, slots=True)
class SessionUp:
    """A new session has begun; sequence numbers start again and nothing of an older session will be delivered."""

    host_id: int


@dataclass(frozen=True, slots=True)
class SessionDown:
    """reason: "new", "bye", "silence", "lost", "refused", "line"."""

    reason: str


@dataclass(frozen=True, slots=True)
class Message:
    kind: int
    address: int
    fields: Fields


Event = SessionUp | SessionDown | Message


@dataclass(slots=True)
class _Sent:
    seq: int
    kind: int
    address: int
    flags: int
    payload: bytes
    at: float
    times: int = 1


@dataclass(slots=True)
class _Partial:
    kind: int
    address: int
    data: bytearray
    since: float
    seq: int


class Session:
    """One port. ``hello(session)`` gives the fields of the device's HELLO; ``accepts``: the kinds it understands."""

    def __init__(
        self,
        hello: Callable[[int], Fields],
        accepts: Iterable[int],
        now: float,
        *,
        window: int = 16,
        max_frame: int = codec.MAX_FRAME,
        byte_time: float = 0.0,
    ) -> None:
        self._hello = hello
        self._accepts = frozenset(accepts)
        self.window = window
        self.max_frame = max_frame
        self.byte_time = byte_time
        self.events: deque[Event] = deque()
        self.up = False
        self.host_id = 0
        self.session_id = 0
        self.retransmissions = 0
        self._started = self._now = now
        self._splitter = Splitter()
        self._controls: deque[tuple[int, Fields]] = deque()
        self._reset(now)
        self._controls.append((Kind.HELLO, hello(0)))

    def _reset(self, now: float) -> None:
        self._queue: deque[tuple[int, int, int, bytes]] = deque()
        self._flight: deque[_Sent] = deque()
        self._resend_at: int | None = None
        self._seq = 0
        self._expected = 0
        self._partial: _Partial | None = None
        self._ack_due: float | None = None
        self._timer: float | None = None
        self._srtt: float | None = None
        self._rttvar = 0.0
        self._backoff = 1
        self._transmissions = 1
        self._first_sent = now
        self._window = self.window
        self._piece = codec.MAX_FRAME - codec.OVERHEAD
        self._last_in = self._last_out = now

    # -- what the device asks -----------------------------------------------------------------------------------------

    def send(self, kind: int, values: Fields | None = None, address: int = 0) -> bool:
        """Queue a message. False, and nothing queued, without a session."""
        if not self.up:
            return False
        payload = messages.encode(kind, values)
        if len(payload) > MESSAGE_MAX:
            raise ValueError("a message has at most 16384 bytes")
        pieces = [payload[i : i + self._piece] for i in range(0, len(payload), self._piece)] or [b""]
        for number, piece in enumerate(pieces):
            flags = codec.SEQUENCED
            flags |= codec.MORE if number < len(pieces) - 1 else 0
            flags |= codec.CONTINUED if number else 0
            self._queue.append((kind, address, flags, piece))
        return True

    def backlog(self) -> int:
        """Sequenced frames not yet acknowledged or not yet sent."""
        return len(self._queue) + len(self._flight)

    def bye(self, reason: int = ByeReason.STOP) -> None:
        """End the session politely."""
        if self.up:
            self._controls.append((Kind.BYE, {"reason": reason}))
            self._end("bye")

    def line_down(self) -> None:
        """The carrier says that the line is gone."""
        self._splitter = Splitter()
        self._controls.clear()
        if self.up:
            self._end("line")

    # -- time and bytes -----------------------------------------------------------------------------------------------

    def next_deadline(self) -> float | None:
        """When ``tick`` must be called at the latest; None if never."""
        if self._controls:
            return self._now
        if not self.up:
            return None
        times = [self._last_in + SILENCE, self._last_out + PING_AFTER]
        if self._can_send():
            times.append(self._now)
        if self._ack_due is not None:
            times.append(self._ack_due)
        if self._timer is not None:
            times.append(self._timer)
        if self._partial is not None:
            times.append(self._partial.since + FRAGMENT_TIME)
        return min(times)

    def tick(self, now: float) -> None:
        self._now = now
        if not self.up:
            return
        if now >= self._last_in + SILENCE:
            self._end("silence")
            return
        if self._partial is not None and now >= self._partial.since + FRAGMENT_TIME:
            self._nak(NakReason.FRAGMENT, self._partial.kind, self._partial.seq, self._partial.address)
            self._partial = None
        if self._timer is not None and now >= self._timer:
            if self._transmissions >= TRANSMISSIONS and now >= self._first_sent + PATIENCE:
                self._controls.append((Kind.BYE, {"reason": ByeReason.RESTART}))
                self._end("lost")
                return
            self._transmissions += 1
            self._backoff *= 2
            self._resend_at = 0
            self._timer = now + self._rto()
        if now >= self._last_out + PING_AFTER:
            self._controls.append((Kind.PING, {"uptime_ms": int((now - self._started) * 1000) & 0xFFFFFFFF}))
            self._last_out = now

    def receive(self, data: bytes, now: float) -> None:
        self._now = now
        for frame in self._splitter.feed(data):
            self._on_frame(frame, now)

    def take_output(self, room: int = 1 << 30) -> bytes:
        """Whole frames for the line, at least one if there is anything, no further one once ``room`` bytes are used."""
        out = bytearray()
        while len(out) < room:
            frame = self._next_frame(len(out))
            if frame is None:
                break
            data = encode_frame(frame)
            # One 00 is the end of one frame and the start of the next.
            out += data[1:] if out else data
        return bytes(out)

    # -- sending ------------------------------------------------------------------------------------------------------

    def _can_send(self) -> bool:
        return self._resend_at is not None or (bool(self._queue) and len(self._flight) < self._window)

    def _next_frame(self, before: int) -> Frame | None:
        if self._controls:
            kind, values = self._controls.popleft()
            return self._frame(kind, 0, 0, 0, messages.encode(kind, values))
        if not self.up:
            return None
        sent_at = self._now + before * self.byte_time
        if self._resend_at is not None:
            if self._resend_at < len(self._flight):
                sent = self._flight[self._resend_at]
                self._resend_at += 1
                sent.times += 1
                self.retransmissions += 1
                self._start_timer(sent_at)
                return self._frame(sent.kind, sent.address, sent.seq, sent.flags, sent.payload)
            self._resend_at = None
        if self._queue and len(self._flight) < self._window:
            kind, address, flags, payload = self._queue.popleft()
            sent = _Sent(self._seq, kind, address, flags, payload, sent_at)
            self._seq = (self._seq + 1) & 0xFF
            if not self._flight:
                self._transmissions = 1
                self._first_sent = sent_at
                self._start_timer(sent_at)
            self._flight.append(sent)
            return self._frame(kind, address, sent.seq, flags, payload)
        if self._ack_due is not None and self._now >= self._ack_due:
            return self._frame(Kind.ACK, 0, 0, 0, b"")
        return None

    def _frame(self, kind: int, address: int, seq: int, flags: int, payload: bytes) -> Frame:
        flags |= codec.FROM_DEVICE
        ack = 0
        if self.up:
            flags |= codec.ACK
            ack = self._expected
            self._ack_due = None
            self._last_out = self._now
        return Frame(kind, address, seq, ack, flags, payload)

    def _rto(self) -> float:
        base = RTO_FIRST if self._srtt is None else self._srtt + 4 * self._rttvar
        return min(RTO_MAX, max(RTO_MIN, base) * self._backoff)

    def _start_timer(self, sent_at: float) -> None:
        # A frame of full length may still be on its way out, and the host's answer behind another such.
        self._timer = sent_at + self._rto() + 2 * self.max_frame * self.byte_time

    def _nak(self, reason: int, kind: int, seq: int, address: int) -> None:
        self.send(Kind.NAK, {"reason": reason, "kind": kind, "seq": seq}, address)

    def _end(self, reason: str) -> None:
        self.up = False
        self.session_id = 0
        self._reset(self._now)
        self.events.append(SessionDown(reason))

    # -- receiving ----------------------------------------------------------------------------------------------------

    def _on_frame(self, frame: Frame, now: float) -> None:
        if frame.flags & (codec.FROM_DEVICE | codec.RESERVED) and frame.version >> 4 == codec.MAJOR:
            return
        if frame.version >> 4 != codec.MAJOR:
            if frame.kind == Kind.HELLO:
                self._refuse(RefuseReason.VERSION, "this device speaks version 1.0")
            return
        sequenced = bool(frame.flags & codec.SEQUENCED)
        if frame.kind == Kind.HELLO and not sequenced:
            self._on_hello(frame, now)
            return
        if not self.up:
            return
        self._last_in = now
        if frame.flags & codec.ACK:
            self._on_ack(frame.ack, now)
        if sequenced:
            if frame.seq != self._expected:
                self._ack_due = now
                return
            self._expected = (self._expected + 1) & 0xFF
            if self._ack_due is None:
                self._ack_due = now + ACK_DELAY
            self._assemble(frame, now)
        elif frame.flags & (codec.MORE | codec.CONTINUED):
            return
        elif frame.kind not in messages.KINDS:
            self._nak(NakReason.UNSUPPORTED, frame.kind, 0, frame.address)
        elif frame.kind in UNSEQUENCED:
            self._on_control(frame)

    def _on_control(self, frame: Frame) -> None:
        try:
            messages.decode(frame.kind, frame.payload)
        except Malformed:
            self._nak(NakReason.MALFORMED, frame.kind, 0, frame.address)
            return
        if frame.kind == Kind.BYE:
            self._end("bye")
        elif frame.kind == Kind.REFUSE:
            self._end("refused")

    def _on_hello(self, frame: Frame, now: float) -> None:
        try:
            hello = messages.decode(Kind.HELLO, frame.payload)
        except Malformed:
            if self.up:
                self._nak(NakReason.MALFORMED, Kind.HELLO, 0, 0)
            return
        if not hello["proto_min"] >> 4 <= codec.MAJOR <= hello["proto_max"] >> 4:
            self._refuse(RefuseReason.VERSION, "this device speaks version 1.0")
            return
        if hello["role"] != Role.HOST:
            self._refuse(RefuseReason.ROLE, "this is a device; it wants a host")
            return
        if hello["session"] == 0:
            return
        if self.up and hello["device_id"] != self.host_id:
            self._refuse(RefuseReason.BUSY, "another host holds this device")
            return
        if not self.up or hello["session"] != self.session_id:
            if self.up:
                self._end("new")
            self._reset(now)
            self.up = True
            self.host_id = hello["device_id"]
            self.session_id = hello["session"]
            self._window = min(self.window, hello["window"])
            self._piece = min(codec.MAX_FRAME, hello["max_frame"]) - codec.OVERHEAD
            self.events.append(SessionUp(self.host_id))
        self._last_in = now
        self._controls.append((Kind.HELLO, self._hello(self.session_id)))

    def _refuse(self, reason: int, text: str) -> None:
        values = {"reason": reason, "proto_min": codec.VERSION, "proto_max": codec.VERSION, "text": text}
        self._controls.append((Kind.REFUSE, values))

    def _on_ack(self, ack: int, now: float) -> None:
        if not self._flight:
            return
        covered = (ack - self._flight[0].seq) & 0xFF
        if not 0 < covered <= len(self._flight):
            return
        newest = self._flight[covered - 1]
        clean = all(self._flight[i].times == 1 for i in range(covered))
        for _ in range(covered):
            self._flight.popleft()
        if self._resend_at is not None:
            self._resend_at = max(0, self._resend_at - covered)
        if clean:
            sample = max(0.0, now - newest.at)
            if self._srtt is None:
                self._srtt, self._rttvar = sample, sample / 2
            else:
                self._rttvar += (abs(self._srtt - sample) - self._rttvar) / 4
                self._srtt += (sample - self._srtt) / 8
        self._transmissions = self._backoff = 1
        self._first_sent = now
        if self._flight:
            self._start_timer(now)
        else:
            self._timer = self._resend_at = None

    def _assemble(self, frame: Frame, now: float) -> None:
        more, continued = frame.flags & codec.MORE, frame.flags & codec.CONTINUED
        partial = self._partial
        if continued:
            if partial is None:
                return  # the rest of a message that was dropped
            if (partial.kind, partial.address) != (frame.kind, frame.address):
                self._partial = None
                return
            partial.data += frame.payload
            partial.seq = frame.seq
            if len(partial.data) > MESSAGE_MAX:
                self._partial = None
                self._nak(NakReason.FRAGMENT, frame.kind, frame.seq, frame.address)
            elif not more:
                self._partial = None
                self._deliver(frame, bytes(partial.data))
            return
        self._partial = None
        if more:
            self._partial = _Partial(frame.kind, frame.address, bytearray(frame.payload), now, frame.seq)
        else:
            self._deliver(frame, frame.payload)

    def _deliver(self, frame: Frame, payload: bytes) -> None:
        kind = frame.kind
        if kind == Kind.NAK:
            return  # there is nothing that a device could do better
        if kind not in self._accepts:
            self._nak(NakReason.UNSUPPORTED, kind, frame.seq, frame.address)
            return
        try:
            fields = messages.decode(kind, payload)
        except Malformed:
            self._nak(NakReason.MALFORMED, kind, frame.seq, frame.address)
            return
        self.events.append(Message(kind, frame.address, fields))
