"""PBN 2.1, reading: the boards of the games that ``dealer.formats.pbn_games`` finds in a text.

Source: PBN standard 2.1, sections 3.1-3.8. Two rooms may share a deal; boards without numbers are numbered by place.
"""

from __future__ import annotations

import re

from dealer.cards import Seat
from dealer.formats.api import DealFile
from dealer.formats.collect import (
    Collector,
    decode_text,
    ranks_to_cards,
    suited_hand,
    vulnerability_named,
)
from dealer.formats.options import CONSTRAINED_MARK, SEEDED_MARK
from dealer.formats.pbn_games import LIKE_DEAL, PbnGame, parse_games
from dealer.formats.pbn_write import write
from dealer.generate import MAX_BOARD_NUMBER, Origin

__all__ = ["read", "sniff", "write"]

_DEAL = re.compile(r"\s*(N(?:orth)?|E(?:ast)?|S(?:outh)?|W(?:est)?)\s*:\s*(\S.*?)\s*\Z", re.DOTALL | re.IGNORECASE)
_SYMBOLS = str.maketrans("♠♥♦♣", "SHDC")
_SEAT_NAMES = frozenset({"N", "E", "S", "W", "NORTH", "EAST", "SOUTH", "WEST"})
_FIRST_TAGS = frozenset({"Event", "Site", "Date"})
"""Those that come before Board in export format."""
_RESULT_TAGS = frozenset({"Declarer", "Contract", "Result", "Auction", "Play", "Score", "West", "North"})


def sniff(data: bytes) -> bool:
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        head = head.replace(b"\x00", b"")
        return b"[" in head
    return head.startswith((b"%", b";", b"{ ")) or re.search(rb'\[\s*\w+\s*"', head) is not None


def read(data: bytes, first_board: int = 1) -> DealFile:
    """Boards of a PBN file. Raises DealError (exit status 2) when it is no text at all."""
    collector = Collector("pbn", first_board)
    text = decode_text(data, collector)
    last_number: int | None = None
    given: set[int] = set()
    results_only: list[tuple[int, int]] = []
    ignored: PbnGame | None = None
    for game in parse_games(text, collector):
        ignored = None
        if "Contract" in game.tags:
            _check_contract(game, collector)
        _take_words(game, collector)
        number, usable = _board_number(game, collector)
        deal = game.tags.get("Deal")
        if deal is None or not deal.strip() or deal.strip() == "?":
            other = next((name for name, value in game.tags.items() if LIKE_DEAL.match(value[:100])), None)
            if other is not None:
                collector.found += 1
                message = "A deal is here, and its tag is not called Deal."
                collector.refuse("deal-missing", message, game.lines[other], number)
            elif number is not None and _RESULT_TAGS & game.tags.keys():
                # Counted as a board of its own, for the place of those behind it, until its deal turns up.
                collector.found += 1
                results_only.append((number, game.lines["Board"]))
            elif number is not None:
                collector.found += 1
                collector.refuse("deal-missing", "The board has no deal.", game.lines["Board"], number)
            elif last_number is not None and _RESULT_TAGS & game.tags.keys():
                message = f"This game has no deal; it shares the one of board {last_number}."
                collector.note("shared-deal", message, game.line, last_number)
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
        last_number = wanted
        given.update(() if number is None else (number,))
        _check_law_2(game, wanted, collector)
        collector.add(number, hands, line)
    for number, line in results_only:
        if number in given:
            collector.found -= 1
            collector.note("shared-deal", f"This game has no deal; it shares the one of board {number}.", line, number)
        else:
            collector.refuse("deal-missing", "The board has no deal.", line, number)
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
