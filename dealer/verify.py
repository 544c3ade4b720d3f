"""What is wrong with a set of boards: repeats, and deals that no shuffled pack gives.

That the 52 cards differ and each hand has 13 is true of every ``Deal`` by construction; it is counted again here from
the hands, so that a fault there can't hide. Messages name board and seat, never a card.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations, product

from dealer.board import Board
from dealer.cards import HAND_SIZE, PACK_SIZE, Seat
from dealer.deal import Deal


@dataclass(frozen=True, slots=True)
class Finding:
    """A repair or a problem: the line of the file it is in, the board it concerns (None where there is none).

    code: stable identifier, lower-case words joined by "-". message: for people, without any card.
    """

    code: str
    message: str
    line: int | None = None
    board: int | None = None

    def as_dict(self) -> dict[str, int | str | None]:
        return {"line": self.line, "board": self.board, "code": self.code, "message": self.message}

    def __str__(self) -> str:
        place = [f"line {self.line}"] if self.line is not None else []
        if self.board is not None:
            place.append(f"board {self.board}")
        return f"{', '.join(place)}: {self.message}" if place else self.message


FILLER = Deal(bytes(card // 13 for card in range(PACK_SIZE)))
"""What Duplimate files hold in unused records: 13 spades North, 13 hearts East, 13 diamonds South, 13 clubs West."""


def unshuffled_name(deal: Deal) -> str | None:
    """Why this deal can't come from a shuffled pack, or None.

    Known: the Duplimate filler; a suit to each hand; an ordered pack dealt card by card in either direction; an ordered
    pack, cut anywhere, given out thirteen at a time. "Ordered" allows any order of suits, ace high or low, each suit
    up or down. All of them together are fewer than 2^17 of the 2^95 deals.
    """
    owners = deal.owners
    if owners == FILLER.owners:
        return "the Duplimate filler (13 spades North, 13 hearts East, 13 diamonds South, 13 clubs West)"
    suits = [owners[13 * suit : 13 * suit + 13] for suit in range(4)]
    if all(suit.count(suit[0]) == 13 for suit in suits):
        return "a whole suit in every hand"
    if all(_dealt_round(suit) or _dealt_round(suit[1:] + suit[:1]) for suit in suits):
        return "an unshuffled pack dealt card by card"
    if all(len(set(suit)) <= 2 and _changes(suit + suit[:1]) <= 2 for suit in suits) and _in_four_blocks(suits):
        return "an unshuffled pack given out thirteen cards at a time"
    return None


def _dealt_round(suit: bytes) -> bool:
    """True when the owners of a suit's cards, in order, go round the table one seat at a time."""
    step = (suit[1] - suit[0]) % 4
    return step in (1, 3) and all((after - before) % 4 == step for before, after in pairwise(suit))


def _changes(owners: bytes) -> int:
    return sum(before != after for before, after in pairwise(owners))


def _in_four_blocks(suits: list[bytes]) -> bool:
    """True when some order of the suits, each up or down and ace high or low, puts every hand in one piece."""
    ways = [
        {
            (_changes(cards), cards[0], cards[-1])
            for cards in (suit, suit[::-1], suit[1:] + suit[:1], suit[:1] + suit[:0:-1])
        }
        for suit in suits
    ]
    for order in permutations((1, 2, 3)):
        for pack in product(ways[0], *(ways[suit] for suit in order)):
            joints = sum(before[2] != after[1] for before, after in zip(pack, (*pack[1:], pack[0]), strict=True))
            if joints + sum(way[0] for way in pack) == 4:
                return True
    return False


def verify_boards(boards: Sequence[Board]) -> list[Finding]:
    """Everything that is wrong with these boards; an empty list when they are good.

    Codes: "hand-size", "duplicate-card", "board-repeated", "deal-repeated", "unshuffled".
    """
    problems: list[Finding] = []
    numbers: set[int] = set()
    deals: dict[bytes, int] = {}
    for board in boards:
        number = board.number
        problems.extend(_count_cards(board))
        if number in numbers:
            problems.append(Finding("board-repeated", f"Board {number} is in the set twice.", board=number))
        numbers.add(number)
        first = deals.setdefault(board.deal.owners, number)
        if first != number:
            problems.append(Finding("deal-repeated", f"Boards {first} and {number} have the same deal.", board=number))
        name = unshuffled_name(board.deal) if first == number else None
        if name is not None:
            problems.append(Finding("unshuffled", f"Board {number} is {name}.", board=number))
    return problems


def _count_cards(board: Board) -> Iterable[Finding]:
    hands = board.deal.hands
    if len({card for hand in hands for card in hand}) != PACK_SIZE:
        yield Finding("duplicate-card", "The 52 cards of this board do not all differ.", board=board.number)
    for seat, hand in zip(Seat, hands, strict=True):
        if len(hand) != HAND_SIZE:
            message = f"{seat.name.title()} has {len(hand)} cards instead of 13."
            yield Finding("hand-size", message, board=board.number)
