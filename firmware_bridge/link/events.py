"""What a session tells its owner.

The kinds that end a session share ``SessionEnded``: each can say itself as an error that an operator understands.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from firmware_bridge.errors import DeviceError, LinkError, LinkLost, ProtocolMismatch
from firmware_bridge.wire.frames import PROTOCOL_MAX, PROTOCOL_MIN
from firmware_bridge.wire.messages import Hello, Message, Nak
from firmware_bridge.wire.numbers import RefuseReason, Role

_ROLE_WORDS = {
    Role.HOST: "another host program",
    Role.MACHINE: "a dealing machine",
    Role.STATION: "a base station",
    Role.TERMINAL: "a table terminal",
}


def role_words(role: int) -> str:
    """A role as an operator says it."""
    return _ROLE_WORDS[Role(role)] if role in list(Role) else f"a device of unknown kind {role}"


def version_words(version: int) -> str:
    """``0x10`` is ``1.0``."""
    return f"{version >> 4}.{version & 15}"


@dataclass(frozen=True, slots=True)
class LinkEvent:
    """Base of everything that a session reports."""


@dataclass(frozen=True, slots=True)
class Established(LinkEvent):
    """The session stands. version: the common one. restarted: the peer's boot id is not the one known from before."""

    peer: Hello
    version: int
    restarted: bool


@dataclass(frozen=True, slots=True)
class MessageReceived(LinkEvent):
    """A message came, once and in order. address: number of the terminal it is from, or 0."""

    message: Message
    address: int


@dataclass(frozen=True, slots=True)
class Unsupported(LinkEvent):
    """The peer did not take a message of ours; ``nak.reason`` says why. The session goes on."""

    nak: Nak
    address: int


@dataclass(frozen=True, slots=True)
class MessageRejected(LinkEvent):
    """A message of the peer was answered with NAK. reason: ``NakReason``; detail: for a log, without any value."""

    kind: int
    address: int
    reason: int
    detail: str


@dataclass(frozen=True, slots=True)
class PeerRestarted(LinkEvent):
    """The peer has started anew; a new session has begun, ``Established`` follows.

    undelivered: messages of ours that were queued or not acknowledged; they are dropped, because what they asked for
    belonged to the device as it was.
    """

    boot_id: int
    undelivered: int


@dataclass(frozen=True, slots=True)
class SessionEnded(LinkEvent):
    """Base of the events after which the session is over; ``Session.start`` begins a new one."""

    def error(self, where: str = "") -> LinkError | DeviceError:
        """The same as an error for a person. where: the port or device, as the operator knows it."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Lost(SessionEnded):
    """The peer is gone. silent: nothing was heard for 5 s, else: it no longer acknowledges."""

    silent: bool
    undelivered: int

    def error(self, where: str = "") -> LinkLost:
        what = (
            "Nothing has been heard from the device for 5 s."
            if self.silent
            else "The device no longer acknowledges what it is sent."
        )
        return LinkLost(what, where=where, next_step="Check its cable and power.")


@dataclass(frozen=True, slots=True)
class PeerLeft(SessionEnded):
    """The peer said BYE. reason: ``ByeReason``."""

    reason: int
    undelivered: int

    def error(self, where: str = "") -> LinkLost:
        return LinkLost(
            "The device has ended the connection.",
            where=where,
            next_step="Switch it on again if it is still needed.",
            code="peer-left",
        )


@dataclass(frozen=True, slots=True)
class Refused(SessionEnded):
    """No session: refused by the peer, or by us (by_us) because it is not the kind of device that is wanted.

    reason: ``RefuseReason``. text: the peer's words. role: the peer's, if it is by us.
    """

    reason: int
    text: str
    by_us: bool = False
    role: int = 0

    def error(self, where: str = "") -> DeviceError:
        if self.by_us:
            return DeviceError(
                f"This is {role_words(self.role)}.",
                where=where,
                next_step="Name the port of the device that is wanted.",
                code="wrong-device",
            )
        said = f' It says: "{self.text}".' if self.text else ""
        if self.reason == RefuseReason.BUSY:
            return DeviceError(
                f"The device is in use by another computer or program.{said}",
                where=where,
                next_step="Stop the other program, or wait 5 s after it has stopped.",
                code="device-busy",
            )
        return DeviceError(
            f"The device refuses to talk (reason {self.reason}).{said}",
            where=where,
            next_step="Check that the right device is connected to this port.",
            code="device-refuses",
        )


@dataclass(frozen=True, slots=True)
class VersionMismatch(SessionEnded):
    """No common protocol version. peer_min, peer_max: what the peer speaks."""

    peer_min: int
    peer_max: int
    text: str = ""

    def error(self, where: str = "") -> ProtocolMismatch:
        said = f' It says: "{self.text}".' if self.text else ""
        return ProtocolMismatch(
            f"The device speaks protocol {version_words(self.peer_min)} to {version_words(self.peer_max)}, "
            f"this program {version_words(PROTOCOL_MIN)} to {version_words(PROTOCOL_MAX)}.{said}",
            where=where,
            next_step="Update the program or the device's firmware.",
            code="version-mismatch",
        )


class Heard(Enum):
    """What came instead of an answer."""

    NOTHING = "nothing"
    FOREIGN_BYTES = "bytes that are no frames of this protocol"
    FOREIGN_VERSION = "frames of another major version"
    ECHO = "our own frames"
    NO_HELLO = "frames of this protocol, but no answer to HELLO"


@dataclass(frozen=True, slots=True)
class NoAnswer(SessionEnded):
    """No HELLO was answered. version: that of the foreign frames, else 0. bytes_seen: since the first HELLO."""

    heard: Heard
    bytes_seen: int
    version: int = 0

    def error(self, where: str = "") -> LinkError:
        if self.heard is Heard.NOTHING:
            return LinkLost(
                "The device does not answer: nothing came at all.",
                where=where,
                next_step="Check that it is switched on, that the cable carries data, and that this is its port.",
                code="no-answer",
            )
        if self.heard is Heard.FOREIGN_BYTES:
            return ProtocolMismatch(
                f"The device speaks another protocol: {self.bytes_seen} bytes came, no frame of ours among them.",
                where=where,
                next_step="Check that this is the right port, and its speed (baud).",
            )
        if self.heard is Heard.FOREIGN_VERSION:
            return ProtocolMismatch(
                f"The device speaks protocol {version_words(self.version)}, this program "
                f"{version_words(PROTOCOL_MIN)} to {version_words(PROTOCOL_MAX)}.",
                where=where,
                next_step="Update the program or the device's firmware.",
                code="version-mismatch",
            )
        if self.heard is Heard.ECHO:
            return ProtocolMismatch(
                "Only the program's own words come back from this port.",
                where=where,
                next_step="Check the wiring: receive and transmit are joined, or another host is at the other end.",
                code="echo",
            )
        return ProtocolMismatch(
            "The device sends frames of this protocol but does not answer the greeting.",
            where=where,
            next_step="Switch the device off and on again.",
            code="no-hello",
        )
