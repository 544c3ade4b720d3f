"""LIN: pairs of a two-letter tag and a value between bars, as bridgebase.com and BigDeal write them.

No specification exists. Boards are told apart by qx and md, never by pn: files of deals only have no pn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dealer.board import Board, Vulnerability
from dealer.cards import Seat
from dealer.formats.api import DealFile, WriteOptions
from dealer.formats.collect import Collector, decode_text, suited_hand, unparsable
from dealer.generate import Origin

MAX_PAIRS = 4_000_000
_SEATS = (Seat.SOUTH, Seat.WEST, Seat.NORTH, Seat.EAST)
"""Order of the hands in md, and the seats of dealer digits 1-4."""
_VULNERABILITY = {"o": Vulnerability.NONE, "n": Vulnerability.NS, "e": Vulnerability.EW, "b": Vulnerability.ALL}
_LETTER = {value: letter for letter, value in _VULNERABILITY.items()}
_BOARD = re.compile(r"\s*(?:board|bord|rozdanie|tavola|donne|spel)?\s*(\d{1,8})\s*\Z", re.IGNORECASE)
_ROOM = re.compile(r"\s*([oc])(\d{1,8})\b", re.IGNORECASE)


def sniff(data: bytes) -> bool:
    head = data[:65536].lstrip(b"\xef\xbb\xbf \t\r\n")
    return b"md|" in head and re.match(rb"[A-Za-z]{2}\|", head) is not None


class _Group:
    """What is known of one board so far."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.values: dict[str, tuple[str, int]] = {}


def read(data: bytes, first_board: int = 1) -> DealFile:
    """Boards of a LIN file. Raises DealError (exit status 2) when it is no text."""
    collector = Collector("lin", first_board)
    text = decode_text(data, collector, max_line=64 * 1024 * 1024)
    group = _Group(1)
    line, position, pairs = 1, 0, 0
    while True:
        bar = text.find("|", position)
        if bar < 0:
            break
        tag = text[position:bar]
        line += tag.count("\n")
        tag = tag.strip().lower()
        stop = text.find("|", bar + 1)
        if stop < 0:
            stop = len(text)
            if tag:
                collector.note("bar-missing", "The last value has no bar behind it.", line)
        value = text[bar + 1 : stop]
        pairs += 1
        if pairs > MAX_PAIRS:
            raise unparsable("There are too many tags in the file.", line, "too-many-tags")
        if len(tag) != 2:
            if "md" in tag[-3:]:
                collector.refuse("tag-syntax", "A tag before a deal can't be read.", line)
            elif tag:
                collector.note("tag-unknown", "A tag is not two letters long and is left out.", line)
        else:
            if _starts_group(tag, group):
                _finish(group, collector)
                group = _Group(line)
            if tag in ("qx", "md", "ah", "sv"):
                group.values.setdefault(tag, (value.strip(), line))
            elif tag == "vg" and value.startswith("NOT FOR PLAY"):
                collector.origin = Origin.SEEDED
            elif tag == "vg" and value.startswith("constrained"):
                collector.origin = Origin.CONSTRAINED
        line += value.count("\n")
        position = stop + 1
    if text[position:].strip():
        collector.note("text-ignored", "Text after the last bar is left out.", line)
    _finish(group, collector)
    return collector.finish()


def _starts_group(tag: str, group: _Group) -> bool:
    if tag == "qx":
        return "qx" in group.values or "md" in group.values
    return tag in ("md", "ah", "sv") and "md" in group.values and tag in group.values


def _finish(group: _Group, collector: Collector) -> None:
    if "md" not in group.values:
        if "qx" in group.values:
            collector.note("game-ignored", "A board without a deal is left out.", group.line)
        return
    deal, line = group.values["md"]
    number: int | None = None
    if "ah" in group.values:
        match = _BOARD.match(group.values["ah"][0])
        number = int(match.group(1)) if match else None
    if number is None and "qx" in group.values:
        match = _ROOM.match(group.values["qx"][0])
        number = int(match.group(2)) if match else None
    wanted = number if number is not None else collector.next_number()
    dealer, body = (deal[:1], deal[1:]) if deal[:1].isdigit() else ("", deal)
    if dealer in ("1", "2", "3", "4"):
        collector.check_law_2(wanted, _SEATS[int(dealer) - 1], None, line)
    else:
        collector.note("dealer-unknown", "The deal has no dealer digit 1-4; the number decides.", line, wanted)
    if "sv" in group.values:
        letter, sv_line = group.values["sv"]
        if letter == "0":
            collector.note("sv-digit", "Vulnerability none is written with the digit 0.", sv_line, wanted)
            letter = "o"
        vulnerability = _VULNERABILITY.get(letter.lower())
        if vulnerability is None and letter:
            collector.note(
                "vulnerable-unknown", "The vulnerability can't be read; the number decides.", sv_line, wanted
            )
        collector.check_law_2(wanted, None, vulnerability, sv_line)
    texts = body[:1000].split(",")
    while len(texts) > 4 and not texts[-1].strip():
        texts.pop()
    hands: list[list[int] | None] = [None] * 4
    if len(texts) > 4:
        collector.found += 1
        collector.refuse("deal-syntax", f"The deal has {len(texts)} hands.", line, wanted)
        return
    for seat, text in zip(_SEATS, texts, strict=False):
        if not text.strip():
            continue
        cards = suited_hand(text)
        if cards is None:
            collector.found += 1
            collector.refuse("deal-syntax", f"{seat.name.title()}'s hand can't be read.", line, wanted)
            return
        hands[seat] = cards
    collector.add(number, hands, line, fourth_hand_left_out=hands[Seat.EAST] is None)


def write(boards: Sequence[Board], options: WriteOptions) -> bytes:
    """One line a board, three hands, highest rank first, as BigDeal writes it, but "o" for nobody vulnerable."""
    lines = []
    if options.mark:
        lines.append(f"vg|{options.mark},,I,1,{len(boards)},,0,,0|")
    for board in boards:
        hands = ",".join(
            "".join(f"{'SHDC'[suit]}{board.deal.holding(seat, suit)}" for suit in range(4)) for seat in _SEATS[:3]
        )
        dealer = _SEATS.index(board.dealer) + 1
        number = board.number
        vulnerability = _LETTER[board.vulnerability]
        lines.append(f"qx|o{number}|md|{dealer}{hands}|rh||ah|Board {number}|sv|{vulnerability}|pg||")
    return ("\n".join(lines) + "\n").encode("ascii")
