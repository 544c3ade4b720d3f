"""A numbered board: dealer and vulnerability follow from the number (Law 2), the deal lies in it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from dealer.cards import Seat
from dealer.deal import Deal
from firmware_bridge.errors import DealError


class Vulnerability(IntEnum):
    """Which side is vulnerable; the value is a set of bits, North-South 1 and East-West 2."""

    NONE = 0
    NS = 1
    EW = 2
    ALL = 3

    @property
    def pbn(self) -> str:
        """None, NS, EW or All, as PBN export format writes it."""
        return ("None", "NS", "EW", "All")[self]

    def includes(self, seat: Seat) -> bool:
        """True when ``seat`` is vulnerable."""
        return bool(self & (1 if seat in (Seat.NORTH, Seat.SOUTH) else 2))


_CYCLE = tuple(Vulnerability((number + number // 4) % 4) for number in range(16))
"""Law 2: boards 1-16; the entry at 0 is board 1."""


def dealer_of(number: int) -> Seat:
    """Dealer of a board (Law 2): North on 1, then clockwise. Raises DealError for a number below 1."""
    if number < 1:
        raise DealError(f"There is no board {number}.", code="board-number")
    return Seat((number - 1) % 4)


def vulnerability_of(number: int) -> Vulnerability:
    """Vulnerability of a board (Law 2), a cycle of 16 boards. Raises DealError for a number below 1."""
    if number < 1:
        raise DealError(f"There is no board {number}.", code="board-number")
    return _CYCLE[(number - 1) % 16]


@dataclass(frozen=True, slots=True)
class Board:
    """A board: its number, 1 or more, and the deal in it. Raises DealError for a number below 1."""

    number: int
    deal: Deal

    def __post_init__(self) -> None:
        dealer_of(self.number)

    @property
    def dealer(self) -> Seat:
        return dealer_of(self.number)

    @property
    def vulnerability(self) -> Vulnerability:
        return vulnerability_of(self.number)

    @property
    def digest(self) -> bytes:
        """``Deal.digest`` of this board: 8 bytes."""
        return self.deal.digest(self.number)
