"""What all readers share: decoding text, reading a hand, and collecting boards with their repairs and problems."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dealer.board import Board, Vulnerability, dealer_of, vulnerability_of
from dealer.cards import HAND_SIZE, PACK_SIZE, RANKS, Seat
from dealer.deal import Deal
from dealer.formats.api import DealFile
from dealer.generate import MAX_BOARD_NUMBER, Origin
from dealer.verify import Finding, verify_boards
from firmware_bridge.errors import DealError, ExitStatus

MAX_BOARDS = 250_000
MAX_FINDINGS = 1000
"""Findings beyond this many are counted, not listed."""
MAX_LINE = 1_000_000
"""Characters in one line of a text format that has lines."""

_CARD_OF = [{rank: 13 * suit + place for place, rank in enumerate(RANKS)} for suit in range(4)]


def unparsable(message: str, line: int | None = None, code: str = "unparsable") -> DealError:
    """A file that can't be read at all: exit status 2."""
    return DealError(message, where=f"line {line}" if line else "", code=code, exit_status=ExitStatus.USAGE)


class Collector:
    """Gathers the boards of one file. ``note`` lists a repair, ``refuse`` a problem, ``add`` a board."""

    def __init__(self, format_name: str, first_board: int = 1) -> None:
        self.format = format_name
        self.first_board = first_board
        self.found = 0
        self.set_id = ""
        self.origin: Origin | None = None
        self.fingerprint = ""
        self.title = ""
        self.date = ""
        self._boards: list[Board] = []
        self._lines: dict[int, int | None] = {}
        self._by_place: set[int] = set()
        self._by_number: dict[int, Deal] = {}
        self._repairs: list[Finding] = []
        self._problems: list[Finding] = []
        self._left_out = 0

    def note(self, code: str, message: str, line: int | None = None, board: int | None = None) -> None:
        if len(self._repairs) < MAX_FINDINGS:
            self._repairs.append(Finding(code, message, line, board))
        else:
            self._left_out += 1

    def refuse(self, code: str, message: str, line: int | None = None, board: int | None = None) -> None:
        if len(self._problems) < MAX_FINDINGS:
            self._problems.append(Finding(code, message, line, board))

    def next_number(self) -> int:
        """The number that the position in the file stands for; call before ``add``."""
        return self.first_board + self.found

    def add(
        self,
        number: int | None,
        hands: Sequence[Sequence[int] | None],
        line: int | None,
        *,
        fourth_hand_left_out: bool = False,
        say_number: bool = True,
    ) -> Board | None:
        """A board from four hands N, E, S, W (None = not given). Returns None when it was refused.

        A board that is there already with the same deal is noted and not added again (two rooms, one deal).
        fourth_hand_left_out: the format leaves one hand out as a rule, so that it is no repair to complete it.
        """
        position = self.next_number()
        if number is None:
            number = position
            if say_number:
                self._by_place.add(number)
                self.note("board-number", f"There is no board number; by its place it is board {number}.", line, number)
        self.found += 1
        if self.found > MAX_BOARDS:
            raise unparsable(f"There are more than {MAX_BOARDS} boards in the file.", line, "too-many-boards")
        if not 1 <= number <= MAX_BOARD_NUMBER:
            self.refuse("board-number", "The board number is out of range.", line)
            return None
        hands = list(hands)
        missing = [seat for seat in Seat if hands[seat] is None]
        if len(missing) > 1:
            who = " and ".join(seat.name.title() for seat in missing)
            self.refuse("hands-missing", f"The hands of {who} are not given.", line, number)
            return None
        if missing:
            given: set[int] = set()
            for seat in Seat:
                before, hand = len(given), hands[seat] or ()
                given.update(hand)
                if len(given) != before + len(hand):
                    message = f"{seat.name.title()} has a card twice, or one that another hand has too."
                    self.refuse("duplicate-card", message, line, number)
                    return None
            hands[missing[0]] = [card for card in range(PACK_SIZE) if card not in given]
            if not fourth_hand_left_out:
                who = missing[0].name.title()
                self.note("hand-completed", f"{who}'s hand is not given; it has the cards left.", line, number)
        try:
            deal = Deal.from_hands([hand or () for hand in hands])
        except DealError as error:
            self._say_counts(error, hands, missing, line, number)
            return None
        return self.add_deal(number, deal, line)

    def add_deal(self, number: int, deal: Deal, line: int | None) -> Board | None:
        """The last part of ``add``, for a deal that is sound; ``found`` is counted already."""
        there = self._by_number.get(number)
        if there == deal:
            self.found -= 1
            self.note("same-board-again", f"Board {number} comes again with the same deal.", line, number)
            return None
        if there is not None:
            self.refuse("board-repeated", f"Board {number} comes twice with different deals.", line, number)
            return None
        board = Board(number, deal)
        self._by_number[number] = deal
        self._boards.append(board)
        self._lines[number] = line
        return board

    def _say_counts(
        self,
        error: DealError,
        hands: Sequence[Sequence[int] | None],
        completed: Sequence[Seat],
        line: int | None,
        number: int,
    ) -> None:
        """List what is wrong with each hand that the file gives; one that we completed is only a consequence."""
        wrong = [seat for seat in Seat if seat not in completed and len(hands[seat] or ()) != HAND_SIZE]
        for seat in wrong:
            held = len(hands[seat] or ())
            message = f"{seat.name.title()} has {held} card{'s' if held != 1 else ''} instead of 13."
            self.refuse("hand-size", message, line, number)
        if not wrong or error.code != "hand-size":
            self.refuse(error.code, error.what, line, number)

    def has(self, number: int) -> bool:
        """Whether a board of this number was added."""
        return number in self._by_number

    def check_law_2(
        self, number: int, dealer: Seat | None, vulnerability: Vulnerability | None, line: int | None
    ) -> None:
        """Report a file that disagrees with what the board number says (Law 2); the number decides."""
        if not 1 <= number <= MAX_BOARD_NUMBER:
            return
        if dealer is not None and dealer != dealer_of(number):
            message = f"The file has dealer {dealer.letter}; by its number the dealer is {dealer_of(number).letter}."
            self.note("dealer-differs", message, line, number)
        if vulnerability is not None and vulnerability != vulnerability_of(number):
            message = (
                f"The file has {vulnerability.pbn} vulnerable; by its number it is {vulnerability_of(number).pbn}."
            )
            self.note("vulnerability-differs", message, line, number)

    def _check_places(self) -> None:
        """Refuse a number that was taken from the place, in a file with other numbers, unless it fits between them."""
        numbers = [board.number for board in self._boards]
        if not self._by_place or self._by_place.issuperset(numbers):
            return
        for place, number in enumerate(numbers):
            before = numbers[place - 1] if place else number - 1
            after = numbers[place + 1] if place + 1 < len(numbers) else number + 1
            if number in self._by_place and (before, after) != (number - 1, number + 1):
                message = "The board has no number, and its place among the others does not give it one."
                self.refuse("board-number", message, self._lines[number], number)

    def finish(self) -> DealFile:
        """The result; the boards are verified here."""
        self._check_places()
        for finding in verify_boards(self._boards):
            line = self._lines.get(finding.board) if finding.board is not None else None
            self.refuse(finding.code, finding.message, line, finding.board)
        # By line, as somebody with the file open reads them; what has no line of its own comes last.
        repairs = sorted(self._repairs, key=lambda finding: (finding.line is None, finding.line or 0))
        if self._left_out:
            repairs.append(Finding("more-repairs", f"{self._left_out} more repairs are not listed."))
        return DealFile(
            self.format,
            tuple(self._boards),
            tuple(repairs),
            tuple(self._problems),
            self.found,
            self.set_id,
            self.origin,
            self.fingerprint,
            self.title,
            self.date,
        )


def decode_text(data: bytes, collector: Collector, *, max_line: int = MAX_LINE) -> str:
    """Text of a file, with line ends as "\\n". Notes a byte order mark, a character set that had to be guessed, and
    line ends that are mixed. Raises DealError for binary content and for lines longer than ``max_line`` bytes.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        collector.note("bom", "The file starts with a byte order mark.", 1)
        data = data[3:]
    elif data.startswith((b"\xff\xfe", b"\xfe\xff")):
        collector.note("charset", "The file is in UTF-16.", 1)
        try:
            data = data.decode("utf-16").encode()
        except UnicodeError:
            raise unparsable("The file is not text.", 1) from None
    if b"\x1a" in data[-512:] or data.endswith(b"\x00"):
        stripped = data.rstrip(b"\x00\x1a\r\n ")
        collector.note("end-mark", "The file ends with a DOS end mark or empty bytes.", data.count(b"\n") + 1)
        data = stripped + b"\n"
    zero = data.find(b"\x00")
    if zero >= 0:
        raise unparsable("The file is not text.", data.count(b"\n", 0, zero) + 1)
    crlf, lf, cr = data.count(b"\r\n"), data.count(b"\n"), data.count(b"\r")
    if cr:
        if cr != crlf or lf not in (0, crlf):
            collector.note("line-ends", "The line ends are mixed.", 1)
        if b"\r\r\n" in data:  # CRLF that a program has turned into CRLF once more
            data = re.sub(rb"\r+\n", b"\n", data)
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    number = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if len(line) > max_line:
            raise unparsable(f"The line is longer than {max_line} characters.", number, "line-too-long")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if b"charset=iso-8859-1" not in data[:1000].lower():  # as PBN files may say themselves
            line_number = data.count(b"\n", 0, error.start) + 1
            collector.note("charset", "The file is not in UTF-8; it is read as ISO 8859-1.", line_number)
        return data.decode("latin-1")


def suited_hand(text: str) -> list[int] | None:
    """Cards of a hand written S..H..D..C.., suits in any order, missing suits void; None when it can't be read."""
    text = text.upper().replace("10", "T")
    cards: list[int] = []
    table: dict[str, int] | None = None
    seen = ""
    for letter in text:
        place = "SHDC".find(letter)
        if place >= 0:
            if letter in seen:
                return None
            seen += letter
            table = _CARD_OF[place]
        elif letter in " .\t\n,":
            continue
        elif table is None or letter not in table:
            return None
        else:
            cards.append(table[letter])
    return cards


def ranks_to_cards(suit: int, ranks: str) -> list[int] | None:
    """Cards of one suit from rank letters; None when a letter is not a rank."""
    table = _CARD_OF[suit]
    try:
        return [table[rank] for rank in ranks]
    except KeyError:
        return None


_VULNERABILITIES = {
    "NONE": Vulnerability.NONE,
    "LOVE": Vulnerability.NONE,
    "-": Vulnerability.NONE,
    "NS": Vulnerability.NS,
    "N-S": Vulnerability.NS,
    "EW": Vulnerability.EW,
    "E-W": Vulnerability.EW,
    "ALL": Vulnerability.ALL,
    "BOTH": Vulnerability.ALL,
}


def vulnerability_named(text: str) -> Vulnerability | None:
    """Vulnerability by any of the names that programs write, or None."""
    return _VULNERABILITIES.get(text.strip().upper())


def record_positions(data: bytes, size: int, collector: Collector) -> int:
    """Number of whole records of ``size`` bytes. Notes stray line ends or a DOS end mark behind the last one, refuses
    a record that is cut short.
    """
    count, rest = divmod(len(data), size)
    if rest:
        tail = data[count * size :]
        if not tail.strip(b"\r\n\x1a\x00 "):
            collector.note("trailing-bytes", f"{rest} empty bytes follow the last record.", count)
        else:
            collector.refuse("record-truncated", f"The last record has {rest} bytes instead of {size}.", count + 1)
    return min(count, MAX_BOARDS)
