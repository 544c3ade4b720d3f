"""A list of deal indices, one a line, in decimal; commas between groups of digits are allowed and written, as BigDeal
does in its "Goedel" list. The index is the number that ``dealer.deal`` defines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dealer.board import Board
from dealer.deal import N_DEALS, Deal
from dealer.formats.api import DealFile, WriteOptions
from dealer.formats.collect import Collector, decode_text

_GROUPS = re.compile(r"\d{1,3}(,\d{3})*\Z")


def sniff(data: bytes) -> bool:
    first, end, _ = data[:200].lstrip().partition(b"\n")
    digits = first.strip().replace(b",", b"")
    # Without a line end it may be the beginning of any format that is made of digits.
    return bool(end) and digits.isdigit() and 1 <= len(digits) <= 29


def read(data: bytes, first_board: int = 1) -> DealFile:
    """Indices by line. In a list set flush right, as BigDeal writes it, a line of another length has lost something."""
    collector = Collector("index", first_board)
    lines = decode_text(data, collector, max_line=1000).split("\n")
    width = next((len(text.rstrip()) for text in lines if text.strip()), 0)
    flush = any(text.startswith(" ") for text in lines)
    for line, text in enumerate(lines, 1):
        digits = text.strip().replace(",", "")
        if not digits or digits.startswith("#"):
            continue
        number = collector.next_number()
        collector.found += 1
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 40):
            collector.refuse("index-syntax", "The line is not a number.", line, number)
        elif "," in text and not _GROUPS.match(text.strip()):
            collector.refuse("index-syntax", "The commas don't stand between groups of three digits.", line, number)
        elif flush and len(text.rstrip()) != width:
            collector.refuse("index-syntax", "The number ends in another column than the first one.", line, number)
        elif int(digits) >= N_DEALS:
            collector.refuse("index-range", "The number is not below the number of deals.", line, number)
        else:
            if line == len(lines):
                collector.note("line-end-missing", "The last line has no line end; it may have been cut.", line, number)
            collector.add_deal(number, Deal.from_index(int(digits)), line)
    return collector.finish()


def write(boards: Sequence[Board], options: WriteOptions) -> bytes:
    return "".join(f"{board.deal.index:38,}\n" for board in boards).encode("ascii")
