"""BRI: 128 bytes a board, the card numbers of North, East and South in two digits each; West has what is left.

01 is the ace of spades, 52 the two of clubs; the cards of a hand may come in any order. Then 32 spaces and 18 NULs.
"""

from __future__ import annotations

from collections.abc import Sequence

from dealer.board import Board
from dealer.cards import PACK_SIZE
from dealer.formats.api import DealFile, WriteOptions
from dealer.formats.collect import Collector, record_positions

RECORD = 128
DIGITS = 78


def sniff(data: bytes) -> bool:
    head = data[:RECORD]
    return len(head) == RECORD and head[:DIGITS].isdigit() and not head[DIGITS:].strip(b" \x00")


def parse_digits(digits: bytes) -> list[list[int] | None] | None:
    """Hands of North, East, South and None for West; None in all when it is not 39 numbers 01-52."""
    if len(digits) != DIGITS or not digits.isdigit():
        return None
    cards = [int(digits[place : place + 2]) - 1 for place in range(0, DIGITS, 2)]
    if not all(0 <= card < PACK_SIZE for card in cards):
        return None
    return [cards[:13], cards[13:26], cards[26:], None]


def digits_of(board: Board) -> bytes:
    """The 78 digits of a board."""
    return "".join(f"{card + 1:02d}" for hand in board.deal.hands[:3] for card in hand).encode()


def read(data: bytes, first_board: int = 1) -> DealFile:
    collector = Collector("bri", first_board)
    for record in range(record_positions(data, RECORD, collector)):
        body = data[record * RECORD : (record + 1) * RECORD]
        hands = parse_digits(body[:DIGITS])
        if hands is None:
            collector.refuse("record-syntax", "The record is not 39 card numbers.", record + 1, collector.next_number())
            collector.found += 1
            continue
        if body[DIGITS:].strip(b" \x00"):
            collector.note("filling", "The rest of the record is not empty.", record + 1)
        collector.add(None, hands, record + 1, fourth_hand_left_out=True, say_number=False)
    return collector.finish()


def write(boards: Sequence[Board], options: WriteOptions) -> bytes:
    return b"".join(digits_of(board) + b" " * 32 + b"\x00" * 18 for board in boards)
