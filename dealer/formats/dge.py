"""DGE: 128 bytes a board, four hands of 17 bytes; each suit starts with its mark in the DOS character set."""

from __future__ import annotations

from collections.abc import Sequence

from dealer.board import Board
from dealer.cards import Seat
from dealer.formats.api import DealFile, WriteOptions
from dealer.formats.collect import Collector, ranks_to_cards, record_positions

RECORD = 128
HANDS = 68
MARKS = bytes((6, 3, 4, 5))
"""Spade, heart, diamond and club of code page 437."""


def sniff(data: bytes) -> bool:
    return len(data) >= RECORD and data[0] == MARKS[0] and data[17] == MARKS[0] and data[34] == MARKS[0]


def parse_hands(body: bytes) -> list[list[int] | None] | None:
    """Hands N, E, S, W from 68 bytes, or None when they can't be read."""
    hands: list[list[int] | None] = []
    for seat in range(4):
        hand = body[17 * seat : 17 * seat + 17]
        if len(hand) != 17 or hand[:1] != MARKS[:1]:
            return None
        cards: list[int] = []
        rest = hand[1:]
        for suit in range(4):
            if suit < 3:
                ranks, mark, rest = rest.partition(MARKS[suit + 1 : suit + 2])
                if not mark:
                    return None
            else:
                ranks = rest
            more = ranks_to_cards(suit, ranks.decode("latin-1"))
            if more is None:
                return None
            cards += more
        hands.append(cards)
    return hands


def hands_of(board: Board) -> bytes:
    """The 68 bytes of a board."""
    return b"".join(
        MARKS[suit : suit + 1] + board.deal.holding(seat, suit).encode() for seat in Seat for suit in range(4)
    )


def read(data: bytes, first_board: int = 1) -> DealFile:
    collector = Collector("dge", first_board)
    for record in range(record_positions(data, RECORD, collector)):
        hands = parse_hands(data[record * RECORD : record * RECORD + HANDS])
        if hands is None:
            collector.refuse(
                "record-syntax", "The record is not four hands with suit marks.", record + 1, collector.next_number()
            )
            collector.found += 1
            continue
        collector.add(None, hands, record + 1, say_number=False)
    return collector.finish()


def write(boards: Sequence[Board], options: WriteOptions) -> bytes:
    return b"".join(hands_of(board) + b"\x00" * (RECORD - HANDS) for board in boards)
