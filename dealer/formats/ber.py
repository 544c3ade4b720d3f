"""BER: 52 digits a board, the seat of each card from the spade ace, 1 North to 4 West; no separators."""

from __future__ import annotations

from collections.abc import Sequence

from dealer.board import Board
from dealer.cards import PACK_SIZE
from dealer.formats.api import DealFile, WriteOptions
from dealer.formats.collect import Collector, record_positions


def sniff(data: bytes) -> bool:
    head = data[:PACK_SIZE]
    return len(head) == PACK_SIZE and not head.strip(b"1234")


def read(data: bytes, first_board: int = 1) -> DealFile:
    collector = Collector("ber", first_board)
    if b"\n" in data or b"\r" in data:
        joined = data.replace(b"\r", b"").replace(b"\n", b"")
        collector.note("line-ends", "The file has line ends; they are left out.", 1)
        data = joined
    for record in range(record_positions(data, PACK_SIZE, collector)):
        body = data[record * PACK_SIZE : (record + 1) * PACK_SIZE]
        if body.strip(b"1234"):
            collector.refuse("record-syntax", "The record is not 52 digits 1-4.", record + 1, collector.next_number())
            collector.found += 1
            continue
        hands = [[card for card in range(PACK_SIZE) if body[card] == 49 + seat] for seat in range(4)]
        collector.add(None, hands, record + 1, say_number=False)
    return collector.finish()


def write(boards: Sequence[Board], options: WriteOptions) -> bytes:
    return b"".join(bytes(49 + owner for owner in board.deal.owners) for board in boards)
