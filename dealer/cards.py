"""Cards, suits, ranks and seats: the smallest values of the program.

A card is a small int everywhere (wire, journal, evidence): 0-51 in the order spade A..2, heart A..2, diamond A..2,
club A..2. Seats are 0-3 clockwise from North. Law 1 (the pack) and Law 3 (seats).
"""

from __future__ import annotations

from enum import IntEnum

PACK_SIZE = 52
HAND_SIZE = 13
RANKS = "AKQJT98765432"
"""Rank letters, highest first; the position is the rank index used in a card number."""


class Seat(IntEnum):
    """A compass seat, clockwise from North."""

    NORTH = 0
    EAST = 1
    SOUTH = 2
    WEST = 3

    @property
    def letter(self) -> str:
        return "NESW"[self]

    @property
    def left(self) -> Seat:
        """Left-hand opponent: the next seat clockwise."""
        return Seat((self + 1) % 4)

    @property
    def partner(self) -> Seat:
        return Seat((self + 2) % 4)

    @classmethod
    def from_letter(cls, letter: str) -> Seat:
        """Raises ValueError unless ``letter`` is one of N, E, S, W (either case)."""
        if len(letter) != 1:
            raise ValueError(f"not a seat: {letter!r}")
        return cls("NESW".index(letter.upper()))


class Suit(IntEnum):
    """A suit in card-number order, highest first."""

    SPADES = 0
    HEARTS = 1
    DIAMONDS = 2
    CLUBS = 3

    @property
    def letter(self) -> str:
        return "SHDC"[self]

    @property
    def symbol(self) -> str:
        return "♠♥♦♣"[self]


def suit_of(card: int) -> Suit:
    """Suit of a card 0-51."""
    return Suit(card // 13)


def rank_of(card: int) -> str:
    """Rank letter of a card 0-51."""
    return RANKS[card % 13]


def card_name(card: int) -> str:
    """Two letters, suit first: "SA" is the ace of spades. Never put one of an unplayed board in a message."""
    return suit_of(card).letter + rank_of(card)


def card_from_name(name: str) -> int:
    """Inverse of ``card_name``; "S10" is read as "ST". Raises ValueError."""
    text = name.strip().upper().replace("10", "T")
    if len(text) != 2 or text[0] not in "SHDC" or text[1] not in RANKS:
        raise ValueError("not a card name: suit letter and rank are wanted")
    return "SHDC".index(text[0]) * 13 + RANKS.index(text[1])
