"""The play of a board: tricks against a plain second way, turns, revokes, records that can't be."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dealer.cards import Seat, Suit, card_from_name, suit_of
from firmware_bridge.errors import EntryError
from terminals.contract import Contract, Doubling, Strain
from terminals.play import PlayedCard, PlayFault, check_play, trick_winner


def cards(first: Seat, names: str) -> list[PlayedCard]:
    return [PlayedCard(Seat((first + i) % 4), card_from_name(name)) for i, name in enumerate(names.split())]


@pytest.mark.parametrize(
    ("trump", "names", "winner"),
    [
        (None, "S2 SA SK SQ", Seat.EAST),
        (None, "S2 HA DA CA", Seat.NORTH),
        (Suit.HEARTS, "S2 SA H2 SK", Seat.SOUTH),
        (Suit.HEARTS, "S2 H3 H2 SK", Seat.EAST),
        (Suit.HEARTS, "H2 H3 HA SK", Seat.SOUTH),
        (Suit.CLUBS, "S2 H3 HA SK", Seat.WEST),
    ],
)
def test_who_wins(trump: Suit | None, names: str, winner: Seat) -> None:
    assert trick_winner(cards(Seat.NORTH, names), trump) is winner


def plain_winner(trick: Sequence[PlayedCard], trump: Suit | None) -> Seat:
    """Law 44E-F by sorting: trumps before the suit led before anything else."""
    led = suit_of(trick[0].card)

    def worth(one: PlayedCard) -> tuple[int, int]:
        suit = suit_of(one.card)
        return (0 if suit == trump else 1 if suit == led else 2, one.card % 13)

    return min(trick, key=worth).seat


def random_play(seed: int, contract: Contract) -> tuple[dict[Seat, list[int]], list[PlayedCard]]:
    """A deal and a legal play of all 52 cards."""
    rng = random.Random(seed)
    pack = list(range(52))
    rng.shuffle(pack)
    hands = {seat: sorted(pack[13 * seat : 13 * seat + 13]) for seat in Seat}
    left = {seat: list(hand) for seat, hand in hands.items()}
    played: list[PlayedCard] = []
    leader = contract.leader
    for _ in range(13):
        trick: list[PlayedCard] = []
        for step in range(4):
            seat = Seat((leader + step) % 4)
            follow = [card for card in left[seat] if trick and suit_of(card) == suit_of(trick[0].card)]
            card = rng.choice(follow or left[seat])
            left[seat].remove(card)
            trick.append(PlayedCard(seat, card))
        played += trick
        leader = plain_winner(trick, contract.strain.trump)
    return hands, played


contracts = st.builds(
    Contract, st.integers(1, 7), st.sampled_from(Strain), st.just(Doubling.NONE), st.sampled_from(Seat)
)


@given(st.integers(0, 1 << 32), contracts, st.integers(0, 52))
def test_legal_plays_have_no_findings(seed: int, contract: Contract, length: int) -> None:
    hands, played = random_play(seed, contract)
    state = check_play(contract, played[:length], hands)
    assert state.findings == ()
    wanted = [plain_winner(played[4 * i : 4 * i + 4], contract.strain.trump) for i in range(length // 4)]
    assert list(state.winners) == wanted
    assert state.declarer_tricks + state.defenders_tricks == length // 4
    assert (state.turn is None) == (length == 52)
    if length < 52:
        assert state.turn is played[length].seat


@given(st.integers(0, 1 << 32), contracts, st.data())
def test_a_revoke_is_found_and_nothing_else_is_rejected(seed: int, contract: Contract, data: st.DataObject) -> None:
    hands, played = random_play(seed, contract)
    chances = []
    for index, one in enumerate(played):
        led = suit_of(played[index - index % 4].card)
        later = [other.card for other in played[index + 1 :] if other.seat is one.seat and suit_of(other.card) != led]
        if index % 4 and suit_of(one.card) == led and later:
            chances.append((index, later))
    if not chances:
        return
    index, later = data.draw(st.sampled_from(chances))
    wrong = [*played[:index], PlayedCard(played[index].seat, data.draw(st.sampled_from(later)))]
    state = check_play(contract, wrong, hands)
    assert [(one.number, one.fault) for one in state.findings] == [(index + 1, PlayFault.REVOKE)]
    assert str(state.findings[0]).startswith(f"trick {index // 4 + 1}, {wrong[-1].seat.name.title()}: revoke")


def test_turns_strangers_and_repetitions() -> None:
    contract = Contract.parse("3NT S")
    hands, played = random_play(7, contract)
    swapped = check_play(contract, [played[1], played[0]], hands)
    assert [one.fault for one in swapped.findings][:1] == [PlayFault.OUT_OF_TURN]
    stranger = PlayedCard(played[0].seat, played[1].card)
    assert [one.fault for one in check_play(contract, [stranger], hands).findings] == [PlayFault.NOT_IN_HAND]
    twice = check_play(contract, [played[0], PlayedCard(played[1].seat, played[0].card)], hands)
    assert PlayFault.PLAYED_TWICE in [one.fault for one in twice.findings]
    assert check_play(contract, played[:7]).findings == ()
    same = [PlayedCard(Seat.WEST, card) for card in range(4)]
    assert check_play(contract, same).turn is Seat.WEST


def test_impossible_records_are_refused() -> None:
    with pytest.raises(EntryError):
        PlayedCard(Seat.NORTH, 52)
    with pytest.raises(EntryError):
        trick_winner(cards(Seat.NORTH, "S2 S3 S4"), None)
    with pytest.raises(EntryError):
        check_play(Contract.parse("1C N"), [PlayedCard(Seat.NORTH, 0)] * 53)
