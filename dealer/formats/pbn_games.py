"""PBN 2.1, the text: games and their tags, in both dialects and in what programs make of them.

Source: PBN standard 2.1, sections 3.1-3.8. Read here: comments of both kinds anywhere, tags in any order and several on
a line, escape lines, inheritance ("#", "##"), games torn apart or not parted, text after the deals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from dealer.formats.collect import Collector, unparsable
from dealer.generate import Origin

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
_REST_OF_LINE = re.compile(r'(?:[^\n\[{;"]+|"[^"\n]*")*')
_QUOTES_INSIDE = re.compile(r'\[\s*([A-Za-z0-9_]+)[ \t]+"([^\n]*)"[ \t]*\][ \t]*(?=\n|\Z)')
_COMMENTED = re.compile(
    r"""\[(?:\s|;[^\n]*\n|\{[^}]*\})*(?P<name>[A-Za-z0-9_]+)(?:\s|;[^\n]*\n|\{[^}]*\})*
    "(?P<value>(?:[^"\\\n]|\\.)*)"(?:\s|;[^\n]*\n|\{[^}]*\})*\]""",
    re.VERBOSE,
)
LIKE_DEAL = re.compile(r"[NESW]:(?:[^\s.]{0,14}\.){3}[^\s.]{0,14} [^\s.]{0,14}\.[^\s.]{0,14}\.")
"""The beginning of a Deal value, wherever it stands."""
_SET_LINE = re.compile(
    r"%\s*Firmware Bridge set (?P<id>[0-9a-f]{1,64}) origin (?P<origin>\w+)(?: fingerprint (?P<fp>\S+))?"
)
_OTHER_CASE = {
    spelt: name
    for name in ("Event", "Site", "Date", "Board", "Dealer", "Vulnerable", "Deal")
    for spelt in (name.lower(), name.upper())
}
"""Tag names in small or capital letters only, as some programs write them."""
_PLAYED_TAGS = frozenset({"Declarer", "Contract", "Result", "Auction", "Play", "Score"})


@dataclass(slots=True)
class PbnGame:
    """One game: tag values (first one wins), and the line of each tag. What sections hold is passed over."""

    line: int
    tags: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


def _is_section(name: str) -> bool:
    return name in ("Auction", "Play", "Note") or (name.endswith("Table") and name != "Table")


def parse_games(text: str, collector: Collector) -> Iterator[PbnGame]:
    """The games of a PBN text (line ends "\\n"), with inheritance resolved.

    Repairs and problems go to ``collector``. Raises DealError when the text has more tags than a program can mean.
    """
    previous: dict[str, str] = {}
    sticky: dict[str, str] = {}
    for game in _whole_games(_split_games(text, collector), collector):
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


def _split_games(text: str, collector: Collector) -> Iterator[PbnGame]:
    game: PbnGame | None = None
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
                game, in_section = None, False
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
            if not in_section and not told_text:
                collector.note("text-ignored", "Text that belongs to no tag is left out.", line)
                told_text = True
            start, position = match.start(), match_rest(text, position).end()  # type: ignore[union-attr]
            lost = LIKE_DEAL.search(text, start, position)
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
            if game.tags[name] != value and name == "Deal":
                collector.refuse("deal-syntax", "Another deal stands in the same game.", line)
            elif game.tags[name] != value and name != "Note":
                collector.note("tag-repeated", f"{name} comes again in the game; the first one counts.", line)
        elif len(game.tags) >= MAX_TAGS_PER_GAME:
            raise unparsable("There are too many tags in one game.", line, "too-many-tags")
        else:
            game.tags[name] = value
            game.lines[name] = line
        in_section = _is_section(name)
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
    if name == "Deal":
        return game.tags["Deal"] != value and "Board" not in game.tags
    return "Deal" in game.tags


def read_escape_line(text: str, collector: Collector) -> None:
    """Take the set's identity from a line that starts with %, if it is the one that we write."""
    match = _SET_LINE.match(text)
    if match:
        collector.set_id = match["id"]
        collector.fingerprint = match["fp"] or ""
        collector.origin = next((origin for origin in Origin if origin == match["origin"]), None)
