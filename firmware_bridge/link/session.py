"""The host's side of a session over one port, without any I/O (docs/protocol.md section 2).

Bytes and time go in; bytes, events and the next deadline come out. The owner's loop::

    session.start(now)
    write(session.take_output(now))
    on bytes:     events = session.receive(data, now);  write(session.take_output(now))
    on deadline:  events = session.tick(now);           write(session.take_output(now))
    wait until session.next_deadline()

``now`` is any clock that never goes back, in seconds. ``take_output`` belongs after every call that is given ``now``.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from firmware_bridge.errors import LinkError
from firmware_bridge.link.events import (
    Established,
    Heard,
    LinkEvent,
    Lost,
    MessageReceived,
    MessageRejected,
    PeerLeft,
    PeerRestarted,
    Refused,
    Unsupported,
    VersionMismatch,
    role_words,
)
from firmware_bridge.link.greeting import Greeting, common_version
from firmware_bridge.link.reassembly import Dropped
from firmware_bridge.link.receiver import SequencedReceiver
from firmware_bridge.link.sender import SequencedSender
from firmware_bridge.link.trace import FrameTrace
from firmware_bridge.wire.frames import PROTOCOL_MAX, PROTOCOL_MIN, Flag, Frame, FrameDecoder, encode_frame
from firmware_bridge.wire.layout import Direction
from firmware_bridge.wire.messages import (
    BY_CLASS,
    BY_KIND,
    Bye,
    Hello,
    Message,
    Nak,
    Ping,
    Refuse,
    decode,
    encode,
    fit_text,
)
from firmware_bridge.wire.numbers import ByeReason, NakReason, RefuseReason, Role
from firmware_bridge.wire.wire_error import WireError

PING_AFTER = 1.0
SILENCE = 5.0
REFUSE_TEXT = 48  # so that REFUSE fits the smallest frame that a peer may take

_HELLO, _ACK, _PING, _NAK, _REFUSE, _BYE = (BY_KIND[kind].kind for kind in range(1, 7))


class RandomBits(Protocol):
    """``random.Random`` or ``secrets.SystemRandom``."""

    def getrandbits(self, k: int, /) -> int: ...


class State(Enum):
    IDLE = "idle"
    GREETING = "greeting"
    ESTABLISHED = "established"
    ENDED = "ended"


@dataclass(slots=True)
class SessionCounters:
    """What a session has done since it was made. Frames, unless named otherwise."""

    sent: int = 0
    received: int = 0
    bytes_sent: int = 0
    messages_received: int = 0
    echoes: int = 0
    foreign_version: int = 0
    stray: int = 0
    sessions: int = 0


class Session:
    """One port's session, seen from the host.

    hello: what the host says of itself (``greeting.host_hello``). expected_role: the kind of device that is wanted,
    None for any. rng: draws the session numbers. queue_limit: frames that may wait before ``send`` refuses more.
    bytes_per_second: pace of the line if it is known (serial: baud / 10), so that the time a long queue needs on the
    line is not mistaken for a peer that does not answer; None for lines that take everything at once.
    """

    def __init__(
        self,
        hello: Hello,
        expected_role: Role | None,
        rng: RandomBits,
        *,
        queue_limit: int = 256,
        bytes_per_second: float | None = None,
    ) -> None:
        self.counters = SessionCounters()
        self.trace = FrameTrace()
        self.state = State.IDLE
        self.peer: Hello | None = None
        """The peer's HELLO, kept when the session ends: it tells a restart from a mere loss of the line."""
        self.version = PROTOCOL_MIN
        self.session_number = 0
        self._hello = hello
        self._expected_role = expected_role
        self._rng = rng
        self._seconds_per_byte = 1 / bytes_per_second if bytes_per_second else 0.0
        self._decoder = FrameDecoder()
        self._sender = SequencedSender(queue_limit)
        self._receiver = SequencedReceiver()
        self._greeting = Greeting(0.0, 0)
        self._control: deque[Frame] = deque(maxlen=4)
        self._began = 0.0
        self._heard_at = 0.0
        self._sent_at = 0.0
        self._line_free_at = 0.0

    # --- what the owner asks

    @property
    def established(self) -> bool:
        return self.state is State.ESTABLISHED

    @property
    def pending(self) -> int:
        """Messages queued or sent and not yet acknowledged by the peer's link: the measure for back-pressure."""
        return self._sender.pending

    @property
    def round_trip(self) -> float | None:
        """Smoothed round-trip time in seconds, None before the first measurement."""
        return self._sender.timer.smoothed

    @property
    def retransmissions(self) -> int:
        """Frames sent again since the session object was made."""
        return self._sender.retransmissions

    @property
    def decoder_counters(self) -> dict[str, int]:
        """What the frame decoder has met: see ``DecoderCounters``."""
        return dataclasses.asdict(self._decoder.counters)

    def next_deadline(self) -> float | None:
        """When ``tick`` and ``take_output`` are due if nothing comes before; None if there is nothing to wait for."""
        if self.state is State.GREETING:
            return self._greeting.due
        if self.state is not State.ESTABLISHED:
            return None
        due = [self._heard_at + SILENCE, self._sent_at + PING_AFTER, *self._receiver.deadlines()]
        repeat = self._sender.deadline()
        return min(due) if repeat is None else min(repeat, *due)

    # --- what the owner does

    def start(self, now: float) -> None:
        """Begins a session: HELLO goes out with the next ``take_output``. Raises LinkError if one is under way."""
        if self.state in (State.GREETING, State.ESTABLISHED):
            raise LinkError("The session has already begun.", code="session-running")
        if self.state is State.IDLE:
            self._began = now
        self._begin(now)

    def send(self, message: Message, address: int, now: float) -> None:
        """Queues a message; it goes out with the next ``take_output`` as far as the window allows.

        address: number of the terminal, or 0. Raises LinkError (code ``not-established``) outside a session,
        QueueFull, WireError if a value has no room on the wire, ValueError for a message that is the link's own or
        not a host's to send.
        """
        message_type = BY_CLASS[type(message)]
        if not message_type.sequenced or message_type.kind == _NAK or message_type.direction is not Direction.TO_DEVICE:
            raise ValueError(f"{message_type.name} is not a message that a host's upper layers send")
        if not 0 <= address <= 0xFFFF:
            raise WireError("The number of a terminal is between 0 and 65535.")
        if self.state is not State.ESTABLISHED:
            raise LinkError(
                "There is no connection to the device.", next_step="Wait until it is connected.", code="not-established"
            )
        self._sender.enqueue(message_type.kind, address, encode(message))

    def close(self, now: float, reason: ByeReason = ByeReason.STOP) -> None:
        """Says BYE and ends the session; what is still queued is dropped. Harmless if there is no session."""
        if self.state in (State.GREETING, State.ESTABLISHED):
            self._control.clear()
            self._queue_control(_BYE, Bye(reason))
            self._end(now, "closed")

    def receive(self, data: bytes, now: float) -> list[LinkEvent]:
        """Takes bytes of the line, in any chunks; returns what they mean, in order."""
        events: list[LinkEvent] = []
        dropped = self._decoder.counters.dropped
        for frame in self._decoder.feed(data):
            self._on_frame(frame, now, events)
        if self._decoder.counters.dropped != dropped:
            self.trace.note(now, f"{self._decoder.counters.dropped - dropped} pieces dropped that are no frames")
        return events

    def tick(self, now: float) -> list[LinkEvent]:
        """Does what is due at ``now``; calling it too often is harmless."""
        events: list[LinkEvent] = []
        if self.state is State.GREETING:
            self._greet_again(now, events)
        elif self.state is State.ESTABLISHED:
            given_up = self._receiver.expire(now)
            if given_up is not None:
                self._give_up(given_up, events)
            if now >= self._heard_at + SILENCE:
                self._lose(now, True, events)
            elif not self._sender.expire(now):
                self._lose(now, False, events)
        return events

    def take_output(self, now: float) -> bytes:
        """All bytes that should go to the line now."""
        out = bytearray()
        while self._control:
            self._put(out, now, self._control.popleft())
        if self.state is not State.ESTABLISHED:
            return bytes(out)
        for item in self._sender.output():
            frame = self._frame(item.kind, item.payload, item.address, item.seq, item.flags)
            item.sent_at = self._put(out, now, frame)
        if self._receiver.ack_due is not None and now >= self._receiver.ack_due:
            self._put(out, now, self._frame(_ACK, b""))
        if now >= self._sent_at + PING_AFTER:
            uptime = int((now - self._began) * 1000) & 0xFFFFFFFF
            self._put(out, now, self._frame(_PING, encode(Ping(uptime))))
        return bytes(out)

    # --- beginning and ending

    def _begin(self, now: float) -> None:
        number = 0
        while number in (0, self.session_number):
            number = self._rng.getrandbits(32)
        self.session_number = number
        self.version = PROTOCOL_MIN
        self.state = State.GREETING
        self.counters.sessions += 1
        self._heard_at = now
        self._forget()
        self._control.clear()
        self._greeting = Greeting(now, self._decoder.counters.bytes_seen)
        self.trace.note(now, f"session {self.session_number:08x} begins")
        self._say_hello()

    def _say_hello(self) -> None:
        self._queue_control(_HELLO, dataclasses.replace(self._hello, session=self.session_number))

    def _forget(self) -> None:
        self._sender.reset(window=1, max_frame=0)
        self._receiver.reset(window=1)

    def _end(self, now: float, why: str) -> None:
        self.state = State.ENDED
        self._forget()
        self.trace.note(now, f"session {self.session_number:08x} ends: {why}")

    def _lose(self, now: float, silent: bool, events: list[LinkEvent]) -> None:
        events.append(Lost(silent, self._sender.pending))
        self._end(now, "silence" if silent else "no acknowledgement")

    def _greet_again(self, now: float, events: list[LinkEvent]) -> None:
        if now < self._greeting.due:
            return
        if self._greeting.again(now):
            self._say_hello()
            return
        verdict = self._greeting.verdict(self._decoder.counters.bytes_seen)
        if verdict.heard is Heard.FOREIGN_VERSION:
            self._refuse(RefuseReason.VERSION, "no common protocol version")
        events.append(verdict)
        self._end(now, f"no answer, heard {verdict.heard.value}")

    def _refuse(self, reason: RefuseReason, text: str) -> None:
        message = Refuse(reason, self._hello.proto_min, self._hello.proto_max, fit_text(text, REFUSE_TEXT))
        self._queue_control(_REFUSE, message)

    # --- what comes in

    def _on_frame(self, frame: Frame, now: float, events: list[LinkEvent]) -> None:
        self.counters.received += 1
        if frame.major != PROTOCOL_MAX >> 4:
            self.trace.received(now, frame)
            self.counters.foreign_version += 1
            self._greeting.foreign_version = frame.version
            return
        if not frame.flags & Flag.FROM_DEVICE:
            self.counters.echoes += 1
            self._greeting.echoed = True
            return
        self.trace.received(now, frame)
        if self.state not in (State.GREETING, State.ESTABLISHED):
            self.counters.stray += 1
            return
        self._heard_at = now
        self._greeting.heard_ours = True
        if not frame.flags & (Flag.SEQUENCED | Flag.MORE | Flag.CONTINUED):
            if frame.kind == _HELLO:
                self._on_hello(frame, now, events)
                return
            if frame.kind == _REFUSE:
                self._on_refuse(frame, now, events)
                return
        if self.state is not State.ESTABLISHED:
            self.counters.stray += 1
            return
        if frame.flags & Flag.ACK:
            self._sender.acknowledge(frame.ack, now)
        if frame.flags & Flag.SEQUENCED:
            self._on_sequenced(frame, now, events)
        else:
            self._on_unsequenced(frame, now, events)

    def _on_hello(self, frame: Frame, now: float, events: list[LinkEvent]) -> None:
        try:
            hello = decode(_HELLO, frame.payload)
        except WireError:
            self.counters.stray += 1
            return
        assert isinstance(hello, Hello)
        if self.state is State.ESTABLISHED:
            if self.peer is not None and (hello.session == 0 or hello.boot_id != self.peer.boot_id):
                events.append(PeerRestarted(hello.boot_id, self._sender.pending))
                self.trace.note(now, "the peer has started anew")
                self._begin(now)
            return
        if common_version(hello.proto_min, hello.proto_max) is None:
            self._refuse(RefuseReason.VERSION, "no common protocol version")
            events.append(VersionMismatch(hello.proto_min, hello.proto_max))
            self._end(now, "no common version")
        elif hello.session == self.session_number:
            self._establish(hello, now, events)
        elif hello.session == 0 and self._greeting.may_answer_start(now):
            self._say_hello()

    def _establish(self, hello: Hello, now: float, events: list[LinkEvent]) -> None:
        if self._expected_role is not None and hello.role != self._expected_role:
            self._refuse(RefuseReason.ROLE, f"{role_words(self._expected_role)} is wanted here")
            events.append(Refused(RefuseReason.ROLE, "", by_us=True, role=hello.role))
            self._end(now, "another kind of device")
            return
        version = common_version(hello.proto_min, hello.proto_max)
        assert version is not None
        restarted = self.peer is not None and self.peer.boot_id != hello.boot_id
        self.peer = hello
        self.version = version
        self.state = State.ESTABLISHED
        self._control.clear()
        window = min(self._hello.window, hello.window)
        self._sender.reset(window, hello.max_frame)
        self._receiver.reset(window)
        self.trace.note(now, f"session {self.session_number:08x} established")
        events.append(Established(hello, version, restarted))

    def _on_refuse(self, frame: Frame, now: float, events: list[LinkEvent]) -> None:
        try:
            refuse = decode(_REFUSE, frame.payload)
        except WireError:
            self.counters.stray += 1
            return
        assert isinstance(refuse, Refuse)
        if refuse.reason == RefuseReason.VERSION:
            events.append(VersionMismatch(refuse.proto_min, refuse.proto_max, refuse.text))
        else:
            events.append(Refused(refuse.reason, refuse.text))
        self._end(now, f"refused, reason {refuse.reason}")

    def _on_unsequenced(self, frame: Frame, now: float, events: list[LinkEvent]) -> None:
        if frame.flags & (Flag.MORE | Flag.CONTINUED):
            self.counters.stray += 1
        elif frame.kind == _BYE:
            try:
                bye = decode(_BYE, frame.payload)
            except WireError as error:
                self._reject(frame.kind, frame.address, 0, NakReason.MALFORMED, error.what, events)
                return
            assert isinstance(bye, Bye)
            events.append(PeerLeft(bye.reason, self._sender.pending))
            self._end(now, "BYE")
        elif frame.kind not in (_ACK, _PING):
            known = BY_KIND.get(frame.kind)
            if known is None:
                self._reject(frame.kind, frame.address, 0, NakReason.UNSUPPORTED, "unknown kind", events)
            else:
                # Without a number it could come twice, or out of order: it is not taken.
                self._reject(
                    frame.kind, frame.address, 0, NakReason.MALFORMED, f"{known.name} without a number", events
                )

    def _on_sequenced(self, frame: Frame, now: float, events: list[LinkEvent]) -> None:
        payload, given_up = self._receiver.take(frame, now)
        if given_up is not None:
            self._give_up(given_up, events)
        if payload is not None:
            self._on_message(frame, payload, events)

    def _on_message(self, frame: Frame, payload: bytes, events: list[LinkEvent]) -> None:
        known = BY_KIND.get(frame.kind)
        if known is not None and not known.sequenced:
            self._reject(
                frame.kind, frame.address, frame.seq, NakReason.MALFORMED, f"{known.name} with a number", events
            )
            return
        if known is None or known.direction is Direction.TO_DEVICE:
            detail = "unknown kind" if known is None else f"{known.name} is not for a host"
            self._reject(frame.kind, frame.address, frame.seq, NakReason.UNSUPPORTED, detail, events)
            return
        try:
            message = decode(frame.kind, payload, self.version & 0x0F)
        except WireError as error:
            self._reject(frame.kind, frame.address, frame.seq, NakReason.MALFORMED, error.what, events)
            return
        self.counters.messages_received += 1
        if isinstance(message, Nak):
            events.append(Unsupported(message, frame.address))
        else:
            events.append(MessageReceived(message, frame.address))

    def _give_up(self, given_up: Dropped, events: list[LinkEvent]) -> None:
        self._reject(given_up.kind, given_up.address, given_up.seq, NakReason.FRAGMENT, given_up.why, events)

    def _reject(
        self, kind: int, address: int, seq: int, reason: NakReason, detail: str, events: list[LinkEvent]
    ) -> None:
        events.append(MessageRejected(kind, address, reason, detail))
        if kind == _NAK:
            return  # two ends must not answer NAK with NAK for ever
        try:
            self._sender.enqueue(_NAK, address, encode(Nak(reason, kind, seq)))
        except LinkError:
            self.counters.stray += 1  # the queue is full; the event above tells the owner all the same

    # --- what goes out

    def _frame(self, kind: int, payload: bytes, address: int = 0, seq: int = 0, flags: int = 0) -> Frame:
        ack = 0
        if self.state is State.ESTABLISHED:
            flags |= Flag.ACK
            ack = self._receiver.acknowledged()
        return Frame(self.version, kind, address, seq, ack, int(flags), payload)

    def _queue_control(self, kind: int, message: Message) -> None:
        self._control.append(self._frame(kind, encode(message)))

    def _put(self, out: bytearray, now: float, frame: Frame) -> float:
        """Appends one frame; returns the moment at which its last byte will have left."""
        data = encode_frame(frame)
        out += data
        self.trace.sent(now, frame)
        self.counters.sent += 1
        self.counters.bytes_sent += len(data)
        self._sent_at = now
        self._line_free_at = max(self._line_free_at, now) + len(data) * self._seconds_per_byte
        return self._line_free_at
