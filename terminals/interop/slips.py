"""The evening on which terminals fail: pick-up slips to print, and a fast keyboard entry of them.

A slip is what one table plays in one round. Entry is one short line for each board, ``4sxe-2 hk`` for four spades
doubled by East, two down, lead the king of hearts; the board numbers follow by themselves, and each entry is echoed
with its score, so that the person at the keyboard sees a slip of the finger at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dealer.board import dealer_of, vulnerability_of
from firmware_bridge.errors import EntryError
from terminals.contract import Contract, Doubling, Strain
from terminals.interop.print_sheet import MARGIN, Sheet, TableColumn
from terminals.interop.tokens import read_card, read_seat
from terminals.result import BoardState, NotPlayed, NotPlayedReason, PassedOut, Played
from terminals.scoring.contract_score import score_ns


@dataclass(frozen=True, slots=True)
class Slip:
    """One table in one round: who sits there and which boards they play."""

    section: str
    table: int
    round: int
    ns: str
    ew: str
    boards: tuple[int, ...]

    @property
    def title(self) -> str:
        return f"Section {self.section or '-'}, Table {self.table}, Round {self.round}"


_FAST = re.compile(
    r"([1-7])\s*(nt|n|c|d|h|s)\s*(xx|x)?\s*(?:by\s*)?([nesw])\s*(=|[+-]\s*\d{1,2}|\d{1,2})(?:\s+(\S{2,3}))?",
    re.IGNORECASE | re.ASCII,
)


def parse_fast(text: str) -> BoardState:
    """A result as it is typed: ``3nt n 10``, ``3ntn+1``, ``4sxe-2 hk``, ``1n w =``; ``p`` passed out, ``np`` not played

    A number without a sign is tricks won, with a sign it is against the contract. Raises EntryError.
    """
    typed = text.strip()
    word = typed.lower()
    if word in ("p", "pass", "passed"):
        return PassedOut()
    if word in ("np", "-", "not played"):
        return NotPlayed(NotPlayedReason.OTHER)
    match = _FAST.fullmatch(typed) if len(typed) <= 40 else None
    if match is None:
        raise EntryError(
            f"{typed[:24]!r} is no result.",
            next_step="Type level, strain, x or xx, declarer, tricks: 4sxe-2 or 3nt n 10; p for passed out.",
            code="bad-entry",
        )
    level, strain, doubling, seat, tricks_text, lead_text = match.groups()
    declarer = read_seat(seat)
    assert declarer is not None
    contract = Contract(int(level), Strain.from_text(strain), Doubling(len(doubling or "")), declarer)
    tricks_text = tricks_text.replace(" ", "")
    if tricks_text == "=":
        tricks = contract.required_tricks
    elif tricks_text[0] in "+-":
        tricks = contract.required_tricks + int(tricks_text)
    else:
        tricks = int(tricks_text)
    if not 0 <= tricks <= 13:
        raise EntryError(
            f"{contract.text} by {declarer.letter} can't end with {tricks_text}: that is {tricks} tricks of 13.",
            code="bad-tricks",
        )
    lead = None
    if lead_text is not None:
        lead = read_card(lead_text)
        if lead is None:
            raise EntryError(f"{lead_text!r} is no card to lead.", next_step="Type it as hk or s10.", code="bad-lead")
    return Played(contract, tricks, lead)


@dataclass(frozen=True, slots=True)
class SlipLine:
    """An entered board; score from North-South's side, None for a board not played."""

    board: int
    state: BoardState
    score: int | None

    @property
    def echo(self) -> str:
        """What the person at the keyboard compares with the slip: ``12  4SX E-2  +300``."""
        score = "" if self.score is None else f"  {self.score:+d}" if self.score else "  0"
        return f"{self.board:>3}  {self.state}{score}"


@dataclass(slots=True)
class SlipEntry:
    """Entry of one slip: boards in order, undo, jump to a board."""

    slip: Slip
    lines: list[SlipLine] = field(default_factory=list)
    jumped: int | None = None

    @property
    def next_board(self) -> int | None:
        """The board that the next line is about; None when the slip is complete."""
        done = {line.board for line in self.lines}
        if self.jumped is not None and self.jumped not in done:
            return self.jumped
        return next((board for board in self.slip.boards if board not in done), None)

    def enter(self, text: str) -> SlipLine:
        """Enter the next board's result; ``12: 3nt n 10`` names the board. Raises EntryError and keeps everything."""
        board, colon, rest = text.partition(":")
        if colon:
            if not board.strip().isascii() or not board.strip().isdigit() or int(board) not in self.slip.boards:
                raise EntryError(
                    f"Board {board.strip()[:6]} is not on this slip.",
                    where=self.slip.title,
                    next_step=f"Boards: {', '.join(map(str, self.slip.boards))}.",
                    code="bad-board",
                )
            number = int(board)
        else:
            found = self.next_board
            if found is None:
                raise EntryError("All boards of this slip are entered.", where=self.slip.title, code="slip-complete")
            number, rest = found, text
        state = parse_fast(rest)
        line = SlipLine(number, state, score_ns(state, number))
        self.lines = [one for one in self.lines if one.board != number]
        self.lines.append(line)
        self.jumped = None
        return line

    def undo(self) -> SlipLine | None:
        """Take back the last entry."""
        return self.lines.pop() if self.lines else None


def slips_pdf(slips: Sequence[Slip], *, title: str = "Pick-up slips", page: str = "a4") -> bytes:
    """Slips to fill in by hand, to be cut apart; as many on a page as fit, none divided."""
    sheet = Sheet(title, page=page)
    columns = [
        TableColumn("Board", 40, "centre"),
        TableColumn("Dealer", 42, "centre"),
        TableColumn("Vul.", 42, "centre"),
        TableColumn("Contract", 90),
        TableColumn("By", 34),
        TableColumn("Lead", 44),
        TableColumn("Tricks", 50),
        TableColumn("N-S score", 80),
        TableColumn("E-W score", 80),
    ]
    line = 18.0
    for slip in slips:
        height = line * (len(slip.boards) + 1) + 62
        if not sheet.room(min(height, sheet.height - 140)):
            sheet.new_page()
        sheet.heading(f"{slip.title}: N-S {slip.ns}, E-W {slip.ew}", keep=0)
        rows = [
            [str(board), dealer_of(board).letter, vulnerability_of(board).pbn, "", "", "", "", "", ""]
            for board in slip.boards
        ]
        sheet.table(columns, rows, line=line, grid=True)
        sheet.y -= 10
        sheet.text(MARGIN, sheet.y, "N-S ____________________      E-W ____________________", 8)
        sheet.y -= 8
        sheet.canvas.setDash(2, 3)
        sheet.canvas.setLineWidth(0.4)
        sheet.canvas.line(MARGIN / 2, sheet.y, sheet.width - MARGIN / 2, sheet.y)
        sheet.canvas.setDash()
    return sheet.finish()


def by_round(slips: Iterable[Slip]) -> list[Slip]:
    """Slips in the order in which they are handed out: round, section, table."""
    return sorted(slips, key=lambda slip: (slip.round, slip.section, slip.table))
