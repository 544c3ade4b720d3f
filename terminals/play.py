"""The play of a board, card by card: whose turn, who wins the trick, what is irregular. Laws 41-45 and 61-64 (2007).

A record of play is checked, never corrected: a revoke is marked and the director decides; the agreed number of tricks
(Law 79A) is a fact of its own and may differ from the tricks counted here. Findings name seat and trick, no card.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dealer.cards import Seat, Suit, suit_of
from firmware_bridge.errors import EntryError
from terminals.contract import Contract


class PlayFault(StrEnum):
    """What is irregular about a card, by its Law."""

    OUT_OF_TURN = "out-of-turn"  # Laws 53, 57
    NOT_IN_HAND = "not-in-hand"
    PLAYED_TWICE = "played-twice"
    REVOKE = "revoke"  # Law 61A


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault: which play of the record (from 1), by whom, in which trick (from 1)."""

    number: int
    seat: Seat
    trick: int
    fault: PlayFault

    def __str__(self) -> str:
        return f"trick {self.trick}, {self.seat.name.title()}: {self.fault}"


@dataclass(frozen=True, slots=True)
class PlayedCard:
    """A card 0-51 and who played it; dummy's cards belong to dummy's seat, though declarer names them (Law 45B)."""

    seat: Seat
    card: int

    def __post_init__(self) -> None:
        if isinstance(self.card, bool) or not 0 <= self.card <= 51:
            raise EntryError("A card played is no card of the pack (Law 1).", code="bad-card")


@dataclass(frozen=True, slots=True)
class PlayState:
    """Where a record of play stands.

    turn: who plays next, None when all tricks are played. winners: winner of each complete trick. findings: in order.
    """

    turn: Seat | None
    winners: tuple[Seat, ...]
    findings: tuple[Finding, ...]
    declarer: Seat

    @property
    def declarer_tricks(self) -> int:
        """Complete tricks that declarer's side won."""
        return sum(winner in (self.declarer, self.declarer.partner) for winner in self.winners)

    @property
    def defenders_tricks(self) -> int:
        return len(self.winners) - self.declarer_tricks


def trick_winner(cards: Sequence[PlayedCard], trump: Suit | None) -> Seat:
    """Who wins a complete trick: the highest trump, else the highest card of the suit led (Law 44E, 44F).

    Raises EntryError unless there are four cards of four players.
    """
    if len({one.seat for one in cards}) != 4 or len(cards) != 4:
        raise EntryError("A trick has one card of each player (Law 44).", code="bad-trick")
    best = cards[0]
    for one in cards[1:]:
        suit, best_suit = suit_of(one.card), suit_of(best.card)
        # Smaller numbers are higher ranks within a suit.
        if (suit == best_suit and one.card < best.card) or (suit == trump and best_suit != trump):
            best = one
    return best.seat


def check_play(
    contract: Contract, played: Sequence[PlayedCard], hands: Mapping[Seat, Sequence[int]] | None = None
) -> PlayState:
    """Follow a record of play from the opening lead of declarer's left-hand opponent (Law 41A).

    hands: the deal, for the checks that need it (card in the hand, revoke: a player who can follow suit must, Law 44C);
    without it only turns and repeated cards are checked. Raises EntryError for more than 52 cards.
    """
    if len(played) > 52:
        raise EntryError("A board has 52 cards to play (Law 1).", code="bad-play")
    left = None if hands is None else {seat: set(cards) for seat, cards in hands.items()}
    trump = contract.strain.trump
    turn = contract.leader
    trick: list[PlayedCard] = []
    winners: list[Seat] = []
    findings: list[Finding] = []
    seen: set[int] = set()
    for number, one in enumerate(played, start=1):
        place = len(winners) + 1

        def find(fault: PlayFault, number: int = number, one: PlayedCard = one, place: int = place) -> None:
            findings.append(Finding(number, one.seat, place, fault))

        if one.seat != turn or one.seat in {other.seat for other in trick}:
            find(PlayFault.OUT_OF_TURN)
        if one.card in seen:
            find(PlayFault.PLAYED_TWICE)
        elif left is not None and one.card not in left.get(one.seat, set()):
            find(PlayFault.NOT_IN_HAND)
        elif left is not None and trick and _revokes(one, suit_of(trick[0].card), left[one.seat]):
            find(PlayFault.REVOKE)
        seen.add(one.card)
        if left is not None:
            left.get(one.seat, set()).discard(one.card)
        trick.append(one)
        if len(trick) == 4:
            if len({other.seat for other in trick}) == 4:
                winners.append(trick_winner(trick, trump))
                turn = winners[-1]
            else:  # an irregular trick has no winner to go on from; its leader keeps the turn
                winners.append(trick[0].seat)
                turn = trick[0].seat
            trick = []
        else:
            turn = one.seat.left
    over = len(winners) == 13
    return PlayState(None if over else turn, tuple(winners), tuple(findings), contract.declarer)


def _revokes(one: PlayedCard, led: Suit, hand: set[int]) -> bool:
    """Whether a player who could have followed suit did not (Laws 44C, 61A)."""
    return suit_of(one.card) != led and any(suit_of(card) == led for card in hand)
