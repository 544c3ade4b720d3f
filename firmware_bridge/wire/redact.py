"""Lines for traces: header, length and CRC of a frame; the payload only where it holds no card.

Which payloads may be shown is a list of what is known to be harmless: unknown and vendor kinds are hidden too, and so
is a foreign version's frame.
"""

from __future__ import annotations

from firmware_bridge.wire.frames import PROTOCOL_MAX, Flag, Frame, crc16, frame_body
from firmware_bridge.wire.messages import BY_KIND

# Small letters: capitals side by side would look like the name of a card to the log's filter.
_LETTERS = ((Flag.SEQUENCED, "s"), (Flag.ACK, "a"), (Flag.MORE, "m"), (Flag.CONTINUED, "c"), (Flag.FROM_DEVICE, "d"))
_FLAGS = tuple("".join(letter for bit, letter in _LETTERS if flags & bit) or "-" for flags in range(256))


def may_show(frame: Frame) -> bool:
    """True if the payload of this frame holds neither cards nor words that people wrote."""
    message_type = BY_KIND.get(frame.kind)
    return frame.major == PROTOCOL_MAX >> 4 and message_type is not None and not message_type.hidden


def redacted(frame: Frame) -> str:
    """One line: version, kind, address, sequence numbers, flags, length, CRC, and the payload in hex or ``hidden``."""
    message_type = BY_KIND.get(frame.kind)
    name = message_type.name if message_type is not None else "?"
    payload = (frame.payload.hex() or "-") if may_show(frame) else "hidden"
    return (
        f"{frame.version >> 4}.{frame.version & 15} {frame.kind:02x} {name} address {frame.address} seq {frame.seq} "
        f"ack {frame.ack} {_FLAGS[frame.flags]} {len(frame.payload)} bytes crc {crc16(frame_body(frame)):04x} {payload}"
    )
