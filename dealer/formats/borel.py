"""Borel .bhg: an empty line, then a line of 52 letters a board: A-Z and a-z are the cards from the spade ace, thirteen
a hand, the dealer's hand first. Which hand is whose follows from the board's number, so from its place in the file.
"""

from __future__ import annotations

from collections.abc import Sequence

from dealer.board import Board, dealer_of
from dealer.cards import HAND_SIZE, PACK_SIZE
from dealer.formats.api import DealFile, WriteOptions
from dealer.formats.collect import Collector, decode_text

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CARD = {letter: card for card, letter in enumerate(LETTERS)}


def sniff(data: bytes) -> bool:
    head = data[:200].lstrip()[:PACK_SIZE]
    return len(head) == PACK_SIZE and head.isalpha() and len(set(head)) == PACK_SIZE


def read(data: bytes, first_board: int = 1) -> DealFile:
    collector = Collector("borel", first_board)
    lines = decode_text(data, collector, max_line=1000).split("\n")
    if lines[0].strip():
        collector.note("first-line", "The first line is not empty.", 1)
    earlier: dict[str, int] = {}
    for line, text in enumerate(lines, 1):
        text = text.strip()
        if not text:
            continue
        number = collector.next_number()
        if any(letter not in _CARD for letter in text):
            collector.refuse("record-syntax", "The line holds something else than card letters.", line, number)
            collector.found += 1
            continue
        if len(text) != PACK_SIZE:
            collector.refuse("card-count", f"The board has {len(text)} cards instead of 52.", line, number)
            collector.found += 1
            continue
        first = earlier.setdefault(text, line)
        if first != line:  # the same hands, from another dealer on, are another deal
            collector.note("line-repeated", f"The line is the same as line {first}.", line, number)
        cards = [_CARD[letter] for letter in text]
        start = dealer_of(number)
        hands: list[list[int]] = [[], [], [], []]
        for place in range(4):
            hands[(start + place) % 4] = cards[HAND_SIZE * place : HAND_SIZE * (place + 1)]
        collector.add(None, hands, line, say_number=False)
    return collector.finish()


def write(boards: Sequence[Board], options: WriteOptions) -> bytes:
    lines = [""]
    for board in boards:
        hands = board.deal.hands
        lines.append("".join(LETTERS[card] for place in range(4) for card in hands[(board.dealer + place) % 4]))
    return ("\n".join(lines) + "\n").encode("ascii")
