"""PBN 2.1, reading: the text every program writes, in both dialects and in what programs make of them.

Source: PBN standard 2.1, sections 3.1-3.8. Read here: comments of both kinds anywhere, tags in any order and several on
a line, escape lines, inheritance ("#", "##"), games with no deal of their own, text after the deals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from dealer.cards import Seat
from dealer.formats.api import DealFile
from dealer.formats.collect import (
    Collector,
    decode_text,
    ranks_to_cards,
    suited_hand,
    unparsable,
    vulnerability_named,
)
from dealer.formats.options import CONSTRAINED_MARK, SEEDED_MARK
from dealer.formats.pbn_write import write
from dealer.generate import MAX_BOARD_NUMBER, Origin

__all__ = ["PbnGame", "parse_games", "read", "read_escape_line", "sniff", "write"]

MAX_TAGS_PER_GAME = 1000
MAX_TAGS = 8_000_000

_TOKEN = re.compile(
    r"""(?P<space>[ \t\v\f]+)
    |(?P<newline>\n[ \t\v\f\n]*)
    |(?P<tag>\[\s*(?P<name>[A-Za-z0-9_]+)\s*"(?P<value>(?:[^"\\\n]|\\.)*)"\s*\])
    |(?P<line_comment>;[^\n]*)
    |(?P<brace>\{)
    |(?P<bracket>\[)
    |(?P<text>(?:"[^"\n]*"|[^\s\[{;"]|"[^"\n]*)[^\s\[{;"]*)""",
    re.VERBOSE,
)
_REST_OF_LINE = re.compile(r'(?:[^\n\[{;"]|"[^"\n]*")*')
_QUOTES_INSIDE = re.compile(r'\[\s*([A-Za-z0-9_]+)[ \t]+"([^\n]*)"[ \t]*\][ \t]*(?=\n|\Z)')
_COMMENTED = re.compile(
    r"""\[(?:\s|;[^\n]*\n|\{[^}]*\})*(?P<name>[A-Za-z0-9_]+)(?:\s|;[^\n]*\n|\{[^}]*\})*
    "(?P<value>(?:[^"\\\n]|\\.)*)"(?:\s|;[^\n]*\n|\{[^}]*\})*\]""",
    re.VERBOSE,
)
_DEAL = re.compile(r"\s*(N(?:orth)?|E(?:ast)?|S(?:outh)?|W(?:est)?)\s*:\s*(\S.*?)\s*\Z", re.DOTALL | re.IGNORECASE)
_LIKE_DEAL = re.compile(r"[NESW]:[^\s.]*\.[^\s.]*\.[^\s.]*\.[^\s.]* [^\s.]*\.[^\s.]*\.")
_SET_LINE = re.compile(
    r"%\s*Firmware Bridge set (?P<id>[0-9a-f]{1,64}) origin (?P<origin>\w+)(?: fingerprint (?P<fp>\S+))?"
)
_SYMBOLS = str.maketrans("♠♥♦♣", "SHDC")
_SEAT_NAMES = frozenset({"N", "E", "S", "W", "NORTH", "EAST", "SOUTH", "WEST"})
_OTHER_CASE = {
    spelt: name
    for name in ("Event", "Site", "Date", "Board", "Dealer", "Vulnerable", "Deal")
    for spelt in (name.lower(), name.upper())
}
"""Tag names in small or capital letters only, as some programs write them."""
_FIRST_TAGS = frozenset({"Event", "Site", "Date"})
"""Those that come before Board in export format."""
_PLAYED_TAGS = frozenset({"Declarer", "Contract", "Result", "Auction", "Play", "Score"})
_RESULT_TAGS = frozenset({"Declarer", "Contract", "Result", "Auction", "Play", "Score", "West", "North"})


@dataclass(slots=True)
class PbnGame:
    """One game: tag values (first one wins), the line of each tag, and the tokens of its sections."""

    line: int
    tags: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    sections: dict[str, list[str]] = field(default_factory=dict)


def sniff(data: bytes) -> bool:
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        head = head.replace(b"\x00", b"")
        return b"[" in head
    return head.startswith((b"%", b";", b"{ ")) or re.search(rb'\[\s*\w+\s*"', head) is not None


def _is_section(name: str) -> bool:
    return name in ("Auction", "Play", "Note") or (name.endswith("Table") and name != "Table")


def parse_games(text: str, collector: Collector, *, keep_sections: bool = False) -> Iterator[PbnGame]:
    """The games of a PBN text (line ends "\\n"), with inheritance resolved.

    keep_sections: keep the tokens that follow Auction, Play and the tables. Repairs and problems go to ``collector``.
    Raises DealError when the text has more tags than a program can mean.
    """
    previous: dict[str, str] = {}
    sticky: dict[str, str] = {}
    for game in _whole_games(_split_games(text, collector, keep_sections), collector):
        for name, value in game.tags.items():
            if value in ("#", "##"):
                inherited = previous.get(name)
                line = game.lines[name]
                if inherited is None:
                    collector.refuse("inherit-nothing", f"{name} repeats a value, and there is none before it.", line)
                    inherited = ""
                else:
                    collector.note("inherited", f"{name} is taken from the game before.", line)
                game.tags[name] = inherited
                if value == "##":
                    sticky[name] = inherited
        for name, value in sticky.items():
            if name not in game.tags:
                game.tags[name] = value
                game.lines[name] = game.line
        previous = game.tags
        yield game


def _whole_games(pieces: Iterator[PbnGame], collector: Collector) -> Iterator[PbnGame]:
    """Games that empty lines have torn apart put together again: a number without a deal or a result, and then a deal
    without a number. No tag may be there twice.
    """
    torn: PbnGame | None = None
    for piece in pieces:
        if torn is not None:
            if "Board" not in piece.tags and not torn.tags.keys() & piece.tags.keys():
                torn.tags.update(piece.tags)
                torn.lines.update(piece.lines)
                torn.sections.update(piece.sections)
                if "Deal" in piece.tags:
                    collector.note("game-torn", "An empty line is inside this game.", torn.line)
                    yield torn
                    torn = None
                continue
            yield torn
            torn = None
        if "Board" in piece.tags and "Deal" not in piece.tags and not _PLAYED_TAGS & piece.tags.keys():
            torn = piece
        else:
            yield piece
    if torn is not None:
        yield torn


def _split_games(text: str, collector: Collector, keep_sections: bool) -> Iterator[PbnGame]:
    game: PbnGame | None = None
    section: list[str] | None = None
    in_section = False
    position, line, tags, tag_line, noted_line = 0, 1, 0, 0, 0
    line_is_blank, told_text, told_case = True, False, False
    end = len(text)
    match_token, match_rest = _TOKEN.match, _REST_OF_LINE.match
    while position < end:
        if text[position] == "%" and (position == 0 or text[position - 1] == "\n"):
            stop = text.find("\n", position)
            stop = end if stop < 0 else stop
            read_escape_line(text[position : min(stop, position + 300)], collector)
            position, line_is_blank = stop, False
            continue
        match = match_token(text, position)
        if match is None:
            raise unparsable("A character here can't be read.", line)
        kind = match.lastgroup if match.lastgroup not in ("name", "value") else "tag"
        position = match.end()
        if kind == "newline":
            ends = match.group().count("\n")
            if (line_is_blank or ends > 1) and game is not None:
                yield game
                game, section, in_section = None, None, False
            line += ends
            line_is_blank = True
            continue
        if kind == "space":
            continue
        line_is_blank = False
        if kind == "line_comment":
            collector.note("comment", "A comment is left out.", line)
            continue
        if kind == "brace":
            close = text.find("}", position)
            if close < 0:
                collector.refuse("comment-open", "A comment that starts here never ends.", line)
                break
            collector.note("comment", "A comment is left out.", line)
            line += text.count("\n", position, close)
            position = close + 1
            continue
        if kind == "text":
            if in_section:
                if section is not None:
                    section.append(match.group())
            elif not told_text:
                collector.note("text-ignored", "Text that belongs to no tag is left out.", line)
                told_text = True
            if section is None:
                start, position = match.start(), match_rest(text, position).end()  # type: ignore[union-attr]
                lost = _LIKE_DEAL.search(text, start, position)
                if lost and (game is None or "Deal" not in game.tags or "Deal" in text[start : lost.start()]):
                    collector.refuse("tag-syntax", "A deal is here, and it is in no tag.", line)
            continue
        if kind == "bracket":
            inner = _COMMENTED.match(text, position - 1, position + 4096) or _QUOTES_INSIDE.match(text, position - 1)
            if inner is None:
                stop = text.find("\n", position)
                collector.refuse("tag-syntax", "A tag can't be read.", line)
                position = end if stop < 0 else stop
                continue
            collector.note("tag-repaired", "A tag holds a comment or a quotation mark.", line)
            name, value = inner.group(1), inner.group(2)
            match, position = inner, inner.end()
        else:
            name, value = match.group("name"), match.group("value")
        if name in _OTHER_CASE:
            name = _OTHER_CASE[name]
            if not told_case:
                collector.note("tag-case", "Tag names are in small or in capital letters only.", line)
                told_case = True
        tags += 1
        if tags > MAX_TAGS:
            raise unparsable("There are too many tags in the file.", line, "too-many-tags")
        if tag_line == line and noted_line != line:
            collector.note("tags-on-line", "Several tags are on one line.", line)
            noted_line = line
        if "\\" in value:
            value = re.sub(r"\\(.)", r"\1", value)
        told_text = False
        if game is not None and _starts_game(game, name, value):
            collector.note("game-not-separated", "No empty line is before this game.", line)
            yield game
            game = None
        if game is None:
            game = PbnGame(line)
        if name in game.tags:
            if game.tags[name] != value and name != "Note":
                collector.note("tag-repeated", f"{name} comes again in the game; the first one counts.", line)
        elif len(game.tags) >= MAX_TAGS_PER_GAME:
            raise unparsable("There are too many tags in one game.", line, "too-many-tags")
        else:
            game.tags[name] = value
            game.lines[name] = line
        in_section = _is_section(name)
        section = game.sections.setdefault(name, []) if in_section and keep_sections else None
        line += match.group().count("\n")
        tag_line = line
    if game is not None:
        yield game


def _starts_game(game: PbnGame, name: str, value: str) -> bool:
    """True when this tag can only belong to the next game, though no empty line came before it."""
    if name not in ("Event", "Board", "Deal") or name not in game.tags:
        return False
    if name == "Board" and game.tags["Board"] != value:
        return True  # whether or not the one before has a deal
    return "Deal" in game.tags and (name != "Deal" or game.tags["Deal"] != value)


def read_escape_line(text: str, collector: Collector) -> None:
    """Take the set's identity from a line that starts with %, if it is the one that we write."""
    match = _SET_LINE.match(text)
    if match:
        collector.set_id = match["id"]
        collector.fingerprint = match["fp"] or ""
        collector.origin = next((origin for origin in Origin if origin == match["origin"]), None)


def read(data: bytes, first_board: int = 1) -> DealFile:
    """Boards of a PBN file. Raises DealError (exit status 2) when it is no text at all."""
    collector = Collector("pbn", first_board)
    text = decode_text(data, collector)
    last_number: int | None = None
    last_given = False
    ignored: PbnGame | None = None
    for game in parse_games(text, collector):
        ignored = None
        if "Contract" in game.tags:
            _check_contract(game, collector)
        _take_words(game, collector)
        number, usable = _board_number(game, collector)
        deal = game.tags.get("Deal")
        if deal is None or not deal.strip() or deal.strip() == "?":
            other = next((name for name, value in game.tags.items() if _LIKE_DEAL.match(value[:100])), None)
            if other is not None:
                collector.found += 1
                message = "A deal is here, and its tag is not called Deal."
                collector.refuse("deal-missing", message, game.lines[other], number)
            elif (
                last_number is not None
                and (number is None or (number == last_number and last_given))
                and _RESULT_TAGS & game.tags.keys()
            ):
                message = f"This game has no deal; it shares the one of board {last_number}."
                collector.note("shared-deal", message, game.line, last_number)
            elif number is not None:
                collector.found += 1
                collector.refuse("deal-missing", "The board has no deal.", game.lines["Board"], number)
            else:
                collector.note("game-ignored", "A game without board and deal is left out.", game.line)
                ignored = game
            continue
        line = game.lines["Deal"]
        wanted = number if number is not None else collector.next_number()
        hands = _hands(deal, line, wanted, collector)
        if hands is None or not usable:
            collector.found += 1
            continue
        last_number, last_given = wanted, number is not None
        _check_law_2(game, wanted, collector)
        collector.add(number, hands, line)
    if ignored is not None and collector.found and ignored.tags.keys() <= _FIRST_TAGS:
        collector.refuse("file-cut", "The file ends at the beginning of a game.", ignored.line)
    return collector.finish()


def _take_words(game: PbnGame, collector: Collector) -> None:
    """Event and date of the first game that has them, and the mark that may stand before the event."""
    event, date = game.tags.get("Event", "").strip(), game.tags.get("Date", "").strip()
    for mark, origin in ((SEEDED_MARK, Origin.SEEDED), (CONSTRAINED_MARK, Origin.CONSTRAINED)):
        if event == mark or event.startswith(f"{mark}: "):
            collector.origin = origin
            event = event[len(mark) + 2 :]
    if not collector.title and event not in ("", "?"):
        collector.title = event[:255]
    if not collector.date and date.strip("?.") != "":
        collector.date = date[:40]


def _board_number(game: PbnGame, collector: Collector) -> tuple[int | None, bool]:
    text = game.tags.get("Board", "").strip()
    if text in ("", "?", "-"):
        return None, True
    if text.isascii() and text.isdigit() and len(text) <= 12 and 1 <= int(text) <= MAX_BOARD_NUMBER:
        return int(text), True
    collector.refuse("board-number", "The Board tag is not a board number.", game.lines["Board"])
    return None, False


def _check_contract(game: PbnGame, collector: Collector) -> None:
    text = game.tags["Contract"].strip().upper()
    if len(text) >= 2 and text[0] in "1234567" and text[1:].rstrip("X") == "N":
        collector.note("nt-as-n", "The contract is in no trump, written N.", game.lines["Contract"])


def _check_law_2(game: PbnGame, number: int, collector: Collector) -> None:
    dealer = game.tags.get("Dealer", "").strip().upper()
    if dealer in _SEAT_NAMES:
        if len(dealer) > 1:
            collector.note(
                "seat-name", f"Dealer means {dealer[0]} and is written otherwise.", game.lines["Dealer"], number
            )
        collector.check_law_2(number, Seat.from_letter(dealer[0]), None, game.lines["Dealer"])
    elif dealer not in ("", "?"):
        collector.note(
            "dealer-unknown", "The Dealer tag can't be read; the number decides.", game.lines["Dealer"], number
        )
    text = game.tags.get("Vulnerable", "").strip()
    if text in ("", "?"):
        return
    line = game.lines["Vulnerable"]
    vulnerability = vulnerability_named(text)
    if vulnerability is None:
        collector.note("vulnerable-unknown", "The Vulnerable tag can't be read; the number decides.", line, number)
    elif text != vulnerability.pbn:
        collector.note(
            "vulnerable-name", f"Vulnerable means {vulnerability.pbn} and is written otherwise.", line, number
        )
    collector.check_law_2(number, None, vulnerability, line)


def _hands(text: str, line: int, number: int, collector: Collector) -> list[list[int] | None] | None:
    """Hands N, E, S, W of a Deal value, None for one that is not given; None in all when it can't be read."""
    match = _DEAL.match(text[:1000])
    parts = match.group(2).split() if match else []
    if match is None or len(parts) != 4:
        message = "The Deal tag can't be read: a first seat, a colon and four hands are wanted."
        collector.refuse("deal-syntax", message, line, number)
        return None
    start = Seat.from_letter(match.group(1)[0])
    if len(match.group(1)) > 1:
        collector.note("seat-name", f"The first hand is {start.name.title()}'s and said in a word.", line, number)
    hands: list[list[int] | None] = [None] * 4
    for offset, part in enumerate(parts):
        seat = Seat((start + offset) % 4)
        if part in ("-", "..."):
            continue
        cards = _plain_hand(part)
        if cards is None:
            cards = _odd_hand(part, seat, line, number, collector)
        if cards is None:
            collector.refuse("deal-syntax", f"{seat.name.title()}'s hand can't be read.", line, number)
            return None
        hands[seat] = cards
    return hands


def _plain_hand(part: str) -> list[int] | None:
    suits = part.split(".")
    if len(suits) != 4:
        return None
    cards: list[int] = []
    for number, ranks in enumerate(suits):
        more = ranks_to_cards(number, ranks)
        if more is None:
            return None
        cards += more
    return cards


def _odd_hand(part: str, seat: Seat, line: int, number: int, collector: Collector) -> list[int] | None:
    plain = part.translate(_SYMBOLS).upper().replace("10", "T")
    if "-" in plain:
        plain = ".".join("" if suit == "-" else suit for suit in plain.split("."))
    cards = _plain_hand(plain)
    if cards is not None:
        message = f"{seat.name.title()}'s hand has small letters, 10 for T, or a dash for a void."
        collector.note("rank-letters", message, line, number)
        return cards
    if any(letter in plain for letter in "SHDC"):
        cards = suited_hand(plain)
        if cards is not None:
            collector.note("suit-letters", f"{seat.name.title()}'s hand has suit letters.", line, number)
    return cards
