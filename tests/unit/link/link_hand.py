"""A session and frames written by hand, for the tests of single rules."""

from __future__ import annotations

import random

from link_peer import DEV, SEQ, hello, split, wrap

from firmware_bridge.link.events import Established
from firmware_bridge.link.greeting import host_hello
from firmware_bridge.link.session import Session

HELLO, ACK_KIND, PING, NAK, REFUSE, BYE, HOPPER, TEXT = 1, 2, 3, 4, 5, 6, 0x38, 0x66


def new(role=None, seed=1, **options):
    return Session(host_hello(11, 12, 13, "test"), role, random.Random(seed), **options)


def out(session, now):
    """The frames that go out now: (version, kind, address, seq, ack, flags, payload)."""
    return split(session.take_output(now))


def kinds(frames):
    return [frame[1] for frame in frames]


def greeted(role=None, now=0.0, peer=None, **options):
    session = new(role, **options)
    session.start(now)
    session.take_output(now)
    events = session.receive(wrap(HELLO, peer or hello(session.session_number)), now)
    assert [type(event) for event in events] == [Established]
    return session


def greeting_of(session, **peer):
    return wrap(HELLO, hello(session.session_number, **peer))


def hopper(seq, value=1, **options):
    return wrap(HOPPER, bytes([value]), seq=seq, flags=SEQ | DEV, **options)
