"""The device's end of a link session, without any I/O (docs/protocol.md section 2): a home-built machine's link.

Bytes and time go in; bytes, events and the next deadline come out, as with the host's end. The halves that number and
repeat frames are the same code on both sides; who begins, who refuses and who falls silent is told apart here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from firmware_bridge.link.reassembly import Dropped
from firmware_bridge.link.receiver import SequencedReceiver
from firmware_bridge.link.sender import QueueFull, SequencedSender
from firmware_bridge.wire.frames import PROTOCOL_MAX, PROTOCOL_MIN, Flag, Frame, FrameDecoder, encode_frame
from firmware_bridge.wire.layout import Direction
from firmware_bridge.wire.messages import BY_CLASS, BY_KIND, Ack, Bye, Hello, Message, Nak, Ping, Refuse, decode, encode
from firmware_bridge.wire.numbers import ByeReason, NakReason, RefuseReason, Role
from firmware_bridge.wire.wire_error import WireError

WINDOW = 16
SILENCE = 5.0
PING_AFTER = 1.0

_MAJOR = PROTOCOL_MAX >> 4


@dataclass(frozen=True, slots=True)
class SessionBegan:
    """A host has begun a session; nothing of an older one will be delivered."""


@dataclass(frozen=True, slots=True)
class SessionOver:
    """There is no host any more, or a new session takes the old one's place."""


LinkInput = SessionBegan | SessionOver | Message


class DeviceLink:
    """``hello(session)`` gives the device's own HELLO; ``accepts`` are the message classes that it takes."""

    def __init__(self, hello: Callable[[int], Hello], accepts: tuple[type, ...], now: float) -> None:
        self._hello = hello
        self._accepts = accepts
        self._decoder = FrameDecoder()
        self._sender = SequencedSender()
        self._receiver = SequencedReceiver()
        self._control: deque[Message] = deque(maxlen=8)
        self._started = now
        self.up = False
        self._session = 0
        self._host_id = 0
        self._heard_at = self._sent_at = now
        self._control.append(hello(0))

    # --- what the device asks ------------------------------------------------------------------------------------

    def send(self, message: Message) -> bool:
        """Queue a message for the host. False, and nothing queued, without a session or without room."""
        if not self.up:
            return False
        try:
            self._sender.enqueue(BY_CLASS[type(message)].kind, 0, encode(message))
        except QueueFull:
            return False
        return True

    def bye(self, reason: ByeReason) -> None:
        """End the session politely; the last ``take_output`` carries it."""
        if self.up:
            self._control.append(Bye(reason))
            self._drop()

    def line_down(self) -> list[LinkInput]:
        """The carrier itself says that nobody is there any more."""
        return self._end()

    # --- time and bytes ------------------------------------------------------------------------------------------

    def next_deadline(self) -> float | None:
        """When ``tick`` and ``take_output`` are due; ``take_output`` belongs after everything else as well."""
        if not self.up:
            return None
        due = [self._heard_at + SILENCE, self._sent_at + PING_AFTER, *self._receiver.deadlines()]
        repeat = self._sender.deadline()
        return min(due if repeat is None else [*due, repeat])

    def tick(self, now: float) -> list[LinkInput]:
        if not self.up:
            return []
        if now >= self._heard_at + SILENCE:
            return self._end()
        given_up = self._receiver.expire(now)
        if given_up is not None:
            self._refuse_message(given_up.kind, given_up.seq, NakReason.FRAGMENT)
        if not self._sender.expire(now):
            self._control.append(Bye(ByeReason.RESTART))
            return self._end()
        return []

    def receive(self, data: bytes, now: float) -> list[LinkInput]:
        """Takes bytes in any pieces; returns what they mean, in order."""
        inputs: list[LinkInput] = []
        for frame in self._decoder.feed(data):
            self._on_frame(frame, now, inputs)
        return inputs

    def take_output(self, now: float) -> bytes:
        """All bytes that should go to the line now."""
        out = bytearray()
        while self._control:
            message = self._control.popleft()
            self._emit(out, now, BY_CLASS[type(message)].kind, 0, 0, 0, encode(message))
        if self.up:
            for item in self._sender.output():
                item.sent_at = now
                self._emit(out, now, item.kind, item.address, item.seq, item.flags, item.payload)
            ack_due = self._receiver.ack_due
            if ack_due is not None and now >= ack_due:
                self._emit(out, now, BY_CLASS[Ack].kind, 0, 0, 0, b"")
            if now >= self._sent_at + PING_AFTER:
                uptime = int((now - self._started) * 1000) & 0xFFFFFFFF
                self._emit(out, now, BY_CLASS[Ping].kind, 0, 0, 0, encode(Ping(uptime)))
        return bytes(out)

    # --- inside --------------------------------------------------------------------------------------------------

    def _emit(self, out: bytearray, now: float, kind: int, address: int, seq: int, flags: int, payload: bytes) -> None:
        flags |= Flag.FROM_DEVICE
        ack = 0
        if self.up:
            flags |= Flag.ACK
            ack = self._receiver.acknowledged()
        out += encode_frame(Frame(PROTOCOL_MAX, kind, address, seq, ack, int(flags), payload))
        self._sent_at = now

    def _drop(self) -> None:
        self.up = False
        self._session = 0
        self._sender.reset(window=1, max_frame=0)
        self._receiver.reset(window=1)

    def _end(self) -> list[LinkInput]:
        if not self.up:
            return []
        self._drop()
        return [SessionOver()]

    def _on_frame(self, frame: Frame, now: float, inputs: list[LinkInput]) -> None:
        if frame.major != _MAJOR:
            if frame.kind == BY_CLASS[Hello].kind:
                self._refuse(RefuseReason.VERSION, "this machine speaks version 1.0")
            return
        if frame.flags & Flag.FROM_DEVICE:
            return
        sequenced = bool(frame.flags & Flag.SEQUENCED)
        if frame.kind == BY_CLASS[Hello].kind and not sequenced:
            self._on_hello(frame, now, inputs)
            return
        if not self.up:
            return
        self._heard_at = now
        if frame.flags & Flag.ACK:
            self._sender.acknowledge(frame.ack, now)
        if sequenced:
            payload, given_up = self._receiver.take(frame, now)
            self._on_sequenced(frame, payload, given_up, inputs)
        elif frame.kind in (BY_CLASS[Bye].kind, BY_CLASS[Refuse].kind):
            inputs += self._end()
        elif frame.kind not in BY_KIND:
            self._refuse_message(frame.kind, 0, NakReason.UNSUPPORTED)

    def _on_sequenced(
        self, frame: Frame, payload: bytes | None, given_up: Dropped | None, inputs: list[LinkInput]
    ) -> None:
        if given_up is not None:
            self._refuse_message(given_up.kind, given_up.seq, NakReason.FRAGMENT)
        if payload is None or frame.kind == BY_CLASS[Nak].kind:
            return
        known = BY_KIND.get(frame.kind)
        if known is None or known.direction is not Direction.TO_DEVICE or not issubclass(known.cls, self._accepts):
            self._refuse_message(frame.kind, frame.seq, NakReason.UNSUPPORTED)
            return
        try:
            inputs.append(decode(frame.kind, payload))
        except WireError:
            self._refuse_message(frame.kind, frame.seq, NakReason.MALFORMED)

    def _on_hello(self, frame: Frame, now: float, inputs: list[LinkInput]) -> None:
        try:
            hello = decode(frame.kind, frame.payload)
        except WireError:
            return
        assert isinstance(hello, Hello)
        if hello.session == 0:
            return
        if not hello.proto_min >> 4 <= _MAJOR <= hello.proto_max >> 4:
            self._refuse(RefuseReason.VERSION, "this machine speaks version 1.0")
        elif hello.role != Role.HOST:
            self._refuse(RefuseReason.ROLE, "this is a device; it wants a host")
        elif self.up and hello.device_id != self._host_id:
            self._refuse(RefuseReason.BUSY, "another host holds this machine")
        else:
            if not self.up or hello.session != self._session:
                inputs += self._end()
                self.up = True
                self._session = hello.session
                self._host_id = hello.device_id
                self._sender.reset(min(WINDOW, hello.window), hello.max_frame)
                self._receiver.reset(WINDOW)
                inputs.append(SessionBegan())
            self._heard_at = now
            self._control.append(self._hello(self._session))

    def _refuse(self, reason: RefuseReason, text: str) -> None:
        self._control.append(Refuse(reason, PROTOCOL_MIN, PROTOCOL_MAX, text))

    def _refuse_message(self, kind: int, seq: int, reason: NakReason) -> None:
        self.send(Nak(reason, kind, seq))
