"""One deal of 52 cards: who owns which card, and the one integer that names it.

The index is the lexicographic rank of North's, East's and South's hands, each as a 13-subset of the cards that are
left; West has the rest. It equals the number that BigDeal calls the Goedel number, so an outsider can check any
deal of ours with another program. Law 1 (the pack), Law 6 (13 cards to each hand).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb

from dealer.cards import HAND_SIZE, PACK_SIZE, RANKS, Seat
from firmware_bridge.errors import DealError

N_DEALS = 53_644_737_765_488_792_839_237_440_000
"""52! / 13!^4, the number of deals."""

INDEX_BYTES = 12
"""An index fits in 96 bits."""


def deal_count(hand_size: int) -> int:
    """Number of deals of a pack of 4 * ``hand_size`` cards to four hands."""
    return comb(4 * hand_size, hand_size) * comb(3 * hand_size, hand_size) * comb(2 * hand_size, hand_size)


def unrank_owners(index: int, hand_size: int = HAND_SIZE) -> bytes:
    """Owner (0-3) of each card of the deal with this index, for a pack of 4 * ``hand_size`` cards.

    The pack's size is a parameter so that the whole map can be tried on small packs, where every deal is counted.
    Raises DealError when ``index`` is outside [0, deal_count(hand_size)).
    """
    total = deal_count(hand_size)
    if not 0 <= index < total:
        raise DealError("The deal index is out of range.", code="index-range")
    owners = bytearray([Seat.WEST]) * (4 * hand_size)
    left: list[int] = list(range(4 * hand_size))
    for seat in range(3):
        total //= comb(len(left), hand_size)
        rank, index = divmod(index, total)
        wanted = hand_size
        rest: list[int] = []
        places = len(left)
        # with = number of ways to complete the hand if this card is taken; kept current by exact small multiplications
        ways = comb(places - 1, wanted - 1)
        for card in left:
            places -= 1
            if wanted and rank < ways:
                owners[card] = seat
                wanted -= 1
                ways = ways * wanted // places if places else 0
            else:
                rank -= ways
                rest.append(card)
                ways = ways * (places - wanted + 1) // places if wanted and places else 0
        left = rest
    return bytes(owners)


def rank_owners(owners: Sequence[int], hand_size: int = HAND_SIZE) -> int:
    """Inverse of ``unrank_owners``. ``owners`` must give ``hand_size`` cards to each seat (not checked here)."""
    index = 0
    left = list(range(4 * hand_size))
    for seat in range(3):
        rank = 0
        wanted = hand_size
        rest: list[int] = []
        places = len(left)
        block = comb(places, hand_size)
        for card in left:
            places -= 1
            if owners[card] == seat:
                wanted -= 1
            else:
                if wanted:
                    rank += comb(places, wanted - 1)
                rest.append(card)
        index = index * block + rank
        left = rest
    return index


@dataclass(frozen=True, slots=True)
class Deal:
    """Owners of the 52 cards: ``owners[card]`` is the seat 0-3 that holds card 0-51.

    Raises DealError unless every seat owns exactly 13. Its repr never shows a card.
    """

    owners: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.owners) != PACK_SIZE:
            raise DealError(f"A deal has 52 cards, not {len(self.owners)}.", code="card-count")
        for seat in Seat:
            held = self.owners.count(seat)
            if held != HAND_SIZE:
                raise DealError(f"{seat.name.title()} has {held} cards instead of 13.", code="hand-size")

    @classmethod
    def from_hands(cls, hands: Mapping[Seat, Iterable[int]] | Sequence[Iterable[int]]) -> Deal:
        """Deal from four hands of cards 0-51, keyed by seat or in the order N, E, S, W.

        Raises DealError that names seat and count (never the card) when a card is unknown or given twice.
        """
        in_order = [hands[seat] for seat in Seat] if isinstance(hands, Mapping) else list(hands)
        if len(in_order) != 4:
            raise DealError(f"A deal has four hands, not {len(in_order)}.", code="hand-count")
        owners = bytearray([255]) * PACK_SIZE
        for seat, cards in zip(Seat, in_order, strict=True):
            held = 0
            for card in cards:
                if not 0 <= card < PACK_SIZE:
                    raise DealError(f"{seat.name.title()} has something that is not a card.", code="not-a-card")
                if owners[card] != 255:
                    other = Seat(owners[card])
                    whom = "twice" if other == seat else f"that {other.name.title()} has too"
                    raise DealError(f"{seat.name.title()} has a card {whom}.", code="duplicate-card")
                owners[card] = seat
                held += 1
            if held != HAND_SIZE:
                raise DealError(f"{seat.name.title()} has {held} cards instead of 13.", code="hand-size")
        return cls(bytes(owners))

    @classmethod
    def from_index(cls, index: int) -> Deal:
        """Deal with this index. Raises DealError outside [0, N_DEALS)."""
        return cls(unrank_owners(index))

    @classmethod
    def from_routing(cls, routing: bytes) -> Deal:
        """Inverse of ``routing``. Raises DealError for a wrong length or hands that are not 13 each."""
        if len(routing) != PACK_SIZE // 4:
            raise DealError(f"A routing has 13 bytes, not {len(routing)}.", code="routing-size")
        return cls(bytes(routing[card // 4] >> 2 * (card % 4) & 3 for card in range(PACK_SIZE)))

    @classmethod
    def from_pbn(cls, text: str) -> Deal:
        """Deal from a PBN Deal value, "first:h1 h2 h3 h4" clockwise, suits S.H.D.C, ranks in any order.

        One hand may be "-" and gets the cards that are left. Raises DealError. PBN 2.1, section 3.4.11.
        """
        first, colon, rest = text.strip().partition(":")
        parts = rest.split()
        if not colon or len(first) != 1 or first.upper() not in "NESW" or len(parts) != 4:
            raise DealError("This is not a PBN deal: a first seat and four hands are wanted.", code="deal-syntax")
        if parts.count("-") > 1:
            raise DealError("More than one hand is not given.", code="hands-missing")
        start = Seat.from_letter(first)
        hands: dict[Seat, list[int]] = {}
        missing: Seat | None = None
        for offset, part in enumerate(parts):
            seat = Seat((start + offset) % 4)
            if part == "-":
                missing = seat
                continue
            suits = part.upper().split(".")
            if len(suits) != 4 or any(rank not in RANKS for suit in suits for rank in suit):
                raise DealError(f"{seat.name.title()}'s hand can't be read.", code="deal-syntax")
            hands[seat] = [13 * number + RANKS.index(rank) for number, suit in enumerate(suits) for rank in suit]
        if missing is not None:
            given = {card for cards in hands.values() for card in cards}
            hands[missing] = [card for card in range(PACK_SIZE) if card not in given]
        return cls.from_hands(hands)

    def hand(self, seat: Seat) -> tuple[int, ...]:
        """The 13 cards of a seat, in card-number order."""
        return tuple(card for card in range(PACK_SIZE) if self.owners[card] == seat)

    @property
    def hands(self) -> tuple[tuple[int, ...], ...]:
        """The hands of North, East, South and West."""
        result: tuple[list[int], ...] = ([], [], [], [])
        for card, owner in enumerate(self.owners):
            result[owner].append(card)
        return tuple(tuple(cards) for cards in result)

    @property
    def index(self) -> int:
        """The deal's number in [0, N_DEALS). It counts as cards: never show it before the board is played."""
        return rank_owners(self.owners)

    def to_pbn(self, first: Seat = Seat.NORTH) -> str:
        """PBN Deal value, starting with ``first``: 69 characters."""
        texts: list[list[str]] = [[], [], [], []]
        for card, owner in enumerate(self.owners):
            if card and card % 13 == 0:
                for text in texts:
                    text.append(".")
            texts[owner].append(RANKS[card % 13])
        return f"{first.letter}:" + " ".join("".join(texts[(first + offset) % 4]) for offset in range(4))

    def holding(self, seat: Seat, suit: int) -> str:
        """Rank letters that a seat holds in a suit 0-3 (spades first), highest first; "" for a void."""
        owners = self.owners[13 * suit : 13 * suit + 13]
        return "".join(rank for rank, owner in zip(RANKS, owners, strict=True) if owner == seat)

    @property
    def routing(self) -> bytes:
        """13 bytes, two bits a card: card c in byte c // 4 at bits 2 * (c % 4); the value is the seat 0-3."""
        owners = self.owners
        return bytes(
            owners[i] | owners[i + 1] << 2 | owners[i + 2] << 4 | owners[i + 3] << 6 for i in range(0, PACK_SIZE, 4)
        )

    def digest(self, board_number: int) -> bytes:
        """First 8 bytes of SHA-256(board number as two bytes, little-endian, then ``routing``).

        Raises DealError when the number does not fit in two bytes.
        """
        if not 0 < board_number < 0x10000:
            raise DealError(f"Board number {board_number} is out of range.", code="board-number")
        return hashlib.sha256(board_number.to_bytes(2, "little") + self.routing).digest()[:8]

    def turned(self, places: int) -> Deal:
        """The same hands, each moved ``places`` seats clockwise."""
        return Deal(bytes((owner + places) % 4 for owner in self.owners))
