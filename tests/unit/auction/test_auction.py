"""Auctions: legal calls, the end, the contract, irregularities that were accepted or cancelled, reviews."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dealer.cards import Seat
from firmware_bridge.errors import EntryError
from terminals.auction import (
    DOUBLE,
    MAX_CALLS,
    PASS,
    REDOUBLE,
    Auction,
    Call,
    CallEvent,
    CallKind,
    Irregularity,
    Standing,
    bid,
    check_auction,
    may_review,
    read_auction,
)
from terminals.contract import Contract, Doubling, Strain
from terminals.result import PassedOut

ALL_CALLS = [PASS, DOUBLE, REDOUBLE, *(bid(level, strain) for level in range(1, 8) for strain in Strain)]


@pytest.mark.parametrize("call", ALL_CALLS)
def test_calls_read_back(call: Call) -> None:
    assert Call.parse(call.text) == call
    assert Call.parse(call.text.lower()) == call


def test_bids_rank_by_level_then_strain() -> None:
    ranks = [call.rank for call in ALL_CALLS[3:]]
    assert ranks == list(range(1, 36))


@pytest.mark.parametrize(
    ("dealer", "words", "contract"),
    [
        (Seat.NORTH, "1NT P 3NT P P P", "3NT N"),
        (Seat.EAST, "P P 1H 1S 2H 2S P P P", "2S N"),
        (Seat.NORTH, "1H P 4H P P P", "4H N"),
        (Seat.NORTH, "1S P 2H P 4H P P P", "4H S"),
        (Seat.WEST, "1C X XX P P P", "1CXX W"),
        (Seat.SOUTH, "1C X 1H P P P", "1H N"),
        (Seat.NORTH, "1H 1S 2H 2S X P P P", "2SX E"),
        # Both sides bid the strain: declarer is the first of the side that plays it.
        (Seat.NORTH, "1NT 2C P P 2D P 3C P P P", "3C S"),
    ],
)
def test_the_contract_and_its_declarer(dealer: Seat, words: str, contract: str) -> None:
    auction = read_auction(dealer, words.split())
    assert auction.contract == Contract.parse(contract)
    assert auction.turn is None


def test_passed_out_is_a_result() -> None:
    auction = read_auction(Seat.SOUTH, ["P"] * 3)
    assert auction.contract is None
    assert auction.make(PASS).contract == PassedOut()


@pytest.mark.parametrize(
    ("words", "call", "wrong"),
    [
        ("1H", "1H", Irregularity.INSUFFICIENT),
        ("1H", "1D", Irregularity.INSUFFICIENT),
        ("2C", "1NT", Irregularity.INSUFFICIENT),
        ("", "X", Irregularity.INADMISSIBLE_DOUBLE),
        ("1H P", "X", Irregularity.INADMISSIBLE_DOUBLE),
        ("1H X", "X", Irregularity.INADMISSIBLE_DOUBLE),
        ("1H X P", "X", Irregularity.INADMISSIBLE_DOUBLE),
        ("1H", "XX", Irregularity.INADMISSIBLE_REDOUBLE),
        ("1H X P", "XX", Irregularity.INADMISSIBLE_REDOUBLE),
        ("1H X XX", "XX", Irregularity.INADMISSIBLE_REDOUBLE),
        ("1H X 2C", "XX", Irregularity.INADMISSIBLE_REDOUBLE),
        ("P P P P", "1C", Irregularity.AFTER_THE_END),
        ("1C P P P", "1D", Irregularity.AFTER_THE_END),
    ],
)
def test_irregular_calls_are_named_and_refused(words: str, call: str, wrong: Irregularity) -> None:
    auction = read_auction(Seat.NORTH, words.split())
    seat = auction.turn or Seat.NORTH
    assert auction.irregularities(seat, Call.parse(call)) == [wrong]
    with pytest.raises(EntryError):
        auction.make(Call.parse(call))


def test_a_call_out_of_turn_moves_the_turn_when_it_is_accepted() -> None:
    auction = read_auction(Seat.NORTH, ["1C"])
    assert auction.irregularities(Seat.SOUTH, PASS) == [Irregularity.OUT_OF_TURN]
    accepted = auction.record(CallEvent(Seat.SOUTH, PASS, Standing.ACCEPTED, law="29A"))
    assert accepted.turn is Seat.WEST


def test_an_accepted_insufficient_bid_is_the_new_measure() -> None:
    low = CallEvent(Seat.EAST, bid(2, Strain.CLUBS), Standing.ACCEPTED, law="27A")
    auction = read_auction(Seat.NORTH, ["2S"]).record(low)
    assert auction.irregularities(Seat.SOUTH, bid(2, Strain.DIAMONDS)) == []
    assert auction.make(DOUBLE, Seat.SOUTH).doubling is Doubling.DOUBLED


def test_three_passes_do_not_end_it_when_somebody_missed_his_turn() -> None:
    # North opens; South passes out of turn over East's head; West and North pass (Law 17E2).
    auction = read_auction(Seat.NORTH, ["1C"])
    for seat in (Seat.SOUTH, Seat.WEST, Seat.NORTH):
        auction = auction.record(CallEvent(seat, PASS, Standing.ACCEPTED))
    assert not auction.is_over
    assert auction.turn is Seat.EAST
    back = auction.cancel_from(1, "17E2")
    assert back.turn is Seat.EAST
    assert [event.call.text for event in back.calls] == ["1C"]


def test_an_inadmissible_double_and_what_followed_are_cancelled() -> None:
    auction = read_auction(Seat.NORTH, ["1C", "P"])
    auction = auction.record(CallEvent(Seat.SOUTH, DOUBLE)).record(CallEvent(Seat.WEST, bid(1, Strain.SPADES)))
    back = auction.cancel_from(2, "36")
    assert back.turn is Seat.SOUTH
    assert back.doubling is Doubling.NONE
    assert [event.standing for event in back.events[2:]] == [Standing.CANCELLED] * 2
    withdrawn = auction.settle(3, Standing.WITHDRAWN, "25A")
    assert withdrawn.events[3].law == "25A"
    for index in (-1, 9):
        with pytest.raises(EntryError):
            auction.settle(index, Standing.WITHDRAWN, "25A")
        with pytest.raises(EntryError):
            auction.cancel_from(index, "36")


def test_reviews() -> None:
    auction = read_auction(Seat.NORTH, ["1NT", "P"])
    assert [may_review(auction, seat) for seat in Seat] == [False, False, True, False]
    assert not may_review(auction, Seat.SOUTH, must_pass=True)
    over = read_auction(Seat.NORTH, ["1NT", "P", "P", "P"])
    assert [may_review(over, seat) for seat in Seat] == [True, True, False, True]
    assert not may_review(over, Seat.EAST, has_played=True)
    assert not may_review(read_auction(Seat.NORTH, ["P"] * 4), Seat.NORTH)
    assert len(over.review()) == 4


def test_the_longest_auction_fits() -> None:
    auction = Auction(Seat.NORTH)
    for _ in range(3):
        auction = auction.make(PASS)
    for call in ALL_CALLS[3:]:
        for step in (call, PASS, PASS, DOUBLE, PASS, PASS, REDOUBLE, PASS, PASS):
            auction = auction.make(step)
    auction = auction.make(PASS)
    assert auction.is_over
    assert len(auction.events) == MAX_CALLS


@settings(max_examples=200)
@given(st.sampled_from(Seat), st.data())
def test_random_legal_auctions_end_in_a_contract_of_their_last_bid(dealer: Seat, data: st.DataObject) -> None:
    auction = Auction(dealer)
    while not auction.is_over:
        seat = auction.turn
        assert seat is not None
        legal = [call for call in ALL_CALLS if not auction.irregularities(seat, call)]
        assert PASS in legal
        bids = [call for call in legal if call.kind is CallKind.BID]
        few = [call for call in legal if call.kind is not CallKind.BID] + bids[:6]
        auction = auction.make(data.draw(st.sampled_from(few)))
        assert len(auction.events) <= MAX_CALLS
    last = auction.last_bid
    contract = auction.contract
    if last is None:
        assert contract == PassedOut()
        return
    assert isinstance(contract, Contract)
    assert (contract.level, contract.strain) == (last.call.level, last.call.strain)
    assert contract.declarer in (last.seat, last.seat.partner)
    assert contract.doubling is auction.doubling


@pytest.mark.parametrize("text", ["", "8C", "0NT", "1", "1Z", "PP", "XXX", "1NTX"])
def test_what_is_no_call_is_refused(text: str) -> None:
    with pytest.raises(EntryError):
        Call.parse(text)


def test_impossible_values_are_refused() -> None:
    clubs = Strain.CLUBS
    for kind, level, strain in (("bid", 0, clubs), ("bid", 8, clubs), ("bid", 1, None), ("pass", 1, None)):
        with pytest.raises(EntryError):
            Call(CallKind(kind), level, strain)
    with pytest.raises(EntryError):
        Auction(Seat.NORTH, tuple(CallEvent(Seat.NORTH, PASS) for _ in range(1001)))
    with pytest.raises(EntryError) as caught:
        read_auction(Seat.NORTH, ["1C", "1C"])
    assert caught.value.where == "call 2"


# --- a recorded auction ------------------------------------------------------------------------------------------


def faults(auction: Auction) -> list[tuple[int, Irregularity]]:
    return [(finding.number, finding.fault) for finding in check_auction(auction)]


@given(st.data())
def test_a_legal_auction_has_no_findings(data: st.DataObject) -> None:
    auction = Auction(data.draw(st.sampled_from(list(Seat))))
    for _ in range(data.draw(st.integers(0, 30))):
        if auction.turn is None:
            break
        ranks = [PASS, DOUBLE, REDOUBLE, *(bid(level, strain) for level in (1, 3, 5, 7) for strain in Strain)]
        legal = [call for call in ranks if not auction.irregularities(auction.turn, call)]
        auction = auction.make(data.draw(st.sampled_from(legal)))
    assert faults(auction) == []


def test_each_irregular_call_is_found_once_by_its_number() -> None:
    made = [
        CallEvent(Seat.NORTH, bid(2, Strain.SPADES)),
        CallEvent(Seat.EAST, bid(2, Strain.HEARTS)),
        CallEvent(Seat.WEST, PASS),
        CallEvent(Seat.NORTH, DOUBLE),
    ]
    auction = Auction(Seat.NORTH, tuple(made))
    assert faults(auction) == [
        (2, Irregularity.INSUFFICIENT),
        (3, Irregularity.OUT_OF_TURN),
    ], "North doubles the 2H that stands"
    settled = auction.settle(1, Standing.ACCEPTED, "27A").settle(2, Standing.WITHDRAWN, "29A")
    assert faults(settled) == [(4, Irregularity.OUT_OF_TURN)]
    assert str(next(check_auction(settled))) == "call 4, North: out-of-turn"


def test_calls_after_the_end_are_found() -> None:
    auction = read_auction(Seat.NORTH, ["P"] * 4).record(CallEvent(Seat.NORTH, PASS))
    assert faults(auction) == [(5, Irregularity.AFTER_THE_END)]
    assert faults(auction.settle(4, Standing.CANCELLED, "39")) == []
