"""Compares the cards found in a board with those that belong in it, and says what happened to them. Pure.

The facts that Laws 13 (wrong number of cards) and 87 (fouled board) need: which hands differ, whether cards were
exchanged, hands swapped, the board turned by 90 or 180 degrees, another board's cards put in, or a card is missing.
Of all explanations the simplest one is given: the one that moves the fewest cards. Messages name seats and counts;
cards only when they are asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import permutations

from dealer.board import Board
from dealer.cards import HAND_SIZE, PACK_SIZE, Seat, card_name
from dealer.deal import Deal
from firmware_bridge.errors import DealError

NOT_READ = 255
"""A card that the reader could not name."""

Hands = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]


class Kind(StrEnum):
    """What a difference is. Several may hold at once: a turned board in which two cards are exchanged as well."""

    EXCHANGED = "cards-exchanged"
    SWAPPED = "hands-swapped"
    ROTATED_90 = "rotated-90"
    ROTATED_180 = "rotated-180"
    ROTATED_270 = "rotated-270"
    PERMUTED = "hands-mixed-up"
    OTHER_BOARD = "another-board"
    MISSING = "card-missing"
    EXTRA = "card-extra"
    UNREADABLE = "card-unreadable"
    WRONG_COUNT = "wrong-count"


@dataclass(frozen=True, slots=True)
class Difference:
    """seats: the hands concerned. count: how many cards. other: board number for ``OTHER_BOARD``. cards: which."""

    kind: Kind
    seats: tuple[Seat, ...] = ()
    count: int = 0
    other: int = 0
    cards: tuple[int, ...] = field(default=(), repr=False)

    def text(self, *, show_cards: bool = False) -> str:
        """One sentence for the director; no card unless ``show_cards``."""
        names = " and ".join(seat.name.title() for seat in self.seats)
        one = self.count == 1
        cards = "1 card" if one else f"{self.count} cards"
        belong = "lies in another hand than it belongs to" if one else "lie in another hand than they belong to"
        words = {
            Kind.EXCHANGED: f"{cards} {belong} ({names}).",
            Kind.SWAPPED: f"{names} have each other's hands.",
            Kind.ROTATED_90: "Every hand has moved one seat clockwise: the board was turned by 90 degrees.",
            Kind.ROTATED_180: "Every hand has gone to its partner: the board was turned by 180 degrees.",
            Kind.ROTATED_270: "Every hand has moved one seat counter-clockwise: the board was turned by 90 degrees.",
            Kind.PERMUTED: "The four hands have changed places.",
            Kind.OTHER_BOARD: f"These are the cards of board {self.other}.",
            Kind.MISSING: f"{cards} of the pack {'is' if one else 'are'} not in the board.",
            Kind.EXTRA: f"{cards} too many: there twice, or of another pack.",
            Kind.UNREADABLE: f"{cards} could not be read.",
            Kind.WRONG_COUNT: f"{names} {'has' if len(self.seats) == 1 else 'have'} not 13 cards (Law 13).",
        }[self.kind]
        if show_cards and self.cards:
            words += " " + ", ".join(card_name(card) for card in self.cards if card < PACK_SIZE) + "."
        return words


@dataclass(frozen=True, slots=True)
class Move:
    """One card that has to be put elsewhere. ``source`` None: not in the board; ``target`` None: out of the board."""

    card: int = field(repr=False)
    source: Seat | None
    target: Seat | None

    def text(self) -> str:
        """Names the card: only for ``restore``, after its confirmation."""
        name = card_name(self.card) if self.card < PACK_SIZE else "the card that can't be read"
        if self.source is None:
            return f"{name} is missing from {self.target.name.title() if self.target is not None else '?'}."
        where = f"to {self.target.name.title()}" if self.target is not None else "out of the board"
        return f"{name}: from {self.source.name.title()} {where}."


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome for one board. ``moves``: how to put it right, fewest cards first by seat."""

    board: int
    differences: tuple[Difference, ...]
    moves: tuple[Move, ...] = field(repr=False)

    @property
    def same(self) -> bool:
        return not self.differences


def learn(number: int, hands: Sequence[Iterable[int]]) -> Board:
    """A board as it was found, hands in the order N, E, S, W.

    Raises DealError that names seat and count when a hand has not 13 cards, a card is there twice or was not read.
    """
    held = [tuple(hand) for hand in hands]
    for seat, hand in zip(Seat, held, strict=True):
        unread = sum(not 0 <= card < PACK_SIZE for card in hand)
        if unread:
            raise DealError(
                f"{unread} of {seat.name.title()}'s cards could not be read.",
                where=f"board {number}",
                next_step="Put the board back and read it again.",
                code="card-unread",
            )
        if len(hand) != HAND_SIZE:
            raise DealError(
                f"{seat.name.title()} has {len(hand)} cards instead of 13.", where=f"board {number}", code="hand-size"
            )
    return Board(number, Deal.from_hands(held))


def compare(found: Sequence[Iterable[int]], wanted: Board, others: Iterable[Board] = ()) -> Comparison:
    """What differs between the cards ``found`` in the four pockets (N, E, S, W) and the deal of ``wanted``.

    others: the other boards of the set; their cards are recognised as such, whichever way the board was turned.
    """
    held = [tuple(hand) for hand in found]
    known: dict[int, list[Seat]] = {}
    unread: list[Seat] = []
    for seat, hand in zip(Seat, held, strict=True):
        for card in hand:
            if 0 <= card < PACK_SIZE:
                known.setdefault(card, []).append(seat)
            else:
                unread.append(seat)
    board, turn, displaced = _best_explanation(known, wanted, others)
    differences: list[Difference] = []
    if board is not wanted:
        differences.append(Difference(Kind.OTHER_BOARD, tuple(Seat), PACK_SIZE, board.number))
    if turn != (0, 1, 2, 3):
        differences.append(_permutation(turn))
    if displaced:
        seats = {seat for card in displaced for seat in known[card]}
        seats |= {Seat(turn[board.deal.owners[card]]) for card in displaced}
        differences.append(Difference(Kind.EXCHANGED, tuple(sorted(seats)), len(displaced), cards=tuple(displaced)))
    missing = tuple(card for card in range(PACK_SIZE) if card not in known)
    extra = tuple(card for card, seats in known.items() for _ in seats[1:])
    if missing:
        owners = tuple(sorted({Seat(turn[board.deal.owners[card]]) for card in missing}))
        differences.append(Difference(Kind.MISSING, owners, len(missing), cards=missing))
    if extra:
        holders = tuple(sorted({seat for card in extra for seat in known[card]}))
        differences.append(Difference(Kind.EXTRA, holders, len(extra), cards=tuple(sorted(extra))))
    if unread:
        differences.append(Difference(Kind.UNREADABLE, tuple(sorted(set(unread))), len(unread)))
    uneven = tuple(seat for seat, hand in zip(Seat, held, strict=True) if len(hand) != HAND_SIZE)
    if uneven:
        differences.append(Difference(Kind.WRONG_COUNT, uneven, sum(len(held[seat]) for seat in uneven)))
    return Comparison(wanted.number, tuple(differences), _moves(held, wanted))


def _best_explanation(
    known: dict[int, list[Seat]], wanted: Board, others: Iterable[Board]
) -> tuple[Board, tuple[int, ...], list[int]]:
    """Board and turn (where the hand of seat s lies) that leave the fewest cards displaced, and those cards.

    Each step away from the plain case has its price, so that a handful of exchanged cards is not called a turn.
    """
    best: tuple[int, Board, tuple[int, ...], list[int]] | None = None
    for board in (wanted, *(other for other in others if other.number != wanted.number)):
        overlap = Counter((int(board.deal.owners[card]), int(seats[0])) for card, seats in known.items())
        for turn in permutations(range(4)):
            cost = len(known) - sum(overlap[(seat, turn[seat])] for seat in range(4))
            cost += (0 if turn == (0, 1, 2, 3) else 2) + (0 if board is wanted else 6)
            if best is None or cost < best[0]:
                displaced = [card for card, seats in known.items() if turn[board.deal.owners[card]] != seats[0]]
                best = (cost, board, turn, sorted(displaced))
    assert best is not None
    return best[1], best[2], best[3]


def _permutation(turn: tuple[int, ...]) -> Difference:
    for places, kind in ((1, Kind.ROTATED_90), (2, Kind.ROTATED_180), (3, Kind.ROTATED_270)):
        if turn == tuple((seat + places) % 4 for seat in range(4)):
            return Difference(kind, tuple(Seat), PACK_SIZE)
    moved = tuple(Seat(seat) for seat in range(4) if turn[seat] != seat)
    kind = Kind.SWAPPED if len(moved) == 2 else Kind.PERMUTED
    return Difference(kind, moved, HAND_SIZE * len(moved))


def _moves(held: list[tuple[int, ...]], wanted: Board) -> tuple[Move, ...]:
    """Every card that does not lie where it belongs, from seat to seat."""
    moves: list[Move] = []
    placed: set[int] = set()
    for seat, hand in zip(Seat, held, strict=True):
        for card in hand:
            if 0 <= card < PACK_SIZE and wanted.deal.owners[card] == seat and card not in placed:
                placed.add(card)
    for seat, hand in zip(Seat, held, strict=True):
        kept: set[int] = set()
        for card in hand:
            if not 0 <= card < PACK_SIZE:
                moves.append(Move(NOT_READ, seat, None))
                continue
            target = Seat(wanted.deal.owners[card])
            if target == seat and card not in kept:
                kept.add(card)
            elif card in placed:
                moves.append(Move(card, seat, None))  # its place is taken by the one that belongs there
            else:
                placed.add(card)
                moves.append(Move(card, seat, target))
    moves += [Move(card, None, Seat(wanted.deal.owners[card])) for card in range(PACK_SIZE) if card not in placed]
    return tuple(moves)
