"""The rules of numbers, acknowledgement, window, repeats and fragments (section 2 of the page), one by one."""

from __future__ import annotations

import dataclasses
import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from link_hand import ACK_KIND, HELLO, NAK, PING, TEXT, greeted, greeting_of, hopper, kinds, new, out
from link_peer import ACK, CONT, DEV, MORE, SEQ, hello, split, wrap

from firmware_bridge.errors import LinkLost
from firmware_bridge.link.events import (
    Lost,
    MessageReceived,
    MessageRejected,
)
from firmware_bridge.link.greeting import host_hello
from firmware_bridge.link.retransmit import RetransmitTimer
from firmware_bridge.link.sender import MAX_MESSAGE
from firmware_bridge.link.session import Session
from firmware_bridge.wire.messages import HopperEvent, Snapshot, TablePlan, Text
from firmware_bridge.wire.numbers import NakReason
from firmware_bridge.wire.terminal_messages import PlanRound


def test_frames_are_numbered_and_every_frame_acknowledges():
    session = greeted()
    session.send(Text(0, "a"), 7, 0.0)
    session.send(Snapshot(), 0, 0.0)
    assert session.pending == 2
    first, second = out(session, 0.0)
    assert (first[1], first[2], first[3], first[4], first[5]) == (TEXT, 7, 0, 0, SEQ | ACK)
    assert (second[1], second[2], second[3]) == (0x27, 0, 1)
    session.receive(hopper(0) + hopper(1), 0.1)
    session.send(Snapshot(), 0, 0.1)
    (third,) = out(session, 0.1)
    assert third[3:6] == (2, 2, SEQ | ACK)
    # piggy-backed: nothing more is due
    assert out(session, 0.2) == []
    session.receive(wrap(ACK_KIND, ack=3, flags=ACK | DEV), 0.2)
    assert session.pending == 0


def test_an_acknowledgement_goes_out_within_ten_milliseconds():
    session = greeted(peer=None)
    session.receive(hopper(0), 1.0)
    assert session.next_deadline() <= 1.01
    assert kinds(out(session, 1.0)) == [PING]  # a second without a word: it carries the acknowledgement
    session.receive(hopper(1), 1.1)
    assert out(session, 1.1) == []
    due = session.next_deadline()
    assert 1.1 < due <= 1.11
    (frame,) = out(session, due)
    assert (frame[1], frame[3], frame[4], frame[5], frame[6]) == (ACK_KIND, 0, 2, ACK, b"")
    assert out(session, due + 0.02) == []


@pytest.mark.parametrize(("window", "sooner"), [(1, 1), (2, 1), (8, 4), (64, 8)])
def test_half_a_window_is_acknowledged_at_once(window, sooner):
    session = new()
    session.start(0.0)
    session.take_output(0.0)
    session.receive(greeting_of(session, window=window), 0.0)
    for seq in range(sooner):
        assert out(session, 0.1) == []
        session.receive(hopper(seq), 0.1)
    (frame,) = out(session, 0.1)
    assert (frame[1], frame[4]) == (ACK_KIND, sooner)


def test_only_the_next_number_is_taken_and_others_are_answered_at_once():
    session = greeted()
    assert session.receive(hopper(1), 0.1) == []
    assert [(frame[1], frame[4]) for frame in out(session, 0.1)] == [(ACK_KIND, 0)]
    assert len(session.receive(hopper(0) + hopper(0) + hopper(1), 0.2)) == 2
    assert session.receive(hopper(0), 0.3) == []
    assert [(frame[1], frame[4]) for frame in out(session, 0.3)] == [(ACK_KIND, 2)]


@given(window=st.integers(0, 255), own=st.integers(1, 64), count=st.integers(1, 100))
def test_no_more_than_the_window_is_unacknowledged(window, own, count):
    mine = dataclasses.replace(host_hello(1, 2, 3, ""), window=own)
    session = Session(mine, None, random.Random(1))
    session.start(0.0)
    session.take_output(0.0)
    session.receive(greeting_of(session, window=window), 0.0)
    for _ in range(count):
        session.send(Snapshot(), 0, 0.0)
    allowed = max(1, min(window, own, 64))
    acked = 0
    while acked < count:
        frames = out(session, 0.0)
        assert len(frames) == min(allowed, count - acked)
        assert [frame[3] for frame in frames] == [(acked + n) % 256 for n in range(len(frames))]
        acked += len(frames)
        session.receive(wrap(ACK_KIND, ack=acked % 256, flags=ACK | DEV), 0.0)
        assert session.pending == count - acked


def test_five_transmissions_with_doubled_waits_and_then_lost():
    session = greeted()
    session.send(Text(1, "keep"), 3, 0.0)
    sent = [(0.0, out(session, 0.0))]
    events = []
    heard = 0.0
    while not events:
        now = session.next_deadline()
        if now >= heard + 0.9:
            heard = now
            session.receive(wrap(PING, bytes(4), flags=ACK | DEV), now)  # alive, but it never acknowledges
        events = session.tick(now)
        frames = [frame for frame in out(session, now) if frame[1] == TEXT]
        if frames:
            sent.append((now, frames))
    assert [at for at, _ in sent] == [0.0, 0.5, 1.5, 3.5, 7.5]
    assert {frames[0][3] for _, frames in sent} == {0}
    assert now == 7.5 + 5.0  # 8 s would be the double; 5 s is the most
    assert events == [Lost(silent=False, undelivered=1)]
    assert isinstance(events[0].error(), LinkLost)
    assert session.next_deadline() is None
    assert session.take_output(now) == b""


def quick(session):
    """The line answers in 4 ms: five transmissions would be over in less than a second."""
    for number in range(20):
        now = number / 10
        session.send(Text(0, "a"), 0, now)
        out(session, now)
        session.receive(wrap(ACK_KIND, ack=number + 1, flags=ACK | DEV), now + 0.004)
    return session


@pytest.mark.parametrize("stall", [0.9, 2.0, 2.9])
def test_a_peer_that_stands_still_for_a_while_is_not_lost(stall):
    session = quick(greeted())
    session.send(Text(0, "b"), 0, 2.0)
    out(session, 2.0)
    sent = 1
    while (now := session.next_deadline()) < 2.0 + stall:
        assert session.tick(now) == []
        sent += len([frame for frame in out(session, now) if frame[1] == TEXT])
    assert sent > 5
    session.receive(wrap(ACK_KIND, ack=21, flags=ACK | DEV), 2.0 + stall)
    assert session.pending == 0
    assert session.established


def test_on_a_quick_line_too_a_peer_that_never_acknowledges_is_lost():
    session = quick(greeted())
    session.send(Text(0, "b"), 0, 2.0)
    out(session, 2.0)
    events = []
    while not events:
        now = session.next_deadline()
        session.receive(wrap(PING, bytes(4), flags=ACK | DEV), now)
        events = session.tick(now)
        out(session, now)
    assert events == [Lost(silent=False, undelivered=1)]
    assert 2.0 + 3.0 <= now <= 2.0 + 2 * 3.0 + 0.1


def test_all_unacknowledged_frames_are_repeated_and_progress_starts_the_count_anew():
    session = greeted()
    for number in range(3):
        session.send(Text(0, str(number)), 0, 0.0)
    assert [frame[3] for frame in out(session, 0.0)] == [0, 1, 2]
    assert session.tick(0.5) == []
    assert [frame[3] for frame in out(session, 0.5)] == [0, 1, 2]
    session.receive(wrap(ACK_KIND, ack=1, flags=ACK | DEV), 0.6)
    now = 0.6
    repeats = []
    while session.established:
        now = session.next_deadline()
        session.receive(wrap(PING, bytes(4), flags=ACK | DEV, ack=1), now)
        session.tick(now)
        repeats += [frame[3] for frame in out(session, now) if frame[1] == TEXT]
    assert repeats == [1, 2] * 4
    assert session.retransmissions == 3 + 8


@pytest.mark.parametrize("ack", [3, 100, 255])
def test_an_impossible_acknowledgement_is_ignored(ack):
    session = greeted()
    session.send(Snapshot(), 0, 0.0)
    session.send(Snapshot(), 0, 0.0)
    out(session, 0.0)
    session.receive(wrap(ACK_KIND, ack=ack, flags=ACK | DEV), 0.1)
    assert session.pending == 2
    session.receive(wrap(ACK_KIND, ack=2, flags=DEV), 0.1)  # without the flag the field means nothing
    assert session.pending == 2


def test_the_time_out_is_the_smoothed_round_trip_and_four_times_its_variation():
    timer = RetransmitTimer()
    assert timer.timeout == 0.5
    timer.sample(0.1)
    assert timer.timeout == pytest.approx(0.1 + 4 * 0.05)
    timer.sample(0.2)
    variation = 0.05 + (0.1 - 0.05) / 4
    smoothed = 0.1 + 0.1 / 8
    assert timer.timeout == pytest.approx(smoothed + 4 * variation)
    timer.back_off()
    assert timer.timeout == pytest.approx(2 * (smoothed + 4 * variation))
    measured = smoothed + 4 * variation
    timer.back_off()
    timer.relax()
    assert timer.timeout == pytest.approx(2 * measured)
    timer.relax()
    timer.relax()
    assert timer.timeout == pytest.approx(measured)
    for _ in range(10):
        timer.back_off()
    assert timer.timeout == 5.0
    for _ in range(200):
        timer.sample(0.0001)
    assert timer.timeout == 0.025
    for _ in range(200):
        timer.sample(60.0)
    assert timer.timeout == 5.0
    timer.sample(-1.0)
    assert timer.smoothed >= 0


def test_frames_sent_twice_are_not_measured():
    session = greeted()
    session.send(Snapshot(), 0, 0.0)
    out(session, 0.0)
    session.tick(0.5)
    out(session, 0.5)
    session.receive(wrap(ACK_KIND, ack=1, flags=ACK | DEV), 0.51)
    assert session.round_trip is None
    session.send(Snapshot(), 0, 1.0)
    out(session, 1.0)
    session.receive(wrap(ACK_KIND, ack=2, flags=ACK | DEV), 1.04)
    assert session.round_trip == pytest.approx(0.04)


@pytest.mark.parametrize(("pace", "repeated"), [(960, False), (None, True)])
def test_the_time_on_a_slow_line_is_not_taken_for_silence(pace, repeated):
    session = greeted(bytes_per_second=pace)
    now = 0.2
    for number in range(1, 21):  # short frames first, so that the time-out is short
        session.send(Snapshot(), 0, now)
        now += len(session.take_output(now)) / 960 + 0.008
        session.receive(wrap(ACK_KIND, ack=number, flags=ACK | DEV), now)
    for _ in range(8):
        session.send(Text(0, "x" * 220), 0, now)
    data = session.take_output(now)
    assert len(split(data)) == 8
    for number in range(1, 9):
        arrives = now + number * len(data) / 8 / 960  # the line needs 1.9 s for all of them
        while (due := session.next_deadline()) < arrives + 0.008:
            assert session.tick(due) == []
            session.take_output(due)
        session.receive(wrap(ACK_KIND, ack=20 + number, flags=ACK | DEV), arrives + 0.008)
    assert session.pending == 0
    assert (session.retransmissions > 0) == repeated
    if pace:
        assert session.round_trip == pytest.approx(0.008)


PLAN = TablePlan(1, 2, 3, 4, (PlanRound(1, 2, 3, 4, 5, 0, 0, 0, 0),) * 40)


@pytest.mark.parametrize("max_frame", [64, 100, 240, 5000, 0])
def test_a_long_message_is_cut_for_the_peer(max_frame):
    session = new()
    session.start(0.0)
    session.take_output(0.0)
    session.receive(greeting_of(session, window=64, max_frame=max_frame), 0.0)
    session.send(PLAN, 9, 0.0)
    session.send(Snapshot(), 0, 0.0)
    assert session.pending == 2
    frames = out(session, 0.0)
    pieces, last = frames[:-1], frames[-1]
    size = min(240, max(64, max_frame)) - 9
    assert [len(frame[6]) for frame in pieces[:-1]] == [size] * (len(pieces) - 1)
    assert len(b"".join(frame[6] for frame in pieces)) == 13 + 480
    assert [frame[5] & (MORE | CONT) for frame in pieces] == [MORE] + [MORE | CONT] * (len(pieces) - 2) + [CONT]
    assert {frame[1:3] for frame in pieces} == {(0x63, 9)}
    assert last[1] == 0x27
    session.receive(wrap(ACK_KIND, ack=len(pieces) - 1, flags=ACK | DEV), 0.1)
    assert session.pending == 2
    session.receive(wrap(ACK_KIND, ack=len(pieces), flags=ACK | DEV), 0.1)
    assert session.pending == 1


def piece(seq, payload, flags, kind=0x37, address=0):
    return wrap(kind, payload, address, seq, 0, SEQ | DEV | flags)


REPORT = struct.pack("<IBBB", 1, 1, 4, 100) + bytes(200)


def test_pieces_become_one_message_even_with_an_acknowledgement_between():
    session = greeted()
    assert session.receive(piece(0, REPORT[:90], MORE), 0.0) == []
    assert session.receive(wrap(ACK_KIND, flags=ACK | DEV), 0.0) == []
    assert session.receive(piece(1, REPORT[90:150], MORE | CONT), 1.0) == []
    (event,) = session.receive(piece(2, REPORT[150:], CONT), 4.9)
    assert event.message.placed == (0,) * 100


def fragment_nak(session, now):
    return [frame[6] for frame in out(session, now) if frame[1] == NAK]


def test_a_message_not_complete_in_five_seconds_is_dropped():
    session = greeted()
    session.receive(piece(0, REPORT[:90], MORE, address=6), 1.0)
    session.receive(piece(1, REPORT[90:100], MORE | CONT, address=6) + wrap(PING, bytes(4)), 5.0)
    assert session.next_deadline() <= 6.0
    assert session.tick(5.99) == []
    (event,) = session.tick(6.0)
    assert (event.kind, event.address, event.reason) == (0x37, 6, NakReason.FRAGMENT)
    assert fragment_nak(session, 6.0) == [bytes([3, 0x37, 1])]
    # the rest of it is ignored, the next message is taken
    assert session.receive(piece(2, REPORT[100:], CONT, address=6), 6.1) == []
    assert session.receive(hopper(3), 6.1) == [MessageReceived(HopperEvent(1), 0)]


def test_a_message_too_long_is_dropped():
    session = greeted()
    events = session.receive(piece(0, bytes(200), MORE), 0.0)
    seq = 1
    while not events:
        events = session.receive(piece(seq % 256, bytes(200), MORE | CONT), 0.0)
        seq += 1
    assert seq - 1 == MAX_MESSAGE // 200
    (event,) = events
    assert event.reason == NakReason.FRAGMENT
    assert fragment_nak(session, 0.0) == [bytes([3, 0x37, seq - 1])]
    assert session.receive(piece(seq % 256, bytes(200), MORE | CONT), 0.0) == []
    assert session.receive(piece((seq + 1) % 256, bytes(200), CONT), 0.0) == []
    assert len(session.receive(hopper((seq + 2) % 256), 0.0)) == 1


@pytest.mark.parametrize(
    "second",
    [
        hopper(1),
        piece(1, REPORT[90:], CONT, kind=0x34),
        piece(1, REPORT[90:], CONT, address=1),
        piece(1, b"", MORE | CONT),
        piece(1, REPORT[:50], MORE),
    ],
)
def test_a_message_cut_short_by_another_is_dropped(second):
    session = greeted()
    session.receive(piece(0, REPORT[:90], MORE), 0.0)
    events = session.receive(second, 0.1)
    assert [event.reason for event in events if isinstance(event, MessageRejected)] == [NakReason.FRAGMENT]
    assert fragment_nak(session, 0.1)[0][:2] == bytes([3, 0x37])


def test_a_piece_without_a_beginning_is_ignored():
    session = greeted()
    assert session.receive(piece(0, REPORT[90:], CONT), 0.0) == []
    assert session.receive(hopper(1), 0.0) == [MessageReceived(HopperEvent(1), 0)]


def test_fragment_flags_without_a_number_are_dropped():
    session = greeted()
    assert session.receive(wrap(PING, bytes(4), flags=DEV | MORE) + wrap(HELLO, hello(0), flags=DEV | MORE), 0.0) == []
    assert session.established


def test_half_a_message_does_not_outlive_its_session():
    session = greeted()
    session.receive(piece(0, REPORT[:90], MORE), 0.0)
    session.receive(wrap(HELLO, hello(0, boot_id=2)), 0.1)
    session.take_output(0.1)
    session.receive(greeting_of(session, boot_id=2), 0.2)
    assert session.receive(piece(0, REPORT[90:], CONT), 0.3) == []
