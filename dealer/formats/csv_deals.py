"""CSV as BigDeal writes it: 16 quoted holdings (N, E, S, W by spades, hearts, diamonds, clubs), the board number, and
"dealer/vulnerable". No federation publishes another one.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence

from dealer.board import Board, Vulnerability
from dealer.cards import Seat
from dealer.formats.api import DealFile, WriteOptions
from dealer.formats.collect import Collector, decode_text, ranks_to_cards, vulnerability_named

_VULNERABLE = {Vulnerability.NONE: "-", Vulnerability.NS: "NS", Vulnerability.EW: "EW", Vulnerability.ALL: "All"}


def sniff(data: bytes) -> bool:
    first = data[:2000].lstrip(b"\xef\xbb\xbf\r\n").split(b"\n", 1)[0]
    return first.count(b",") in (16, 17) or first.count(b";") in (16, 17)


def read(data: bytes, first_board: int = 1) -> DealFile:
    collector = Collector("csv", first_board)
    text = decode_text(data, collector, max_line=10_000)
    separator = ","
    if text.count(";", 0, 2000) >= 16 > text.count(",", 0, 200):
        separator = ";"
        collector.note("separator", "The columns are separated by semicolons.", 1)
    for line, row_text in enumerate(text.split("\n"), 1):
        # Line by line, so that a quotation mark too many can't swallow the next board.
        try:
            row = next(csv.reader([row_text], delimiter=separator, strict=True), [])
        except csv.Error:
            collector.found += 1
            collector.refuse("record-syntax", "The quotation marks of the line don't match.", line)
            continue
        _read_row([cell.strip() for cell in row], line, collector)
    return collector.finish()


def _read_row(row: list[str], line: int, collector: Collector) -> None:
    if not any(row):
        return
    if len(row) < 16 or any(row[18:]):
        message = f"The line has {len(row)} columns; 16 holdings, number and dealer/vulnerable are wanted."
        collector.refuse("column-count", message, line)
        collector.found += 1
        return
    hands: list[list[int] | None] = []
    for seat in Seat:
        cards: list[int] = []
        for suit in range(4):
            ranks = row[4 * seat + suit].upper().replace("10", "T").strip("- ")
            more = ranks_to_cards(suit, ranks)
            if more is None:
                if collector.found == 0 and line == 1 and not _holds_cards(row):
                    collector.note("heading", "The first line is a heading.", 1)
                    return
                collector.refuse("deal-syntax", f"{seat.name.title()}'s hand can't be read.", line)
                collector.found += 1
                return
            cards += more
        hands.append(cards or None)
    number: int | None = None
    if len(row) > 16 and row[16]:
        if not (row[16].isascii() and row[16].isdigit() and len(row[16]) <= 8):
            collector.refuse("board-number", "The board number can't be read.", line)
            collector.found += 1
            return
        number = int(row[16])
    if len(row) > 17 and "/" in row[17]:
        dealer, _, vulnerable = row[17].partition("/")
        seat_letter = dealer.strip().upper()
        known = Seat.from_letter(seat_letter) if len(seat_letter) == 1 and seat_letter in "NESW" else None
        wanted = number if number is not None else collector.next_number()
        collector.check_law_2(wanted, known, vulnerability_named(vulnerable), line)
    collector.add(number, hands, line)


def _holds_cards(row: list[str]) -> bool:
    """True for a row that is a board, though something is wrong with it: a heading has words in most columns."""
    return sum(bool(cell) and not cell.upper().strip("AKQJT1098765432- ") for cell in row[:16]) >= 4


def write(boards: Sequence[Board], options: WriteOptions) -> bytes:
    lines = []
    for board in boards:
        holdings = ",".join(f'"{board.deal.holding(seat, suit)}"' for seat in Seat for suit in range(4))
        law_2 = f"{board.dealer.letter}/{_VULNERABLE[board.vulnerability]}"
        lines.append(f'{holdings},"{board.number}","{law_2}"\n')
    return "".join(lines).encode("ascii")
