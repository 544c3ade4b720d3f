"""The rules of greeting, leaving and starting anew (section 2 of the page), one by one."""

from __future__ import annotations

import struct

import pytest
from link_hand import BYE, HELLO, PING, REFUSE, greeted, greeting_of, hopper, kinds, new, out
from link_peer import ACK, DEV, hello, wrap

from firmware_bridge.errors import DeviceError, LinkError, LinkLost, ProtocolMismatch
from firmware_bridge.link.events import (
    Established,
    Heard,
    Lost,
    MessageReceived,
    NoAnswer,
    PeerLeft,
    PeerRestarted,
    Refused,
    VersionMismatch,
)
from firmware_bridge.link.greeting import common_version
from firmware_bridge.link.session import State
from firmware_bridge.wire.messages import HopperEvent, Snapshot, Text
from firmware_bridge.wire.numbers import ByeReason, RefuseReason, Role


def test_hello_is_said_five_times_and_then_nothing_came_at_all():
    session = new()
    session.start(10.0)
    said = [(10.0, out(session, 10.0))]
    events = []
    while (due := session.next_deadline()) is not None:
        assert not session.tick(due - 0.001)
        events += session.tick(due)
        said.append((due, out(session, due)))
    assert [at for at, frames in said if frames] == [10.0, 10.5, 11.5, 13.5, 17.5]
    hellos = [frame for _, frames in said for frame in frames]
    assert all(frame[1] == HELLO and frame[5] == 0 and frame[0] == 0x10 for frame in hellos)
    assert len({frame[6] for frame in hellos}) == 1
    assert struct.unpack_from("<I", hellos[0][6], 38)[0] == session.session_number != 0
    assert said[-1][0] == 25.5
    assert events == [NoAnswer(Heard.NOTHING, 0)]
    error = events[0].error("COM3")
    assert isinstance(error, LinkLost)
    assert error.where == "COM3"
    assert "nothing came at all" in error.what


def until_the_end(session, feed):
    session.start(0.0)
    events = []
    now = 0.0
    while session.state is State.GREETING:
        sent = session.take_output(now)
        events += session.receive(feed(sent), now)
        due = session.next_deadline()
        if due is not None:
            now = due
            events += session.tick(now)
    return events, out(session, now), now


def test_bytes_that_are_no_frames_are_another_protocol():
    events, _, _ = until_the_end(new(), lambda sent: b"$GPGGA,123519,4807.038,N*47\r\n")
    assert [event.heard for event in events] == [Heard.FOREIGN_BYTES]
    error = events[0].error()
    assert isinstance(error, ProtocolMismatch)
    assert "another protocol" in error.what


def test_another_major_version_is_named_early_and_told():
    events, last, now = until_the_end(new(), lambda sent: wrap(HELLO, b"whatever", version=0x23, flags=0xF0))
    assert [(event.heard, event.version) for event in events] == [(Heard.FOREIGN_VERSION, 0x23)]
    assert "protocol 2.3" in str(events[0].error())
    assert isinstance(events[0].error(), ProtocolMismatch)
    assert kinds(last) == [REFUSE]
    assert last[0][6][0] == RefuseReason.VERSION
    assert now < 2.0


def test_an_echo_is_named():
    events, _, _ = until_the_end(new(), lambda sent: sent)
    assert [event.heard for event in events] == [Heard.ECHO]
    assert "come back" in events[0].error().what


def test_frames_without_an_answer_are_named():
    events, _, _ = until_the_end(new(), lambda sent: hopper(0) + wrap(HELLO, hello(12345)))
    assert [event.heard for event in events] == [Heard.NO_HELLO]
    assert isinstance(events[0].error(), ProtocolMismatch)


def test_the_answer_with_the_right_number_begins_the_session():
    session = new(Role.MACHINE)
    session.start(0.0)
    session.take_output(0.0)
    assert session.receive(hopper(0) + wrap(HELLO, hello(session.session_number ^ 1)), 0.1) == []
    assert not session.established
    (event,) = session.receive(greeting_of(session) + greeting_of(session), 0.2)
    assert isinstance(event, Established)
    assert (event.peer.model, event.version, event.restarted) == ("peer", 0x10, False)
    assert session.peer == event.peer
    assert session.receive(hopper(0), 0.3) == [MessageReceived(HopperEvent(1), 0)]
    # a repeated answer resets nothing
    assert session.receive(greeting_of(session), 0.4) == []
    assert session.receive(hopper(1, 2), 0.5) == [MessageReceived(HopperEvent(2), 0)]


def test_a_peer_that_has_just_started_is_greeted_at_once_but_not_in_a_race():
    session = new()
    session.start(0.0)
    session.take_output(0.0)
    assert session.receive(wrap(HELLO, hello(0)), 0.05) == []
    assert out(session, 0.05) == []
    session.receive(wrap(HELLO, hello(0)) * 3, 0.2)
    assert kinds(out(session, 0.2)) == [HELLO]
    assert session.next_deadline() == 0.5


def test_a_malformed_hello_is_dropped():
    session = new()
    session.start(0.0)
    assert session.receive(wrap(HELLO, hello(session.session_number) + b"x"), 0.0) == []
    assert session.receive(wrap(REFUSE, b"\x01"), 0.0) == []
    assert session.state is State.GREETING


def test_another_kind_of_device_is_refused():
    session = new(Role.STATION)
    session.start(0.0)
    session.take_output(0.0)
    (event,) = session.receive(greeting_of(session, role=1), 0.1)
    assert (type(event), event.reason, event.by_us) == (Refused, RefuseReason.ROLE, True)
    assert isinstance(event.error("COM3"), DeviceError)
    assert str(event.error("COM3")).startswith("COM3: This is a dealing machine.")
    (frame,) = out(session, 0.1)
    assert frame[1] == REFUSE
    assert frame[6][0] == RefuseReason.ROLE
    assert len(frame[6]) + 9 <= 64
    assert session.next_deadline() is None


@pytest.mark.parametrize("role", [0, 3, 77])
def test_every_role_has_words(role):
    event = Refused(RefuseReason.ROLE, "", by_us=True, role=role)
    assert event.error().what.startswith("This is ")


def test_a_busy_device_says_so():
    session = new()
    session.start(0.0)
    refuse = bytes([2, 0x10, 0x10, 4]) + b"mine"
    (event,) = session.receive(wrap(REFUSE, refuse), 0.1)
    assert event == Refused(RefuseReason.BUSY, "mine")
    assert "in use" in event.error().what
    assert "mine" in event.error().what
    assert session.state is State.ENDED
    assert "refuses" in Refused(99, "").error().what


def test_no_common_version_from_either_side():
    session = new()
    session.start(0.0)
    session.take_output(0.0)
    (event,) = session.receive(greeting_of(session, low=0x20, high=0x25), 0.1)
    assert event == VersionMismatch(0x20, 0x25)
    assert "protocol 2.0 to 2.5" in event.error().what
    (frame,) = out(session, 0.1)
    assert (frame[1], frame[6][:3]) == (REFUSE, b"\x01\x10\x10")
    session = new()
    session.start(0.0)
    (event,) = session.receive(wrap(REFUSE, bytes([1, 0x20, 0x21, 0])), 0.1)
    assert event == VersionMismatch(0x20, 0x21)
    assert isinstance(event.error(), ProtocolMismatch)


@pytest.mark.parametrize(
    ("low", "high", "common"),
    [
        (0x10, 0x10, 0x10),
        (0x10, 0x1F, 0x10),
        (0x10, 0x30, 0x10),
        (0x00, 0x10, 0x10),
        (0x05, 0x25, 0x10),
        (0x11, 0x1F, None),
        (0x12, 0x21, None),
        (0x20, 0x21, None),
        (0x00, 0x0F, None),
        (0x21, 0x10, None),
    ],
)
def test_the_common_version(low, high, common):
    assert common_version(low, high) == common


def test_a_later_minor_of_our_major_is_understood():
    session = new()
    session.start(0.0)
    (event,) = session.receive(wrap(HELLO, hello(session.session_number, high=0x14), version=0x14), 0.0)
    assert event.version == 0x10
    session.take_output(0.0)
    session.send(Snapshot(), 0, 0.0)
    assert out(session, 0.0)[0][0] == 0x10


def test_ping_after_a_second_without_a_word():
    session = greeted(now=100.0)
    now = 100.0
    pings = []
    for _ in range(30):
        session.receive(wrap(PING, bytes(4), flags=ACK | DEV), now)
        now = session.next_deadline()
        assert session.tick(now) == []
        pings += [(now, *struct.unpack("<I", frame[6])) for frame in out(session, now) if frame[1] == PING]
    assert pings[:3] == [(101.0, 1000), (102.0, 2000), (103.0, 3000)]


def test_five_seconds_of_silence_lose_the_session():
    session = greeted()
    session.receive(wrap(PING, bytes(4), flags=ACK | DEV), 2.0)
    session.send(Text(0, "x"), 0, 2.0)
    # noise, echo and foreign versions are no sign of life
    session.receive(b"\0noise\0" + wrap(PING, bytes(4), flags=ACK) + wrap(PING, bytes(4), version=0x20), 6.0)
    assert session.tick(6.99) == []
    assert session.tick(7.0) == [Lost(silent=True, undelivered=1)]
    assert "5 s" in Lost(True, 1).error().what
    assert session.pending == 0
    assert session.tick(8.0) == []


def test_bye_from_the_peer():
    session = greeted()
    assert session.receive(wrap(BYE, b"\x02", flags=ACK | DEV), 0.1) == [PeerLeft(ByeReason.RESTART, 0)]
    assert session.state is State.ENDED
    assert isinstance(PeerLeft(1, 0).error(), LinkLost)
    assert session.receive(hopper(0), 0.2) == []
    assert session.take_output(5.0) == b""


def test_close_says_bye_once_and_a_new_session_may_begin():
    session = greeted()
    first = session.session_number
    session.receive(hopper(0), 0.1)
    session.send(Snapshot(), 0, 0.1)
    session.close(0.1)
    session.close(0.1)
    (frame,) = out(session, 0.1)
    assert (frame[1], frame[4], frame[5], frame[6]) == (BYE, 1, ACK, b"\x01")
    assert session.next_deadline() is None
    session.start(1.0)
    assert session.session_number != first
    session.take_output(1.0)
    (event,) = session.receive(greeting_of(session), 1.0)
    assert not event.restarted
    assert session.receive(hopper(0), 1.0) == [MessageReceived(HopperEvent(1), 0)]
    session.send(Snapshot(), 0, 1.0)
    assert out(session, 1.0)[0][3] == 0


def test_an_ended_session_knows_a_restart_by_the_boot_id():
    session = greeted()
    session.tick(5.0)
    session.start(6.0)
    (event,) = session.receive(greeting_of(session, boot_id=2), 6.0)
    assert event.restarted


def test_start_twice_is_an_error():
    session = new()
    session.start(0.0)
    with pytest.raises(LinkError):
        session.start(0.0)


@pytest.mark.parametrize("peer", [{"session": 0}, {"session": 0, "boot_id": 2}, {"session": 999, "boot_id": 2}])
def test_a_restarted_peer_begins_a_new_session(peer):
    session = greeted()
    first = session.session_number
    session.send(Text(0, "for the old one"), 0, 0.0)
    out(session, 0.0)
    session.receive(hopper(0), 0.1)
    (event,) = session.receive(wrap(HELLO, hello(**peer)) + hopper(1), 0.2)
    assert event == PeerRestarted(peer.get("boot_id", 1), 1)
    assert session.pending == 0
    assert session.session_number != first
    (frame,) = out(session, 0.2)
    assert (frame[1], frame[5]) == (HELLO, 0)
    (event,) = session.receive(greeting_of(session, boot_id=2), 0.3)
    assert event.restarted
    assert session.receive(hopper(0), 0.3) == [MessageReceived(HopperEvent(1), 0)]


def test_a_stale_hello_of_the_same_start_is_ignored():
    session = greeted()
    assert session.receive(wrap(HELLO, hello(999)), 0.1) == []
    assert session.established
