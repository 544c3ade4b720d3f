"""What a session makes of messages, of noise, and what it keeps of them."""

from __future__ import annotations

import random
import struct
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from link_hand import BYE, HELLO, HOPPER, NAK, PING, greeted, hopper, kinds, new, out
from link_peer import ACK, DEV, SEQ, hello, wrap

from firmware_bridge.errors import FirmwareBridgeError, LinkError
from firmware_bridge.link.events import (
    MessageReceived,
    MessageRejected,
    Unsupported,
)
from firmware_bridge.link.greeting import host_hello
from firmware_bridge.link.sender import QueueFull
from firmware_bridge.link.session import Session
from firmware_bridge.wire.messages import Arm, HopperEvent, Nak, Ping, Snapshot, Text
from firmware_bridge.wire.numbers import NakReason
from firmware_bridge.wire.wire_error import WireError


def test_an_unknown_kind_is_answered_and_the_session_goes_on():
    session = greeted()
    events = session.receive(wrap(0xF0, b"abc", address=5, seq=0, flags=SEQ | DEV), 0.1)
    assert events == [MessageRejected(0xF0, 5, NakReason.UNSUPPORTED, "unknown kind")]
    (frame,) = out(session, 0.1)
    assert (frame[1], frame[2], frame[4], frame[5], frame[6]) == (NAK, 5, 1, SEQ | ACK, b"\x01\xf0\x00")
    assert session.receive(hopper(1), 0.2) == [MessageReceived(HopperEvent(1), 0)]


def test_a_malformed_payload_is_answered():
    session = greeted()
    (event,) = session.receive(wrap(HOPPER, b"ab", seq=0, flags=SEQ | DEV), 0.1)
    assert (event.kind, event.reason) == (HOPPER, NakReason.MALFORMED)
    assert out(session, 0.1)[0][6] == bytes([2, HOPPER, 0])


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (wrap(0x27, b"", seq=0, flags=SEQ | DEV), NakReason.UNSUPPORTED),  # to the machine
        (wrap(PING, bytes(4), seq=0, flags=SEQ | DEV), NakReason.MALFORMED),  # has no number
        (wrap(HELLO, hello(0), seq=0, flags=SEQ | DEV), NakReason.MALFORMED),
        (wrap(HOPPER, b"\x01", flags=DEV), NakReason.MALFORMED),  # needs a number
        (wrap(0xF1, b"", flags=DEV), NakReason.UNSUPPORTED),
        (wrap(BYE, b"", flags=DEV), NakReason.MALFORMED),
    ],
)
def test_messages_that_have_no_place_are_answered(frame, reason):
    session = greeted()
    (event,) = session.receive(frame, 0.1)
    assert (type(event), event.reason) == (MessageRejected, reason)
    assert kinds(out(session, 0.1)) == [NAK]
    assert session.established


def test_nak_is_told_and_never_answered_by_nak():
    session = greeted()
    nak = wrap(NAK, b"\x01\x20\x05", address=4, seq=0, flags=SEQ | DEV)
    assert session.receive(nak, 0.1) == [Unsupported(Nak(1, 0x20, 5), 4)]
    (event,) = session.receive(wrap(NAK, b"\x01", seq=1, flags=SEQ | DEV), 0.1)
    assert event.reason == NakReason.MALFORMED
    session.receive(wrap(PING, bytes(4), flags=ACK | DEV), 0.1)
    assert NAK not in kinds(out(session, 0.2))


def test_many_bad_messages_do_not_fill_the_memory():
    session = greeted(queue_limit=20)
    now = 0.0
    for number in range(600):
        session.receive(wrap(0xF0, b"", seq=number % 256, flags=SEQ | DEV), now)
    assert session.pending <= 20
    assert session.counters.stray == 600 - session.pending


def test_the_queue_is_bounded():
    session = greeted(queue_limit=10)
    for _ in range(10):
        session.send(Snapshot(), 0, 0.0)
    with pytest.raises(QueueFull):
        session.send(Snapshot(), 0, 0.0)
    assert session.pending == 10
    out(session, 0.0)
    session.send(Snapshot(), 0, 0.0)
    assert session.pending == 11


@pytest.mark.parametrize("message", [Ping(1), Nak(1, 2, 3), HopperEvent(1), host_hello(1, 2, 3, "")])
def test_only_a_hosts_messages_are_sent(message):
    with pytest.raises(ValueError, match="not a message"):
        greeted().send(message, 0, 0.0)


def test_send_outside_a_session_and_of_bad_values():
    session = new()
    with pytest.raises(LinkError) as caught:
        session.send(Snapshot(), 0, 0.0)
    assert caught.value.code == "not-established"
    session = greeted()
    with pytest.raises(WireError):
        session.send(Text(0, "x" * 300), 0, 0.0)
    with pytest.raises(WireError):
        session.send(Snapshot(), 70000, 0.0)
    assert session.pending == 0


def frames_of_any_kind():
    return st.builds(
        wrap,
        st.integers(0, 255),
        st.binary(max_size=60),
        st.integers(0, 3),
        st.integers(0, 8),
        st.integers(0, 255),
        st.integers(0, 31),
        st.sampled_from([0x10, 0x10, 0x10, 0x11, 0x20]),
    )


@settings(max_examples=200)
@given(st.lists(frames_of_any_kind() | st.binary(max_size=50), max_size=30), st.booleans())
def test_no_bytes_ever_raise(pieces, established):
    session = greeted() if established else new()
    if not established:
        session.start(0.0)
    now = 0.0
    for data in pieces:
        now += 0.05
        for event in session.receive(data, now) + session.tick(now):
            if hasattr(event, "error"):
                assert isinstance(event.error("port"), FirmwareBridgeError)
        session.take_output(now)
        session.next_deadline()


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 40))
def test_damage_never_makes_a_message_that_was_not_sent(rng, count):
    session = greeted()
    sent = [HopperEvent(rng.randrange(256)) for _ in range(count)]
    stream = bytearray(b"".join(hopper(seq, message.hopper) for seq, message in enumerate(sent)))
    for _ in range(rng.randint(1, 2 * count)):
        at = rng.randrange(len(stream))
        if rng.random() < 0.6:
            stream[at] ^= 1 << rng.randrange(8)
        elif rng.random() < 0.5:
            del stream[at : at + rng.randint(1, 3)]
        else:
            stream[at:at] = rng.randbytes(rng.randint(1, 30))
    events = session.receive(bytes(stream), 0.0)
    got = [event.message for event in events if isinstance(event, MessageReceived)]
    assert got == sent[: len(got)]


def test_memory_stays_bounded_under_ten_megabytes_of_noise():
    session = greeted()
    rng = random.Random(3)
    noise = rng.randbytes(65536)
    session.receive(noise, 0.0)
    tracemalloc.start()
    for number in range(160):
        now = number / 1000
        session.receive(noise[rng.randrange(1000) :], now)
        session.tick(now)
        session.take_output(now)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
    assert session.decoder_counters["bytes_seen"] > 10_000_000
    assert session.receive(b"\0" + hopper(0), 0.5) == [MessageReceived(HopperEvent(1), 0)]


def test_the_trace_keeps_the_last_200_lines_without_cards():
    session = greeted()
    routing = bytes([0xB7, 0xC3] * 6 + [0xB7])
    session.send(Arm(1, 2, 3, 4, routing, bytes(8)), 0, 0.0)
    session.receive(
        wrap(0x34, struct.pack("<IBHBBBBBHIHH", 1, 2, 0xB7C3, 3, 4, 5, 0, 1, 2, 3, 4, 5), flags=SEQ | DEV), 0.0
    )
    session.take_output(0.0)
    session.receive(b"\0\xb7\xc3\xb7\xc3\xb7\xc3\xb7\xc3\0", 0.0)
    lines = session.trace.lines()
    assert any("> 1.0 20 ARM" in line and line.endswith("hidden") for line in lines)
    assert any("< 1.0 34 CARD" in line and line.endswith("hidden") for line in lines)
    assert any("no frames" in line for line in lines)
    assert not any("b7c3" in line or "c3b7" in line for line in lines)
    for number in range(300):
        session.receive(wrap(PING, bytes(4), flags=ACK | DEV), float(number))
    lines = session.trace.lines()
    assert len(lines) == 200
    assert lines[-1].startswith("299.0000 < 1.0 03 PING")


def test_session_numbers_are_never_zero_nor_the_last_one():
    class Numbers:
        def __init__(self):
            self.next = iter([0, 5, 5, 0, 6])

        def getrandbits(self, k):
            assert k == 32
            return next(self.next)

    session = Session(host_hello(1, 2, 3, ""), None, Numbers())
    session.start(0.0)
    assert session.session_number == 5
    session.close(0.0)
    session.start(0.0)
    assert session.session_number == 6
