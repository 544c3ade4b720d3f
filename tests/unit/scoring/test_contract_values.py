"""Contracts and results as values: reading, writing, refusing."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dealer.cards import Seat, Suit
from firmware_bridge.errors import EntryError
from terminals.contract import Contract, Doubling, Strain
from terminals.result import (
    Artificial,
    Assigned,
    Average,
    FixedPercent,
    NotEntered,
    NotPlayed,
    NotPlayedReason,
    Outcome,
    PassedOut,
    Played,
    SitOut,
)

contracts = st.builds(
    Contract, st.integers(1, 7), st.sampled_from(Strain), st.sampled_from(Doubling), st.sampled_from(Seat)
)


@given(contracts)
def test_text_form_reads_back(contract: Contract) -> None:
    assert Contract.parse(str(contract)) == contract
    assert Contract.parse(contract.text.lower(), contract.declarer) == contract


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("3NTX N", Contract(3, Strain.NOTRUMP, Doubling.DOUBLED, Seat.NORTH)),
        ("4S by e", Contract(4, Strain.SPADES, Doubling.NONE, Seat.EAST)),
        ("1nxx W", Contract(1, Strain.NOTRUMP, Doubling.REDOUBLED, Seat.WEST)),
        ("2♥ S", Contract(2, Strain.HEARTS, Doubling.NONE, Seat.SOUTH)),
    ],
)
def test_accepted_spellings(text: str, wanted: Contract) -> None:
    assert Contract.parse(text) == wanted


@pytest.mark.parametrize("text", ["", "8S N", "0C N", "3", "NT", "3NTXXX N", "3S", "3S Q", "٣S N", "3S N" + " " * 40])
def test_what_is_no_contract_is_refused(text: str) -> None:
    with pytest.raises(EntryError):
        Contract.parse(text)


def test_two_declarers_are_refused() -> None:
    with pytest.raises(EntryError, match="declarer N"):
        Contract.parse("3NT N", Seat.EAST)


def test_impossible_contract_values_are_refused() -> None:
    for level, strain in ((0, 1), (8, 1), (3, 6), (3, 0), (True, 1)):
        with pytest.raises(EntryError):
            Contract(level, strain, Doubling.NONE, Seat.NORTH)  # type: ignore[arg-type]


def test_strains_know_their_trumps_and_the_leader_sits_left_of_declarer() -> None:
    assert [strain.trump for strain in Strain] == [Suit.CLUBS, Suit.DIAMONDS, Suit.HEARTS, Suit.SPADES, None]
    assert Contract.parse("1C N").leader is Seat.EAST


def test_the_states_of_a_board_are_all_different() -> None:
    played = Played(Contract.parse("1NT N"), 7)
    states = [played, PassedOut(), NotPlayed(), Artificial(Average.EVEN, Average.EVEN), NotEntered(), SitOut()]
    for index, one in enumerate(states):
        for other in states[index + 1 :]:
            assert one != other
            assert type(one) is not type(other)


def test_weights_must_sum_to_one() -> None:
    third = Fraction(1, 3)
    good = tuple(Outcome(score, third) for score in (620, 170, -100))
    assert not Assigned(good, good).is_split
    with pytest.raises(EntryError, match="sum to 2/3"):
        Assigned(good[:2], good)
    with pytest.raises(EntryError, match="1 to 5"):
        Assigned(tuple(Outcome(score, Fraction(1, 6)) for score in range(6)), good)
    with pytest.raises(EntryError):
        Assigned((), good)
    with pytest.raises(EntryError):
        Outcome(100, Fraction(0))


def test_percentages_and_reasons_are_checked() -> None:
    assert FixedPercent(Fraction(55)).percent == 55
    with pytest.raises(EntryError):
        FixedPercent(Fraction(101))
    with pytest.raises(EntryError):
        NotPlayed("because")  # type: ignore[arg-type]
    assert NotPlayed("no-time").reason is NotPlayedReason.NO_TIME  # type: ignore[arg-type]
