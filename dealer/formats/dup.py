"""DUP, Duplimate for DOS: 156 bytes a board: the digits of BRI, the hands of DGE, and ten bytes about the set.

The ten: shuffled Y/N, backwards Y/N, lowest board (3), copies (2), highest board (3), left-aligned. A record has no
board number: it is the lowest board plus the record's place. In the blind kind the first board's hands are spaces.
"""

from __future__ import annotations

from collections.abc import Sequence

from dealer.board import Board
from dealer.formats.api import DealFile, WriteOptions
from dealer.formats.bri import DIGITS, digits_of, parse_digits
from dealer.formats.collect import Collector, record_positions
from dealer.formats.dge import HANDS, hands_of, parse_hands
from dealer.formats.numbers import without_gaps

RECORD = 156
MAX_BOARDS = 99


def sniff(data: bytes) -> bool:
    return len(data) >= RECORD and data[:DIGITS].isdigit() and data[146:148].strip(b"YN") == b"" and data[146] != 0


def _number(field: bytes) -> int | None:
    text = field.strip(b" \x00")
    return int(text) if text.isdigit() else None


def read(data: bytes, first_board: int = 1) -> DealFile:
    collector = Collector("dup", first_board)
    count = record_positions(data, RECORD, collector)
    low = _number(data[148:151])
    high = _number(data[153:156])
    trailer = data[148:156]
    if low is None or low < 1:
        collector.note("lowest-board", f"The lowest board can't be read; {first_board} is taken.", 1)
        low = first_board
    elif high is not None and high - low + 1 != count:
        message = f"The file says boards {low} to {high} and has {count}; they are numbered from {low}."
        collector.note("range-differs", message, 1)
    if data[147:148].upper() == b"Y":
        collector.note("backwards", f"The file says that it counts backwards; it is read upwards from board {low}.", 1)
    for record in range(count):
        body = data[record * RECORD : (record + 1) * RECORD]
        line, number = record + 1, low + record
        if body[148:156] != trailer:
            collector.note(
                "trailer-differs", "The numbers behind this record differ from the first one's.", line, number
            )
        hands = parse_digits(body[:DIGITS])
        if hands is None:
            collector.refuse("record-syntax", "The record is not 39 card numbers.", line, number)
            collector.found += 1
            continue
        shown = body[DIGITS : DIGITS + HANDS]
        board = collector.add(number, hands, line, fourth_hand_left_out=True)
        if board is None or not shown.strip(b" \x00"):
            continue
        if hands_of(board) != shown:
            again = parse_hands(shown)
            if again is None or any(
                sorted(cards or ()) != list(hand) for cards, hand in zip(again, board.deal.hands, strict=True)
            ):
                collector.refuse("bri-dge-differ", "The two parts of the record show different hands.", line, number)
    return collector.finish()


def write(boards: Sequence[Board], options: WriteOptions) -> bytes:
    """Raises DealError for more than 99 boards or numbers with gaps."""
    low, high = without_gaps(boards, "DUP", MAX_BOARDS, highest=999)
    trailer = f"YN{low:<3d}{min(options.copies, 99):<2d}{high:02d}".ljust(10).encode()
    records = []
    for place, board in enumerate(boards):
        hidden = options.blind and place == 0
        records.append(digits_of(board) + (b" " * HANDS if hidden else hands_of(board)) + trailer)
    return b"".join(records)
