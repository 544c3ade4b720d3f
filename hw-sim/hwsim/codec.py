"""Frames of the Firmware Bridge protocol as a device makes them: COBS, CRC-16, header (docs/protocol.md, section 1).

Written from the specification alone and sharing no line with the host's code, so that an error in one side cannot be
cancelled by the same error in the other.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

VERSION = 0x10
MAJOR = VERSION >> 4

SEQUENCED = 0x01
ACK = 0x02
MORE = 0x04
CONTINUED = 0x08
FROM_DEVICE = 0x10
RESERVED = 0xE0

MIN_FRAME = 9
MAX_FRAME = 240
OVERHEAD = 9  # header and CRC around a payload

_HEADER = struct.Struct("<BBHBBB")
_CRC = struct.Struct("<H")


def _make_crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        value = byte << 8
        for _ in range(8):
            value = ((value << 1) ^ 0x1021) if value & 0x8000 else value << 1
        table.append(value & 0xFFFF)
    return tuple(table)


_CRC_TABLE = _make_crc_table()


def crc16(data: bytes | bytearray) -> int:
    """CRC-16/IBM-3740: polynomial 0x1021, initial value 0xFFFF, not reflected, no final xor."""
    crc = 0xFFFF
    table = _CRC_TABLE
    for byte in data:
        crc = ((crc << 8) & 0xFFFF) ^ table[(crc >> 8) ^ byte]
    return crc


def cobs_encode(data: bytes) -> bytes:
    """COBS without the delimiter: no zero byte in the result, one byte longer per started 254 bytes."""
    out = bytearray()
    blocks = data.split(b"\x00")
    last = len(blocks) - 1
    for number, block in enumerate(blocks):
        split = False
        while len(block) >= 254:
            out.append(0xFF)
            out += block[:254]
            block = block[254:]
            split = True
        if split and not block and number == last:
            break
        out.append(len(block) + 1)
        out += block
    return bytes(out)


def cobs_decode(data: bytes) -> bytes | None:
    """The inverse of ``cobs_encode``; None if ``data`` is no COBS text."""
    out = bytearray()
    at, end = 0, len(data)
    while at < end:
        code = data[at]
        stop = at + code
        if code == 0 or stop > end:
            return None
        block = data[at + 1 : stop]
        if 0 in block:
            return None
        out += block
        at = stop
        if code < 0xFF and at < end:
            out.append(0)
    return bytes(out)


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame, header taken apart. Of a foreign major version only ``version`` and ``kind`` mean anything."""

    kind: int
    address: int = 0
    seq: int = 0
    ack: int = 0
    flags: int = FROM_DEVICE
    payload: bytes = b""
    version: int = VERSION


def encode_body(frame: Frame) -> bytes:
    """Header, payload and CRC, before COBS. Raises ValueError above 240 bytes."""
    head = _HEADER.pack(frame.version, frame.kind, frame.address, frame.seq, frame.ack, frame.flags)
    body = head + frame.payload
    if len(body) + 2 > MAX_FRAME:
        raise ValueError(f"a frame of {len(body) + 2} bytes is too long")
    return body + _CRC.pack(crc16(body))


def encode_frame(frame: Frame) -> bytes:
    """The frame as it goes on the line, with a delimiter at both ends."""
    return b"\x00" + cobs_encode(encode_body(frame)) + b"\x00"


def decode_body(body: bytes) -> Frame | None:
    """Header and payload of a frame after COBS, or None if length or CRC are wrong."""
    if not MIN_FRAME <= len(body) <= MAX_FRAME or crc16(body[:-2]) != _CRC.unpack_from(body, len(body) - 2)[0]:
        return None
    version, kind, address, seq, ack, flags = _HEADER.unpack_from(body)
    return Frame(kind, address, seq, ack, flags, body[7:-2], version)


class Splitter:
    """Cuts a stream of bytes into frames. Holds at most one encoded frame.

    What is longer than any frame is dropped up to the next 00.
    """

    LIMIT = MAX_FRAME + 1

    def __init__(self) -> None:
        self._held = bytearray()
        self._skipping = False
        self.dropped = 0

    def feed(self, data: bytes) -> list[Frame]:
        """All frames that end within ``data``, in order. Whatever is no frame is counted in ``dropped``."""
        frames = []
        parts = data.split(b"\x00")
        for number, part in enumerate(parts):
            if not self._skipping:
                self._held += part[: self.LIMIT + 1]
                if len(self._held) > self.LIMIT:
                    self._skipping = True
                    self._held.clear()
            if number == len(parts) - 1:
                break
            if self._skipping:
                self._skipping = False
                self.dropped += 1
            elif self._held:
                body = cobs_decode(bytes(self._held))
                frame = decode_body(body) if body is not None else None
                if frame is None:
                    self.dropped += 1
                else:
                    frames.append(frame)
            self._held.clear()
        return frames
