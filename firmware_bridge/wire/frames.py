"""Frames: the header, CRC and COBS around every message (docs/protocol.md section 1).

``encode_frame`` makes the bytes of one frame. ``FrameDecoder`` finds frames in any stream of bytes: it takes chunks
of any size, drops what is damaged, picks up again at the next zero byte, and never holds more than one frame.
"""

from __future__ import annotations

import re
import struct
from binascii import crc_hqx
from dataclasses import dataclass
from enum import IntFlag

from cobs import cobs

from firmware_bridge.wire.wire_error import WireError

PROTOCOL_MIN = 0x10
"""Lowest version that this program speaks: major in the high nibble, minor in the low."""
PROTOCOL_MAX = 0x10
"""Highest version that this program speaks."""

HEADER_FIELDS = (("version", "u8"), ("kind", "u8"), ("address", "u16"), ("seq", "u8"), ("ack", "u8"), ("flags", "u8"))
"""Fields before the payload, in order, with the types of the page."""

HEADER_SIZE = 7
CRC_SIZE = 2
MIN_FRAME = HEADER_SIZE + CRC_SIZE
MAX_FRAME = 240
"""Longest frame before COBS, in bytes, with header and CRC."""
MAX_PAYLOAD = MAX_FRAME - MIN_FRAME
MAX_ENCODED = MAX_FRAME + 1
"""Longest frame after COBS, without its zero bytes: COBS adds one byte to anything shorter than 255."""

_HEADER = struct.Struct("<BBHBBB")
_CRC = struct.Struct("<H")
_RUNS = re.compile(rb"[^\0]+")
_RESERVED_FLAGS = 0xE0
_OUR_MAJOR = PROTOCOL_MAX >> 4


class Flag(IntFlag):
    """Bits of the field ``flags``."""

    SEQUENCED = 0x01
    ACK = 0x02
    MORE = 0x04
    CONTINUED = 0x08
    FROM_DEVICE = 0x10


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame as it was sent, without CRC and COBS.

    version: major in the high nibble, minor in the low. kind: section 4 of the page. address: of a terminal, or 0.
    seq, ack: link sequence numbers 0-255. flags: bits of ``Flag``. payload: at most 231 bytes.
    The payload is left out of the repr: it may hold cards. ``redact.redacted`` makes a line for traces.
    """

    version: int
    kind: int
    address: int
    seq: int
    ack: int
    flags: int
    payload: bytes

    def __repr__(self) -> str:
        return (
            f"Frame(version={self.version:#04x}, kind={self.kind:#04x}, address={self.address}, seq={self.seq}, "
            f"ack={self.ack}, flags={self.flags:#04x}, payload=<{len(self.payload)} bytes>)"
        )

    @property
    def major(self) -> int:
        return self.version >> 4

    @property
    def minor(self) -> int:
        return self.version & 0x0F


def crc16(data: bytes) -> int:
    """CRC-16/IBM-3740: polynomial 0x1021, initial value 0xFFFF, not reflected; of ``123456789`` it is 0x29B1."""
    return crc_hqx(data, 0xFFFF)


def frame_body(frame: Frame) -> bytes:
    """Header and payload, the bytes that the CRC covers. Raises WireError if a field has no room on the wire."""
    if len(frame.payload) > MAX_PAYLOAD:
        raise WireError(f"A frame carries at most {MAX_PAYLOAD} bytes, not {len(frame.payload)}.")
    try:
        header = _HEADER.pack(frame.version, frame.kind, frame.address, frame.seq, frame.ack, frame.flags)
    except struct.error:
        raise WireError("A header field of a frame is out of its range.") from None
    return header + frame.payload


def encode_frame(frame: Frame) -> bytes:
    """The bytes of one frame on the line: 00, COBS of header, payload and CRC, 00.

    Raises WireError if a field has no room on the wire.
    """
    body = frame_body(frame)
    encoded: bytes = cobs.encode(body + _CRC.pack(crc_hqx(body, 0xFFFF)))
    return b"\0" + encoded + b"\0"


@dataclass(slots=True)
class DecoderCounters:
    """What a ``FrameDecoder`` has met so far. Counts frames, except ``bytes_seen``."""

    bytes_seen: int = 0
    good: int = 0
    crc_errors: int = 0
    cobs_errors: int = 0
    overlong: int = 0
    short: int = 0
    reserved_flags: int = 0

    @property
    def dropped(self) -> int:
        """Pieces between zero bytes that were no frame."""
        return self.crc_errors + self.cobs_errors + self.overlong + self.short + self.reserved_flags


class FrameDecoder:
    """Finds the frames in a stream of bytes, however it is cut into chunks.

    Holds at most 241 bytes between calls. A piece that grows longer is dropped at once, with everything up to the
    next zero byte. Frames of a foreign major version are returned too, so that the version can be named; of such a
    frame only ``version`` and ``kind`` mean anything.
    """

    __slots__ = ("_buffer", "_skipping", "counters")

    def __init__(self) -> None:
        self._buffer = b""
        self._skipping = False
        self.counters = DecoderCounters()

    @property
    def held(self) -> int:
        """Bytes kept of a frame that is not complete yet."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[Frame]:
        """Takes the next bytes of the stream; returns the good frames that they complete, in order."""
        self.counters.bytes_seen += len(data)
        frames: list[Frame] = []
        if data[:1] == b"\0":
            self._end_piece(self._buffer, frames)
            self._buffer = b""
        for run in _RUNS.finditer(data):
            piece = self._buffer + run.group() if self._buffer else run.group()
            self._buffer = b""
            if len(piece) > MAX_ENCODED and not self._skipping:
                self.counters.overlong += 1
                self._skipping = True
            if run.end() < len(data):
                self._end_piece(piece, frames)
            elif not self._skipping:
                self._buffer = piece
        return frames

    def _end_piece(self, piece: bytes, frames: list[Frame]) -> None:
        """A zero byte ends a piece."""
        if self._skipping:
            self._skipping = False
        elif piece and (frame := self._decode(piece)) is not None:
            frames.append(frame)

    def _decode(self, piece: bytes) -> Frame | None:
        counters = self.counters
        try:
            raw = cobs.decode(piece)
        except cobs.DecodeError:
            counters.cobs_errors += 1
            return None
        if len(raw) < MIN_FRAME:
            counters.short += 1
            return None
        body = raw[:-CRC_SIZE]
        if crc_hqx(body, 0xFFFF) != _CRC.unpack_from(raw, len(body))[0]:
            counters.crc_errors += 1
            return None
        version, kind, address, seq, ack, flags = _HEADER.unpack_from(body)
        frame = Frame(version, kind, address, seq, ack, flags, body[HEADER_SIZE:])
        if frame.flags & _RESERVED_FLAGS and frame.major == _OUR_MAJOR:
            counters.reserved_flags += 1
            return None
        counters.good += 1
        return frame
