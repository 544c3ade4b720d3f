"""LIN: pairs of a two-letter tag and a value between bars, as bridgebase.com and BigDeal write them.

No specification exists. Boards are told apart by qx and md, never by pn: files of deals only have no pn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

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
_OF_A_BOARD = ("qx", "md", "ah", "sv")
_BOARD = re.compile(
    r"\s*(?:board|bord|brett|bricka|deal|hand|donne|mano|giocata|smazzata|tavola|rozdanie|spel|spil|giv)?"
    r"\s*(?:number|no|nr|n°|#)?\s*[.:]?\s*(\d{1,8})\s*\Z",
    re.IGNORECASE,
)
_ROOM = re.compile(r"\s*[oc]?(\d{1,8})\b", re.IGNORECASE)
_RANKS = "[akqjt0-9]{0,14}"
_DEAL = re.compile(f"s{_RANKS}h{_RANKS}d{_RANKS}c{_RANKS},\\s*s{_RANKS}h", re.IGNORECASE)
_LINK = re.compile(r"[?&]lin=([A-Za-z]{2})\Z")
_ESCAPED = re.compile(r"%7C|%2C", re.IGNORECASE)


def sniff(data: bytes) -> bool:
    head = data[:65536].lstrip(b"\xef\xbb\xbf \t\r\n")
    if b"lin=" in head[:2000]:
        return b"md|" in head or b"md%7c" in head.lower()
    return b"md|" in head and re.search(rb"(?m)^\|?[A-Za-z]{2}\|", head) is not None


class _Group:
    """What is known of one board so far. closed: its page is full, so that headings now belong to the next board."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.values: dict[str, tuple[str, int]] = {}
        self.closed = False


def read(data: bytes, first_board: int = 1) -> DealFile:
    """Boards of a LIN file. Raises DealError (exit status 2) when it is no text."""
    collector = Collector("lin", first_board)
    text = _without_link(decode_text(data, collector, max_line=64 * 1024 * 1024), collector)
    without_deal: list[tuple[int, int]] = []
    group = _Group(1)
    for tag, value, line in _pairs(text, collector):
        if _starts_group(tag, group):
            _finish(group, collector, without_deal)
            group = _Group(line)
        if tag in _OF_A_BOARD:
            group.values.setdefault(tag, (value.strip(), line))
        elif tag == "pg":
            group.closed = "md" in group.values
        elif tag == "vg" and value.startswith("NOT FOR PLAY"):
            collector.origin = Origin.SEEDED
        elif tag == "vg" and value.startswith("constrained"):
            collector.origin = Origin.CONSTRAINED
    _finish(group, collector, without_deal)
    for number, line in without_deal:
        if collector.has(number):
            collector.note("shared-deal", f"Board {number} comes again without its deal.", line, number)
        else:
            collector.found += 1
            collector.refuse("deal-missing", "The board has no deal.", line, number)
    return collector.finish()


def _without_link(text: str, collector: Collector) -> str:
    """The LIN that an address of BBO's hand viewer holds, or the text as it is."""
    if _ESCAPED.search(text[:65536]) is None:
        return text
    collector.note("percent-codes", "Bars and commas are written as %7C and %2C, as in a link.", 1)
    return unquote(text)


def _pairs(text: str, collector: Collector) -> Iterator[tuple[str, str, int]]:
    """Each tag in small letters, its value, and its line.

    An explanation may hold a bar, and then values stand where tags are looked for. What is no tag is therefore taken as
    more of the value before it, which puts the reader back in step at the next tag.
    """
    line, position, pairs = 1, 0, 0
    before = ""
    linked = False
    while True:
        bar = text.find("|", position)
        if bar < 0:
            break
        pairs += 1
        if pairs > MAX_PAIRS:
            raise unparsable("There are too many tags in the file.", line, "too-many-tags")
        words = text[position:bar]
        line += words.count("\n")
        last_line = words.rpartition("\n")[2]
        link = _LINK.search(last_line)
        linked = linked or link is not None
        tag = (link.group(1) if link else last_line).strip().lower()
        if tag.isascii() and tag.isalpha() and len(tag) == 2:
            if not link and len(tag) != len(words.strip()):
                collector.note("text-ignored", "Text between the tags is left out.", line)
            stop = text.find("|", bar + 1)
            if stop < 0:
                stop = len(text)
                collector.note("bar-missing", "The last value has no bar behind it; the file may have been cut.", line)
            value = text[bar + 1 : stop]
            if tag != "md" and _holds_deal(value):
                collector.found += 1
                collector.refuse("tag-syntax", "A deal is here, and the tag before it is not md.", line)
            yield tag, value, line
            line += value.count("\n")
            before, position = value.strip().lower(), stop + 1
            continue
        if before in _OF_A_BOARD:  # a bar before it has put the tag in the place of a value
            collector.note("tag-unknown", "A value before this tag holds a bar.", line)
            yield before, words, line
        elif tag.endswith("md") or _holds_deal(words):
            collector.found += 1
            collector.refuse("tag-syntax", "A tag before a deal can't be read.", line)
        elif tag:
            collector.note("tag-unknown", "What is here is no tag; it is taken as more of the value before.", line)
        before, position = "" if before in _OF_A_BOARD else tag, bar + 1
    rest = text[position:]
    if rest.strip() and not (linked and rest.startswith(("&", '"', "'"))):
        line += rest[: len(rest) - len(rest.lstrip())].count("\n")
        collector.refuse("file-cut", "The file ends in the middle of a tag.", line)


def _holds_deal(text: str) -> bool:
    return len(text) > 40 and _DEAL.search(text[:4096]) is not None


def _starts_group(tag: str, group: _Group) -> bool:
    if tag == "qx":
        return "qx" in group.values or "md" in group.values
    return tag in _OF_A_BOARD and "md" in group.values and (tag in group.values or group.closed)


def _number(group: _Group) -> int | None:
    if "ah" in group.values:
        match = _BOARD.match(group.values["ah"][0])
        if match:
            return int(match.group(1))
    match = _ROOM.match(group.values["qx"][0]) if "qx" in group.values else None
    return int(match.group(1)) if match else None


def _finish(group: _Group, collector: Collector, without_deal: list[tuple[int, int]]) -> None:
    """Add the group's board. One whose deal must be elsewhere in the file goes to ``without_deal`` with its line."""
    number = _number(group)
    if "md" not in group.values:
        if "qx" in group.values:
            if number is not None:
                without_deal.append((number, group.line))
            else:
                collector.note("game-ignored", "A board without number and deal is left out.", group.line)
        return
    deal, line = group.values["md"]
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
