"""A bridge contract: level, strain, doubling, declarer; how it is read and written. Laws 18, 19 and 77.

Frozen values without I/O. Text forms: ``3NTX`` (without declarer), ``3NTX N`` (with). Dialects of other programs are
read in ``terminals.interop``.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from dealer.cards import Seat, Suit
from firmware_bridge.errors import EntryError


class Strain(IntEnum):
    """Strain of a bid, lowest first (Law 18E)."""

    CLUBS = 1
    DIAMONDS = 2
    HEARTS = 3
    SPADES = 4
    NOTRUMP = 5

    @property
    def letter(self) -> str:
        """``C D H S N``: one letter."""
        return "CDHSN"[self - 1]

    @property
    def text(self) -> str:
        """``C D H S NT``."""
        return ("C", "D", "H", "S", "NT")[self - 1]

    @property
    def symbol(self) -> str:
        """``♣ ♦ ♥ ♠ NT``."""
        return ("♣", "♦", "♥", "♠", "NT")[self - 1]

    @property
    def is_minor(self) -> bool:
        return self in (Strain.CLUBS, Strain.DIAMONDS)

    @property
    def trump(self) -> Suit | None:
        """The trump suit as a card suit; None at notrump."""
        return None if self is Strain.NOTRUMP else Suit(4 - self)

    @classmethod
    def from_text(cls, text: str) -> Strain:
        """``C D H S N NT``, either case, or a suit symbol. Raises EntryError."""
        strain = _STRAINS.get(text.strip().upper())
        if strain is None:
            raise EntryError(f"{text[:8]!r} is no strain; C, D, H, S or NT is wanted.", code="bad-strain")
        return strain


_STRAINS = {
    **{name: Strain(number) for number, name in enumerate("CDHSN", start=1)},
    "NT": Strain.NOTRUMP,
    "♣": Strain.CLUBS,
    "♦": Strain.DIAMONDS,
    "♥": Strain.HEARTS,
    "♠": Strain.SPADES,
}


class Doubling(IntEnum):
    """Undoubled, doubled or redoubled (Law 19)."""

    NONE = 0
    DOUBLED = 1
    REDOUBLED = 2

    @property
    def text(self) -> str:
        """``"", "X", "XX"``."""
        return "X" * int(self)

    @property
    def factor(self) -> int:
        """What trick points are multiplied by: 1, 2 or 4 (Law 77)."""
        return 1 << int(self)


_CONTRACT = re.compile(r"([1-7])\s*(NT|[CDHSN♣♦♥♠])\s*(XX|X)?(?:\s+(?:BY\s+)?([NESW]))?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class Contract:
    """The contract of a played board.

    level: 1-7 odd tricks; declarer: a seat. Raises EntryError for a level outside 1-7 (Law 38: no bid above seven).
    """

    level: int
    strain: Strain
    doubling: Doubling
    declarer: Seat

    def __post_init__(self) -> None:
        if isinstance(self.level, bool) or not isinstance(self.level, int) or not 1 <= self.level <= 7:
            raise EntryError(
                f"A contract has a level from 1 to 7, not {self.level!r} (Laws 18, 38).", code="bad-contract"
            )
        try:
            object.__setattr__(self, "strain", Strain(self.strain))
            object.__setattr__(self, "doubling", Doubling(self.doubling))
            object.__setattr__(self, "declarer", Seat(self.declarer))
        except ValueError as error:
            raise EntryError(f"This contract can't be: {error}.", code="bad-contract") from None

    @property
    def required_tricks(self) -> int:
        """Tricks that fulfil the contract: the book of six and the level."""
        return 6 + self.level

    @property
    def by_north_south(self) -> bool:
        return self.declarer in (Seat.NORTH, Seat.SOUTH)

    @property
    def leader(self) -> Seat:
        """Seat of the opening leader: declarer's left-hand opponent (Law 41A)."""
        return self.declarer.left

    @property
    def text(self) -> str:
        """``3NTX``; without declarer."""
        return f"{self.level}{self.strain.text}{self.doubling.text}"

    def __str__(self) -> str:
        return f"{self.text} {self.declarer.letter}"

    @classmethod
    def parse(cls, text: str, declarer: Seat | None = None) -> Contract:
        """Read ``3NTX`` with a declarer given, or ``3NTX N`` without. Raises EntryError for anything else."""
        match = _CONTRACT.fullmatch(text.strip().upper()) if len(text) <= 32 else None
        if match is None:
            raise EntryError(
                f"{text[:16]!r} is no contract.",
                next_step="Write level, strain and doubling, for example 3NT, 4SX or 1NTXX.",
                code="bad-contract",
            )
        level, strain, doubling, seat = match.groups()
        named = Seat.from_letter(seat) if seat else None
        if named is not None and declarer is not None and named != declarer:
            raise EntryError(
                f"The contract names declarer {named.letter}, but {declarer.letter} was given.", code="bad-contract"
            )
        chosen = declarer if named is None else named
        if chosen is None:
            raise EntryError(
                f"The contract {text[:16]!r} has no declarer; N, E, S or W is wanted.", code="bad-contract"
            )
        return cls(int(level), Strain.from_text(strain), Doubling(len(doubling or "")), chosen)
