"""The hashes behind commitments, on plain values; ``dealer.audit`` says what they prove. All SHA-256, big-endian."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from dealer.deal import INDEX_BYTES
from firmware_bridge.errors import DealError

KEY_BYTES = 32
NO_PART = bytes(32)
"""What stands for the part before the first one."""

_BOARD_TAG = b"firmware-bridge board commitment 1\x00"
_PART_TAG = b"firmware-bridge set commitment 1\x00"


def set_id_bytes(set_id: str) -> bytes:
    """The eight bytes of a set id. Raises DealError for anything but 16 hex digits."""
    try:
        raw = bytes.fromhex(set_id)
    except ValueError:
        raw = b""
    if len(raw) != 8:
        raise DealError("A set id is 16 hex digits.", code="set-id")
    return raw


def board_hash(set_id: str, board: int, key: bytes, index: int | None) -> bytes:
    """Commitment of a board: over set, board and key, and over the index when the deal exists already."""
    if len(key) != KEY_BYTES:
        raise DealError(f"The key of board {board} has the wrong length.", code="key-size")
    kind = b"\x00" if index is None else b"\x01" + index.to_bytes(INDEX_BYTES, "big")
    return hashlib.sha256(_BOARD_TAG + set_id_bytes(set_id) + board.to_bytes(4, "big") + key + kind).digest()


def part_hash(
    set_id: str, part: int, previous: bytes, entropy_source: str, boards: Sequence[tuple[int, bytes]]
) -> bytes:
    """Commitment of a part: over set, part number, the part before, the entropy's source and every board's hash."""
    hashed = hashlib.sha256(_PART_TAG + set_id_bytes(set_id) + part.to_bytes(4, "big") + previous)
    hashed.update(hashlib.sha256(entropy_source.encode()).digest() + len(boards).to_bytes(4, "big"))
    for number, commitment in boards:
        hashed.update(number.to_bytes(4, "big") + commitment)
    return hashed.digest()


def fingerprint_of(commitment: bytes) -> str:
    """The first 80 bits in four groups of four letters and digits, short enough to be read out."""
    import base64

    text = base64.b32encode(commitment[:10]).decode()
    return "-".join(text[place : place + 4] for place in range(0, 16, 4))
