"""KOPS .rzd: the number of boards in two bytes, little-endian, eleven spaces, then 13 bytes a board.

A byte is a rank from ace to two; its bit pairs are the seats of spade (high), heart, diamond and club.
"""

from __future__ import annotations

from collections.abc import Sequence

from dealer.board import Board
from dealer.formats.api import DealFile, WriteOptions
from dealer.formats.collect import Collector, record_positions, unparsable
from firmware_bridge.errors import DealError

HEADER = 13
RECORD = 13


def sniff(data: bytes) -> bool:
    return len(data) >= HEADER + RECORD and data[2:HEADER] == b" " * 11


def hands_from_ranks(body: bytes, shift: int = 0) -> list[list[int]]:
    """Hands N, E, S, W from 13 rank bytes; the seats in the file are ``shift`` further round than ours."""
    hands: list[list[int]] = [[], [], [], []]
    for rank, byte in enumerate(body):
        for suit in range(4):
            hands[((byte >> (6 - 2 * suit)) - shift) & 3].append(13 * suit + rank)
    return hands


def ranks_of(board: Board, shift: int = 0) -> bytes:
    """Inverse of ``hands_from_ranks``."""
    owners = board.deal.owners
    return bytes(
        sum(((owners[13 * suit + rank] + shift) & 3) << (6 - 2 * suit) for suit in range(4)) for rank in range(RECORD)
    )


def read(data: bytes, first_board: int = 1) -> DealFile:
    collector = Collector("kops", first_board)
    if len(data) < HEADER:
        raise unparsable("The file is too short for KOPS.")
    told = int.from_bytes(data[:2], "little")
    body = data[HEADER:]
    count = record_positions(body[: told * RECORD] if len(body) >= told * RECORD else body, RECORD, collector)
    if told != count:
        collector.refuse("count", f"The file says {told} boards and has {count}.", 1)
    if body[told * RECORD :].strip(b"\r\n\x1a\x00 "):
        collector.refuse("trailing-bytes", f"More bytes follow the {told} boards that the file announces.", count)
    for record in range(count):
        hands = hands_from_ranks(body[record * RECORD : (record + 1) * RECORD])
        collector.add(None, hands, record + 1, say_number=False)
    return collector.finish()


def write(boards: Sequence[Board], options: WriteOptions) -> bytes:
    if len(boards) > 0xFFFF:
        raise DealError("KOPS holds 65535 boards at most.", code="too-many-boards")
    return len(boards).to_bytes(2, "little") + b" " * 11 + b"".join(ranks_of(board) for board in boards)
