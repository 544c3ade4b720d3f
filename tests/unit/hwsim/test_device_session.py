"""The devices' link session against the rules of docs/protocol.md, section 2."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest
from hwsim_host import Host, World
from hypothesis import given, settings
from hypothesis import strategies as st

from hwsim import codec, messages
from hwsim.codec import Frame, Splitter, encode_frame
from hwsim.line import Line
from hwsim.numbers import Kind, NakReason, RefuseReason, Role
from hwsim.session import Message, Session, SessionDown, SessionUp

HELLO: dict[str, Any] = {
    "proto_min": 0x10,
    "proto_max": 0x10,
    "role": Role.HOST,
    "window": 8,
    "max_frame": 240,
    "device_id": 7,
    "boot_id": 1,
    "boot_count": 1,
    "journal_id": 0,
    "oldest_unacked": 0,
    "next_seq": 0,
    "capabilities": 0,
    "session": 5,
    "model": "",
    "firmware": "",
    "commands": [],
}


def own_hello(session: int) -> dict[str, Any]:
    return {**HELLO, "role": Role.STATION, "device_id": 99, "window": 16, "session": session}


class Echo:
    """A device that answers every TEXT with the same TEXT."""

    role = "echo"

    def __init__(self, byte_time: float = 0.0, max_frame: int = 240) -> None:
        self.session = Session(own_hello, {Kind.TEXT}, 0.0, byte_time=byte_time, max_frame=max_frame)
        self.ups = 0
        self.downs: list[str] = []

    def receive(self, data: bytes, now: float) -> None:
        self.session.receive(data, now)
        self._work()

    def tick(self, now: float) -> None:
        self.session.tick(now)
        self._work()

    def _work(self) -> None:
        while self.session.events:
            event = self.session.events.popleft()
            if isinstance(event, Message):
                self.session.send(event.kind, event.fields, event.address)
            elif isinstance(event, SessionUp):
                self.ups += 1
            else:
                self.downs.append(event.reason)

    def next_deadline(self) -> float | None:
        return self.session.next_deadline()

    def take_output(self, room: int = 1 << 30) -> bytes:
        return self.session.take_output(room)

    def line_down(self, now: float) -> None:
        self.session.line_down()

    def bye(self, reason: int) -> None:
        self.session.bye(reason)

    def take_unplug(self) -> float | None:
        return None

    def close(self) -> None:
        return None

    def statistics(self) -> dict[str, object]:
        return {}


def frames(session: Session) -> list[Frame]:
    return Splitter().feed(session.take_output())


def told(frame: Frame) -> dict[str, Any]:
    return messages.decode(frame.kind, frame.payload)


def fed(session: Session, frame: Frame, now: float) -> list[Frame]:
    session.receive(encode_frame(frame), now)
    return frames(session)


def hello(**changes: Any) -> Frame:
    return Frame(Kind.HELLO, flags=0, payload=messages.encode(Kind.HELLO, {**HELLO, **changes}))


def text(seq: int, words: str = "hi", ack: int = 0) -> Frame:
    flags = codec.SEQUENCED | codec.ACK
    return Frame(Kind.TEXT, 3, seq, ack, flags, messages.encode(Kind.TEXT, {"urgent": 0, "text": words}))


def session_up(now: float = 0.0) -> Session:
    session = Session(own_hello, {Kind.TEXT}, now)
    frames(session)
    fed(session, hello(), now)
    session.events.clear()
    return session


@pytest.mark.parametrize("baud", [None, 115200])
@pytest.mark.parametrize("loss", [0.0, 0.2])
@pytest.mark.parametrize("max_frame", [240, 64])
def test_everything_arrives_once_and_in_order(baud: int | None, loss: float, max_frame: int) -> None:
    chance = random.Random(f"{baud}{loss}{max_frame}")
    echo = Echo(10 / baud if baud else 0.0)
    line = Line(echo, baud)
    world = World(line)
    host = world.host = Host(max_frame=max_frame)
    host.drop = lambda: chance.random() < loss
    deliver = echo.session._on_frame
    echo.session._on_frame = lambda f, now: deliver(f, now) if chance.random() >= loss else None  # type: ignore[method-assign,assignment]
    sent = [f"text {n} {'x' * chance.randrange(200)}" for n in range(300)]
    for words in sent:
        host.send(Kind.TEXT, {"urgent": 0, "text": words}, 3)
    world.run_until(lambda: len(host.told) >= len(sent) or bool(echo.downs), 600.0)
    if loss == 0.0:
        assert echo.session.retransmissions == 0
    got = [fields["text"] for _, _, fields in host.told]
    # Loss may end the session after five attempts or five unheard pings, but never reorders, doubles or invents.
    assert got == sent[: len(got)]
    assert got == sent or (loss and len(got) > 50)


def test_first_words() -> None:
    session = Session(own_hello, {Kind.TEXT}, 0.0)
    (first,) = frames(session)
    assert (first.kind, first.flags, told(first)["session"]) == (Kind.HELLO, codec.FROM_DEVICE, 0)
    assert fed(session, text(0), 0.1) == []  # nothing sequenced before a session
    (answer,) = fed(session, hello(), 0.2)
    assert (told(answer)["session"], told(answer)["device_id"]) == (5, 99)
    assert list(session.events) == [SessionUp(7)]
    # A repeat is answered and resets nothing; a new number resets.
    assert [f.kind for f in fed(session, text(0), 0.3)] == []
    session.tick(0.31)
    (ack,) = frames(session)
    assert (ack.kind, ack.ack, ack.flags) == (Kind.ACK, 1, codec.FROM_DEVICE | codec.ACK)
    (again,) = fed(session, hello(), 0.4)
    assert again.ack == 1
    (fresh,) = fed(session, hello(session=6), 0.5)
    assert fresh.ack == 0
    assert list(session.events)[-2:] == [SessionDown("new"), SessionUp(7)]


def test_refusals() -> None:
    session = session_up()
    (refuse,) = fed(session, hello(device_id=8, session=9), 0.1)
    assert (refuse.kind, told(refuse)["reason"]) == (Kind.REFUSE, RefuseReason.BUSY)
    fresh = Session(own_hello, {Kind.TEXT}, 0.0)
    frames(fresh)
    (refuse,) = fed(fresh, hello(proto_min=0x20, proto_max=0x31), 0.1)
    assert told(refuse)["reason"] == RefuseReason.VERSION
    foreign = Frame(Kind.HELLO, flags=0xFF, payload=b"another layout", version=0x20)
    (refuse,) = fed(fresh, foreign, 0.2)
    assert told(refuse)["reason"] == RefuseReason.VERSION
    (refuse,) = fed(fresh, hello(role=Role.MACHINE), 0.3)
    assert told(refuse)["reason"] == RefuseReason.ROLE
    assert not fresh.up
    # A higher minor version is spoken as 1.0.
    (answer,) = fed(fresh, hello(proto_max=0x13), 0.4)
    assert answer.kind == Kind.HELLO


def test_what_is_dropped_and_what_is_named() -> None:
    session = session_up()
    echo = Frame(Kind.TEXT, 3, 0, 0, codec.SEQUENCED | codec.FROM_DEVICE, text(0).payload)
    assert fed(session, echo, 0.1) == []
    assert fed(session, Frame(Kind.TEXT, 3, 0, 0, codec.SEQUENCED | 0x40, text(0).payload), 0.1) == []
    assert not session.events
    (nak,) = fed(session, Frame(0x5F, 0, 0, 0, codec.SEQUENCED, b""), 0.2)
    assert told(nak) == {"reason": NakReason.UNSUPPORTED, "kind": 0x5F, "seq": 0}
    (nak,) = fed(session, Frame(Kind.TEXT, 3, 1, 1, codec.SEQUENCED | codec.ACK, b"\x00\x05ab"), 0.3)
    assert told(nak) == {"reason": NakReason.MALFORMED, "kind": Kind.TEXT, "seq": 1}
    (nak,) = fed(session, Frame(Kind.TEXT, 3, 2, 2, codec.SEQUENCED | codec.ACK, text(0).payload + b"x"), 0.4)
    assert told(nak)["reason"] == NakReason.MALFORMED
    fed(session, text(3), 0.5)
    assert [e.fields["text"] for e in session.events if isinstance(e, Message)] == ["hi"]
    # Out of turn: dropped, and told at once what is expected.
    (ack,) = fed(session, text(9), 0.6)
    assert (ack.kind, ack.ack) == (Kind.ACK, 4)
    (ack,) = fed(session, text(3), 0.7)
    assert (ack.kind, ack.ack) == (Kind.ACK, 4)
    assert len(session.events) == 1


def test_fragments_have_a_limit_and_a_time() -> None:
    session = session_up()
    piece = bytes(231)
    seq = 0
    out: list[Frame] = []
    for number in range(80):
        flags = codec.SEQUENCED | codec.MORE | (codec.CONTINUED if number else 0)
        out += fed(session, Frame(Kind.TEXT, 3, seq, 0, flags, piece), 0.1)
        seq = (seq + 1) & 255
    naks = [told(f) for f in out if f.kind == Kind.NAK]
    assert naks == [{"reason": NakReason.FRAGMENT, "kind": Kind.TEXT, "seq": 70}]  # 71 pieces are 16401 bytes
    session = session_up()
    fed(session, Frame(Kind.TEXT, 3, 0, 0, codec.SEQUENCED | codec.MORE, b"\x00\x02a"), 0.1)
    fed(session, Frame(Kind.PING, flags=0, payload=bytes(4)), 4.0)
    session.tick(5.05)
    assert Kind.NAK not in [f.kind for f in frames(session)]
    session.tick(5.2)
    (nak,) = [f for f in frames(session) if f.kind == Kind.NAK]
    assert told(nak) == {"reason": NakReason.FRAGMENT, "kind": Kind.TEXT, "seq": 0}
    fed(session, Frame(Kind.TEXT, 3, 1, 0, codec.SEQUENCED | codec.CONTINUED, b"b"), 5.3)
    assert not session.events


def test_five_transmissions_and_then_lost() -> None:
    session = session_up()
    session.send(Kind.TEXT, {"urgent": 0, "text": "?"}, 3)
    at: list[float] = []
    now = 0.0
    while session.up:
        now = session.next_deadline() or now
        if now >= 0.9 * len(at):  # the host talks but never acknowledges
            session.receive(encode_frame(Frame(Kind.PING, flags=0, payload=bytes(4))), now)
        session.tick(now)
        at += [now for f in frames(session) if f.kind == Kind.TEXT]
        assert now < 60.0
        if now >= 1.0 and session.up:
            session.receive(encode_frame(Frame(Kind.PING, flags=0, payload=bytes(4))), now)
    assert len(at) == 5
    gaps = [b - a for a, b in pairwise(at)]
    assert all(b > a for a, b in pairwise(gaps))
    assert session.events[-1] == SessionDown("lost")


@pytest.mark.parametrize(("stall", "up"), [(0.9, True), (2.9, True), (7.0, False)])
def test_a_host_that_stands_still_for_a_while_is_not_lost(stall: float, up: bool) -> None:
    session = session_up()
    for number in range(20):
        session.send(Kind.TEXT, {"urgent": 0, "text": "?"}, 3)
        session.tick(number / 10)
        frames(session)
        session.receive(encode_frame(Frame(Kind.ACK, ack=number + 1, flags=codec.ACK)), number / 10 + 0.004)
    session.send(Kind.TEXT, {"urgent": 0, "text": "!"}, 3)
    session.tick(2.0)
    frames(session)
    while session.up and (now := session.next_deadline() or 0.0) < 2.0 + stall:
        session.tick(now)
        frames(session)
    assert session.up == up


def test_silence_ends_a_session_and_pings_fill_it() -> None:
    session = session_up()
    pings, now = [], 0.0
    while session.up:
        now = session.next_deadline() or 0.0
        session.tick(now)
        pings += [now for f in frames(session) if f.kind == Kind.PING]
    assert now == pytest.approx(5.0)
    assert pings == pytest.approx([1.0, 2.0, 3.0, 4.0])
    assert session.events[-1] == SessionDown("silence")
    assert session.next_deadline() is None


def test_bye_ends_it_too() -> None:
    session = session_up()
    fed(session, Frame(Kind.BYE, flags=0, payload=b"\x01"), 0.1)
    assert not session.up
    assert not session.send(Kind.TEXT, {"urgent": 0, "text": ""})


def test_window_is_kept_and_counts_around() -> None:
    session = session_up()
    for _ in range(600):
        session.send(Kind.TEXT, {"urgent": 0, "text": "x"}, 3)
    expected, now = 0, 0.0
    while expected < 600:
        got = [f for f in frames(session) if f.kind == Kind.TEXT]
        assert 1 <= len(got) <= 8
        assert [f.seq for f in got] == [(expected + i) & 255 for i in range(len(got))]
        expected += len(got)
        now += 0.01
        fed_back = Frame(Kind.ACK, flags=codec.ACK, ack=expected & 255)
        session.receive(encode_frame(fed_back), now)
    assert session.backlog() == 0


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=4000), st.lists(st.integers(1, 300), max_size=10))
def test_noise_never_ends_a_session_and_memory_is_bounded(noise: bytes, cuts: list[int]) -> None:
    session = session_up()
    at = 0
    for cut in [*cuts, len(noise)]:
        session.receive(noise[at : at + cut], 0.1)
        at += cut
        assert len(session._splitter._held) <= Splitter.LIMIT
    assert session.up
    session.receive(b"\x00" + encode_frame(text(0)), 0.2)
    assert [e.fields["text"] for e in session.events if isinstance(e, Message)] == ["hi"]


@given(st.binary(max_size=600))
def test_cobs_is_its_own_inverse_and_has_no_zero(data: bytes) -> None:
    encoded = codec.cobs_encode(data)
    assert 0 not in encoded
    assert len(encoded) <= len(data) + 1 + len(data) // 254
    assert codec.cobs_decode(encoded) == data


@given(st.binary(max_size=100))
def test_crc_by_the_definition(data: bytes) -> None:
    register = 0xFFFF
    for byte in data:
        for bit in range(7, -1, -1):
            top = register >> 15 ^ (byte >> bit & 1)
            register = (register << 1 & 0xFFFF) ^ (0x1021 if top else 0)
    assert codec.crc16(data) == register
    assert codec.crc16(b"123456789") == 0x29B1
