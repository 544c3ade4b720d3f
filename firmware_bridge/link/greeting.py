"""HELLO: what a host says of itself, how long it waits, which version both speak (docs/protocol.md section 2)."""

from __future__ import annotations

from firmware_bridge.link.events import Heard, NoAnswer
from firmware_bridge.wire.frames import MAX_FRAME, PROTOCOL_MAX, PROTOCOL_MIN
from firmware_bridge.wire.messages import Hello, fit_text
from firmware_bridge.wire.numbers import Role

HOST_WINDOW = 16
"""Enough to fill a line; a larger burst of the device would keep its acknowledgements waiting behind it."""
TRIES = 5
"""How often HELLO is said without an answer."""
FIRST_WAIT = 0.5
"""Seconds after the first HELLO; doubled after each further one."""


def host_hello(device_id: int, boot_id: int, boot_count: int, firmware: str, model: str = "Firmware Bridge") -> Hello:
    """The HELLO of this program; the session puts its own number in.

    device_id: 64 bits, fixed for the data directory. boot_id: 32 bits, random at every start. firmware: the program's
    version. Texts are cut to 32 bytes.
    """
    return Hello(
        proto_min=PROTOCOL_MIN,
        proto_max=PROTOCOL_MAX,
        role=Role.HOST,
        window=HOST_WINDOW,
        max_frame=MAX_FRAME,
        device_id=device_id,
        boot_id=boot_id,
        boot_count=boot_count,
        journal_id=0,
        oldest_unacked=0,
        next_seq=0,
        capabilities=0,
        session=0,
        model=fit_text(model, 32),
        firmware=fit_text(firmware, 32),
        commands=(),
    )


def common_version(peer_min: int, peer_max: int) -> int | None:
    """The version that both sides use: the lower of the two highest minors within our major; None without one."""
    major = PROTOCOL_MAX & 0xF0
    if not peer_min & 0xF0 <= major <= peer_max & 0xF0:
        return None
    # A peer that also speaks a later major does not say how far its minors of ours go.
    version = min(peer_max, PROTOCOL_MAX) if peer_max & 0xF0 == major else PROTOCOL_MAX
    lowest = max(PROTOCOL_MIN, peer_min if peer_min & 0xF0 == major else major)
    return version if version >= lowest else None


class Greeting:
    """The wait for an answer to HELLO: when to say it again, when to give up, and what was heard instead."""

    def __init__(self, now: float, bytes_seen: int) -> None:
        """now: when the first HELLO goes out; bytes_seen: how many bytes the line has brought before."""
        self.said_at = now
        self.due = now + FIRST_WAIT
        self.foreign_version: int | None = None
        self.echoed = False
        self.heard_ours = False
        self._tries = 1
        self._bytes_before = bytes_seen

    def again(self, now: float) -> bool:
        """At ``due``: True if HELLO is to be said once more, False if it is time to give up."""
        # A foreign version that has not answered two HELLOs will not answer the others.
        named = self.foreign_version is not None and not self.heard_ours and self._tries >= 2
        if self._tries >= TRIES or named:
            return False
        self.said_at = now
        self.due = now + FIRST_WAIT * 2**self._tries
        self._tries += 1
        return True

    def may_answer_start(self, now: float) -> bool:
        """A peer has just started and may have missed HELLO: True if it may be said out of turn.

        Not at once after the last one, so that two ends can't race each other.
        """
        if now < self.said_at + FIRST_WAIT / 4:
            return False
        self.said_at = now
        return True

    def verdict(self, bytes_seen: int) -> NoAnswer:
        """What to report when nobody has answered."""
        came = bytes_seen - self._bytes_before
        if self.heard_ours:
            heard = Heard.NO_HELLO
        elif self.foreign_version is not None:
            heard = Heard.FOREIGN_VERSION
        elif self.echoed:
            heard = Heard.ECHO
        else:
            heard = Heard.FOREIGN_BYTES if came else Heard.NOTHING
        return NoAnswer(heard, came, self.foreign_version or 0)
