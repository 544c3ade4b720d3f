"""What a hand record shows of each board, worked out once for PDF, HTML and PBN."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dealer.board import Board
from dealer.cards import Seat
from dealer.deal import Deal
from dealer.records.par import Par, Tricks, par_of_board

STRAIN_ORDER = (4, 0, 1, 2, 3)
"""No trump first, as players read a table; places in the order of tricks (spades, hearts, diamonds, clubs, NT)."""


@dataclass(frozen=True, slots=True)
class RecordBoard:
    """A board with what is printed beside it; tricks and par are None without double dummy."""

    board: Board
    points: tuple[int, int, int, int]
    tricks: Tricks | None = field(default=None, repr=False)
    par: Par | None = field(default=None, repr=False)

    def makeable(self, seat: Seat, strain: int) -> str:
        """The level that ``seat`` can make in a strain, "-" for none, "" when unknown."""
        if self.tricks is None:
            return ""
        level = self.tricks[strain][seat] - 6
        return str(level) if level > 0 else "-"


@dataclass(frozen=True, slots=True)
class RecordPage:
    """Words around the boards. note: why there is no double dummy, "" when there is."""

    club: str = ""
    event: str = ""
    date: str = ""
    set_id: str = ""
    fingerprint: str = ""
    mark: str = ""
    note: str = ""


def high_card_points(deal: Deal, seat: Seat) -> int:
    """Ace 4, king 3, queen 2, jack 1."""
    return sum(max(0, 4 - card % 13) for card in deal.hand(seat))


def record_boards(boards: Sequence[Board], tables: Mapping[Deal, Tricks]) -> list[RecordBoard]:
    """Everything that is printed of the boards, in their order."""
    result = []
    for board in boards:
        north, east, south, west = (high_card_points(board.deal, seat) for seat in Seat)
        tricks = tables.get(board.deal)
        par = par_of_board(board, tricks) if tricks is not None else None
        result.append(RecordBoard(board, (north, east, south, west), tricks, par))
    return result
