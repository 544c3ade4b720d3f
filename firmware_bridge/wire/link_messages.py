"""The messages of the link itself, kinds 01-1F (docs/protocol.md section 4)."""

from __future__ import annotations

from dataclasses import dataclass

from firmware_bridge.wire.layout import U8, U16, U32, U64, Str8, Str8Max32, U64ListMax8


@dataclass(frozen=True, slots=True)
class HelloFields:
    """Who speaks, what it speaks and what it remembers: the payload of HELLO and of TERM_HELLO."""

    proto_min: U8
    proto_max: U8
    role: U8
    window: U8
    max_frame: U16
    device_id: U64
    boot_id: U32
    boot_count: U32
    journal_id: U32
    oldest_unacked: U32
    next_seq: U32
    capabilities: U32
    session: U32
    model: Str8Max32
    firmware: Str8Max32
    commands: U64ListMax8


@dataclass(frozen=True, slots=True)
class Hello(HelloFields):
    """Opens a session, and answers the HELLO that opens it."""


@dataclass(frozen=True, slots=True)
class Ack:
    """Nothing but the acknowledgement in the frame's header."""


@dataclass(frozen=True, slots=True)
class Ping:
    """A sign of life. uptime_ms: milliseconds since the sender started, modulo 2^32."""

    uptime_ms: U32


@dataclass(frozen=True, slots=True)
class Nak:
    """A message was not taken. reason: ``NakReason``; kind and seq: of the message, of its last fragment."""

    reason: U8
    kind: U8
    seq: U8


@dataclass(frozen=True, slots=True)
class Refuse:
    """No session. reason: ``RefuseReason``; text: readable by an operator."""

    reason: U8
    proto_min: U8
    proto_max: U8
    text: Str8


@dataclass(frozen=True, slots=True)
class Bye:
    """The session ends. reason: ``ByeReason``."""

    reason: U8
