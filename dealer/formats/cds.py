"""CDS: 14 bytes a board: its number, then the 13 rank bytes of KOPS with every seat one place further round."""

from __future__ import annotations

from collections.abc import Sequence

from dealer.board import Board
from dealer.formats.api import DealFile, WriteOptions
from dealer.formats.collect import Collector, record_positions
from dealer.formats.kops import hands_from_ranks, ranks_of
from firmware_bridge.errors import DealError

RECORD = 14


def sniff(data: bytes) -> bool:
    if not data or len(data) % RECORD:
        return False
    numbers = data[::RECORD]
    return 0 not in numbers[:100] and all(len(hand) == 13 for hand in hands_from_ranks(data[1:RECORD], 1))


def read(data: bytes, first_board: int = 1) -> DealFile:
    collector = Collector("cds", first_board)
    for record in range(record_positions(data, RECORD, collector)):
        body = data[record * RECORD : (record + 1) * RECORD]
        collector.add(body[0], hands_from_ranks(body[1:], 1), record + 1)
    return collector.finish()


def write(boards: Sequence[Board], options: WriteOptions) -> bytes:
    if any(board.number > 255 for board in boards):
        raise DealError("CDS has no board numbers above 255.", code="board-number")
    return b"".join(bytes((board.number,)) + ranks_of(board, 1) for board in boards)
