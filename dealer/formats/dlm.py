"""DLM, Duplimate for Windows: an INI text with 99 records, of which "From board" to "To board" are in use.

A record is 26 letters (two cards each: "a" + 4 * seat of the first + seat of the second, cards from the spade ace) and
three digits, the board number XOR all letters. The header's checksum is duplicates XOR from XOR to, XOR 1 when the
set is shown. Records that are not in use hold the pack in order; they are never boards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from operator import xor

from dealer.board import Board
from dealer.cards import PACK_SIZE
from dealer.deal import Deal
from dealer.formats.api import DealFile, WriteOptions
from dealer.formats.collect import Collector, decode_text
from dealer.formats.numbers import without_gaps
from dealer.generate import Origin
from dealer.verify import FILLER
from firmware_bridge.errors import DealError

RECORDS = 99
_BOARD = re.compile(r"board\s+0*(\d{1,3})\Z")
_LETTERS = re.compile(r"([a-p]{26})(\d{3})\Z")


def sniff(data: bytes) -> bool:
    return b"[document]" in data[:200].lower()


def letters_of(deal: Deal) -> str:
    """The 26 letters of a deal."""
    owners = deal.owners
    return "".join(chr(97 + 4 * owners[card] + owners[card + 1]) for card in range(0, PACK_SIZE, 2))


def record_of(number: int, deal: Deal) -> str:
    """Letters and checksum."""
    letters = letters_of(deal)
    return f"{letters}{reduce(xor, letters.encode(), number):03d}"


def read(data: bytes, first_board: int = 1) -> DealFile:
    collector = Collector("dlm", first_board)
    header: dict[str, tuple[str, int]] = {}
    records: dict[int, tuple[str, int]] = {}
    for line, text in enumerate(decode_text(data, collector, max_line=10_000).split("\n"), 1):
        key, equals, value = text.partition("=")
        if not equals:
            if text.strip() and not text.strip().startswith(("[", ";")):
                collector.note("text-ignored", "A line without a key is left out.", line)
            continue
        key = " ".join(key.split()).lower()
        match = _BOARD.match(key)
        target, name = (records, int(match.group(1))) if match else (header, key)
        if name in target:
            collector.note("key-repeated", "The key comes again; the first one counts.", line)
        else:
            target[name] = (value.strip(), line)  # type: ignore[index]
    _read_mark(header, collector)
    key_text, key_line = header.get("crypto key", ("0", 1))
    if key_text not in ("", "0"):
        collector.refuse("encrypted", "The file is encrypted; write it again without a key.", key_line)
        collector.found += 1
        return collector.finish()
    span = _span(header, records, collector)
    for number, (text, line) in sorted(records.items()):
        _read_record(number, text, line, number in span, collector)
    for number in span:
        if number not in records:
            collector.found += 1
            collector.refuse("record-missing", "The record of this board is missing.", None, number)
    return collector.finish()


def _read_mark(header: dict[str, tuple[str, int]], collector: Collector) -> None:
    headline = header.get("headline", ("", 1))[0]
    if headline.startswith("NOT FOR PLAY"):
        collector.origin = Origin.SEEDED
    elif headline.startswith("constrained"):
        collector.origin = Origin.CONSTRAINED


def _span(
    header: dict[str, tuple[str, int]], records: dict[int, tuple[str, int]], collector: Collector
) -> Sequence[int]:
    values: dict[str, int] = {}
    for key in ("duplicates", "from board", "to board", "checksum"):
        text, line = header.get(key, ("", 1))
        if text.isascii() and text.isdigit() and len(text) <= 6:
            values[key] = int(text)
        elif text:
            collector.refuse("header-syntax", f"{key.capitalize()} is not a number.", line)
    if "from board" not in values or "to board" not in values:
        collector.note("range-missing", "From and To board are missing; every record that is not filling is read.", 1)
        filling = letters_of(FILLER)
        return [number for number, (text, _) in sorted(records.items()) if not text.startswith(filling)]
    low, high = values["from board"], values["to board"]
    line = header["from board"][1]
    if not 1 <= low <= high <= RECORDS:
        collector.refuse("range", f"From board {low} to board {high} is not a range within 1 to {RECORDS}.", line)
        return []
    shown = header.get("status", ("show", 1))[0].lower() == "show"
    if "checksum" in values:
        expected = values.get("duplicates", 0) ^ low ^ high ^ (1 if shown else 0)
        if expected != values["checksum"]:
            message = f"The header's checksum is {values['checksum']} and should be {expected}."
            collector.refuse("checksum", message, header["checksum"][1])
    else:
        collector.note("checksum-missing", "The header has no checksum.", 1)
    return range(low, high + 1)


def _read_record(number: int, text: str, line: int, in_use: bool, collector: Collector) -> None:
    match = _LETTERS.match(text.lower())
    if not in_use:
        if match and match.group(1) != letters_of(FILLER):
            collector.note("outside-range", "The record is outside From and To board and is left out.", line, number)
        return
    if match is None:
        collector.found += 1
        collector.refuse("record-syntax", "The record is not 26 letters a-p and three digits.", line, number)
        return
    letters = match.group(1)
    if reduce(xor, letters.encode(), number) != int(match.group(2)):
        collector.found += 1
        collector.refuse("checksum", "The record's checksum is wrong.", line, number)
        return
    hands: list[list[int]] = [[], [], [], []]
    for place, letter in enumerate(letters):
        pair = ord(letter) - 97
        hands[pair // 4].append(2 * place)
        hands[pair % 4].append(2 * place + 1)
    collector.add(number, hands, line)


def write(boards: Sequence[Board], options: WriteOptions) -> bytes:
    """Raises DealError for numbers above 99 or with gaps, and for a filler, which looks like an empty record."""
    low, high = without_gaps(boards, "DLM", RECORDS, highest=RECORDS)
    if any(board.deal == FILLER for board in boards):
        raise DealError("The Duplimate filler can't be written as a board.", code="unshuffled")
    title = " ".join((options.title or "").split())[:200]
    if title and not title.isascii():
        title = title.encode("latin-1", "replace").decode("latin-1")
    headline = title or "Generated by Big Deal version 2.0"
    if options.mark:
        headline = f"{options.mark}: {title}" if title else options.mark
    status, shown = ("Sealed", 0) if options.blind else ("Show", 1)
    lines = [
        "[Document]",
        f"Headline={headline}",
        f"Status={status}",
        f"Duplicates={options.copies}",
        f"From board={low}",
        f"To board={high}",
        "Next board to duplimate=0",
        "PrintOuts=0",
        "Crypto key=0",
        f"Checksum={options.copies ^ low ^ high ^ shown}",
    ]
    deals = {board.number: board.deal for board in boards}
    for number in range(1, RECORDS + 1):
        lines += [f"Duplicates {number:02d}=0", f"Board {number:02d}={record_of(number, deals.get(number, FILLER))}"]
    return ("\n".join(lines) + "\n").encode("latin-1")
