"""A list of deal indices, one a line, in decimal; commas between groups of digits are allowed and written, as BigDeal
does in its "Goedel" list. The index is the number that ``dealer.deal`` defines.
"""

from __future__ import annotations

from collections.abc import Sequence

from dealer.board import Board
from dealer.deal import N_DEALS, Deal
from dealer.formats.api import DealFile, WriteOptions
from dealer.formats.collect import Collector, decode_text


def sniff(data: bytes) -> bool:
    first = data[:200].lstrip().split(b"\n", 1)[0].strip().replace(b",", b"")
    return first.isdigit() and 1 <= len(first) <= 29


def read(data: bytes, first_board: int = 1) -> DealFile:
    collector = Collector("index", first_board)
    for line, text in enumerate(decode_text(data, collector, max_line=1000).split("\n"), 1):
        digits = text.strip().replace(",", "")
        if not digits or digits.startswith("#"):
            continue
        number = collector.next_number()
        collector.found += 1
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 40):
            collector.refuse("index-syntax", "The line is not a number.", line, number)
        elif int(digits) >= N_DEALS:
            collector.refuse("index-range", "The number is not below the number of deals.", line, number)
        else:
            collector.add_deal(number, Deal.from_index(int(digits)), line)
    return collector.finish()


def write(boards: Sequence[Board], options: WriteOptions) -> bytes:
    return "".join(f"{board.deal.index:38,}\n" for board in boards).encode("ascii")
