"""A device's end of the link, written for the tests with struct from docs/protocol.md; no code of the program in it.

Plain on purpose: one byte loop for CRC, textbook COBS, a fixed repeat time. ``Peer`` answers HELLO, acknowledges,
repeats, and records every message that comes to it.
"""

from __future__ import annotations

import struct

SEQ, ACK, MORE, CONT, DEV = 1, 2, 4, 8, 16


def crc(data: bytes) -> int:
    value = 0xFFFF
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1 ^ 0x1021 if value & 0x8000 else value << 1) & 0xFFFF
    return value


def stuff(data: bytes) -> bytes:
    return b"".join(bytes([len(part) + 1]) + part for part in data.split(b"\0"))


def unstuff(data: bytes) -> bytes | None:
    parts = []
    at = 0
    while at < len(data):
        size = data[at]
        part = data[at + 1 : at + size]
        if len(part) != size - 1:
            return None
        parts.append(part)
        at += size
    return b"\0".join(parts)


def wrap(kind, payload=b"", address=0, seq=0, ack=0, flags=DEV, version=0x10) -> bytes:
    body = struct.pack("<BBHBBB", version, kind, address, seq, ack, flags) + payload
    return b"\0" + stuff(body + struct.pack("<H", crc(body))) + b"\0"


def split(stream: bytes) -> list[tuple]:
    """(version, kind, address, seq, ack, flags, payload) of each good frame in a whole stream."""
    found = []
    for piece in stream.split(b"\0"):
        raw = unstuff(piece) if piece else None
        if raw is not None and len(raw) >= 9 and crc(raw[:-2]) == struct.unpack("<H", raw[-2:])[0]:
            found.append((*struct.unpack("<BBHBBB", raw[:7]), raw[7:-2]))
    return found


def hello(session=0, boot_id=1, role=1, window=8, max_frame=240, low=0x10, high=0x10, device_id=77) -> bytes:
    return (
        struct.pack("<BBBBHQIIIIIII", low, high, role, window, max_frame, device_id, boot_id, 1, 0, 0, 0, 0, session)
        + b"\x04peer\x021a\x00"
    )


class Peer:
    """A device. ``say`` queues a message to the host, ``got`` holds what came whole from it."""

    def __init__(self, window=8, max_frame=240, boot_id=1, repeat=0.4):
        self.window, self.max_frame, self.boot_id, self.repeat = window, max_frame, boot_id, repeat
        self.session = None
        self.got = []  # (kind, address, payload) of every whole message
        self.naks = []
        self.seen = []  # every good frame, in order
        self._held = b""
        self._out = b""
        self._waiting = []  # (kind, address, flags, payload) not yet sent
        self.forget()

    def forget(self):
        self.expected = 0
        self.next_seq = 0
        self.unacked = []  # [seq, kind, address, flags, payload]
        self.repeat_at = None
        self.partial = None
        self.host_window = 1
        self.host_max = 64
        self.last_sent = 0.0
        self.must_ack = False

    def reboot(self, now):
        """Power off and on: everything volatile is gone, a HELLO with session 0 goes out."""
        self.session = None
        self.boot_id += 1
        self._waiting = []
        self._out = b""
        self.forget()
        self._out += wrap(1, hello(0, self.boot_id, window=self.window, max_frame=self.max_frame))

    def say(self, kind, payload=b"", address=0):
        step = self.host_max - 9
        parts = [payload[at : at + step] for at in range(0, len(payload), step)] or [b""]
        for number, part in enumerate(parts):
            flags = (MORE if number < len(parts) - 1 else 0) | (CONT if number else 0)
            self._waiting.append((kind, address, flags, part))

    @property
    def idle(self):
        return not self._waiting and not self.unacked

    def receive(self, data, now):
        self._held += data
        while b"\0" in self._held:
            piece, _, self._held = self._held.partition(b"\0")
            for frame in split(piece + b"\0"):
                self.seen.append(frame)
                self._frame(*frame, now)
        self._held = self._held[-500:]

    def _frame(self, version, kind, address, seq, ack, flags, payload, now):
        if flags & DEV or version >> 4 != 1:
            return
        if kind == 1:
            (session,) = struct.unpack_from("<I", payload, 38)
            if session != self.session:
                self.forget()
                self.session = session
            self.host_window = payload[3]
            (self.host_max,) = struct.unpack_from("<H", payload, 4)
            self._put(1, hello(session, self.boot_id, window=self.window, max_frame=self.max_frame), now=now)
            return
        if kind in (5, 6):
            self.session = None
            return
        if self.session is None:
            return
        if flags & ACK and self.unacked:
            count = (ack - self.unacked[0][0]) % 256
            if 0 < count <= len(self.unacked):
                del self.unacked[:count]
                self.repeat_at = now + self.repeat
        if flags & SEQ:
            self.must_ack = True
            if seq == self.expected:
                self.expected = (self.expected + 1) % 256
                self._piece(kind, address, flags, payload)

    def _piece(self, kind, address, flags, payload):
        if flags & CONT:
            if self.partial is None or self.partial[:2] != (kind, address):
                self.partial = None
                return
            payload = self.partial[2] + payload
        self.partial = (kind, address, payload) if flags & MORE else None
        if not flags & MORE:
            (self.naks if kind == 4 else self.got).append((kind, address, payload))

    def _put(self, kind, payload=b"", address=0, seq=0, flags=0, now=0.0):
        self._out += wrap(kind, payload, address, seq, self.expected, flags | ACK | DEV)
        self.last_sent = now
        self.must_ack = False

    def output(self, now):
        """Everything to put on the line now."""
        if self.session is not None:
            if self.unacked and now >= self.repeat_at:
                for seq, kind, address, flags, payload in self.unacked:
                    self._put(kind, payload, address, seq, flags | SEQ, now)
                self.repeat_at = now + self.repeat
            while self._waiting and len(self.unacked) < min(self.window, self.host_window):
                kind, address, flags, payload = self._waiting.pop(0)
                if not self.unacked:
                    self.repeat_at = now + self.repeat
                self.unacked.append([self.next_seq, kind, address, flags, payload])
                self._put(kind, payload, address, self.next_seq, flags | SEQ, now)
                self.next_seq = (self.next_seq + 1) % 256
            if self.must_ack:
                self._put(2, now=now)
            if now >= self.last_sent + 1.0:
                self._put(3, struct.pack("<I", int(now * 1000)), now=now)
        out, self._out = self._out, b""
        return out

    def next_deadline(self):
        if self.session is None:
            return None
        return min(self.last_sent + 1.0, self.repeat_at if self.unacked else float("inf"))
