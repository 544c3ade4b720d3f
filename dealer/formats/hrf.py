"""HRF, reading only and unverified: no file of this format was ever at hand, only a description.

128 bytes a board: the board's number, then S..H..D..C.. with ranks for North, East, South and West; the filling is
unknown, so anything that is no letter or digit of a hand is passed over.
"""

from __future__ import annotations

import re

from dealer.formats.api import DealFile
from dealer.formats.collect import Collector, record_positions, suited_hand

RECORD = 128
_HAND = r"S[AKQJT0-9 ]*H[AKQJT0-9 ]*D[AKQJT0-9 ]*C[AKQJT0-9 ]*"
_BOARD = re.compile(rf"[^0-9]{{0,8}}(\d{{1,3}})[^0-9SHDC]{{0,8}}({_HAND})({_HAND})({_HAND})({_HAND})", re.IGNORECASE)


def sniff(data: bytes) -> bool:
    return len(data) >= RECORD and _BOARD.match(data[:RECORD].decode("latin-1")) is not None


def read(data: bytes, first_board: int = 1) -> DealFile:
    collector = Collector("hrf", first_board)
    collector.note("unverified", "HRF is read by its description only; compare a board with the source.", 1)
    for record in range(record_positions(data, RECORD, collector)):
        match = _BOARD.match(data[record * RECORD : (record + 1) * RECORD].decode("latin-1"))
        hands = [suited_hand(match.group(2 + seat)) for seat in range(4)] if match else [None]
        if match is None or any(hand is None for hand in hands):
            collector.found += 1
            collector.refuse("record-syntax", "The record is not a number and four hands.", record + 1)
            continue
        collector.add(int(match.group(1)), hands, record + 1)
    return collector.finish()
