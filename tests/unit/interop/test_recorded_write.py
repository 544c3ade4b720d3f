"""Recorded auctions and plays as files: what PBN can say it says in its own way, and the JSON has the rest."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from dealer.cards import Seat, card_name
from dealer.deal import Deal
from terminals.auction import PASS, Auction, CallEvent, Standing, bid, read_auction
from terminals.contract import Contract, Strain
from terminals.interop.pbn_results import read_pbn_results
from terminals.interop.recorded_write import RecordedGame, write_pbn_recorded, write_recorded_json
from terminals.play import PlayedCard
from terminals.result import PassedOut, Played
from terminals.store.values import PlayKey
from terminals.table_record import Recorded, RecordedPlay

PLAY = PlayKey("A", 1, 3, 14)
AUCTION = read_auction(Seat.NORTH, ["1NT", "P", "3NT", "P", "P", "P"])


def trick(leader: Seat, *cards: int) -> tuple[PlayedCard, ...]:
    return tuple(PlayedCard(Seat((leader + at) % 4), card) for at, card in enumerate(cards))


def game(told: Recorded, result: object = None, **more: object) -> RecordedGame:
    made = Played(Contract.parse("3NT N"), 9, None) if result is None else result
    return RecordedGame(PLAY, 2, 5, made, told, {"N": 'Ada "A" Żak'}, **more)  # type: ignore[arg-type]


def lines(one: RecordedGame, deals: dict[tuple[str, int], Deal] | None = None) -> list[str]:
    return write_pbn_recorded("Tuesday", "2026-11-30", [one], deals).decode().split("\r\n")


def test_an_auction_and_a_play_in_pbn() -> None:
    # West's trick shows the columns: they stay with their seat, whoever leads.
    cards = (*trick(Seat.EAST, 14, 15, 13, 16), *trick(Seat.WEST, 26, 27, 28, 29))
    found = lines(game(Recorded(AUCTION, RecordedPlay(9, cards))))
    assert '[Board "1"]' in found
    assert '[North "Ada \\"A\\" Żak"]' in found
    assert '[Contract "3NT"]' in found
    assert '[PairNS "A3"]' in found
    at = found.index('[Auction "N"]')
    assert found[at : at + 3] == ['[Auction "N"]', "1NT Pass 3NT Pass", "Pass Pass"]
    at = found.index('[Play "E"]')
    assert found[at : at + 3] == ['[Play "E"]', "HK HQ HA HJ", "DQ DJ DA DK"]
    assert found[at + 3] == "*", "the rest was claimed"


def test_irregular_calls_are_marked_and_withdrawn_ones_are_left_out() -> None:
    events = (
        CallEvent(Seat.NORTH, bid(2, Strain.NOTRUMP)),
        CallEvent(Seat.EAST, bid(2, Strain.HEARTS), Standing.ACCEPTED, law="27A"),
        CallEvent(Seat.SOUTH, bid(3, Strain.CLUBS), Standing.WITHDRAWN),
        CallEvent(Seat.WEST, PASS, Standing.ACCEPTED, law="29A"),
        CallEvent(Seat.NORTH, PASS, alerted=True),
    )
    found = lines(game(Recorded(Auction(Seat.NORTH, events))))
    at = found.index('[Auction "N"]')
    assert found[at + 1 : at + 4] == ["2NT ^I 2H ^S Pass", "Pass =1= *", '[Note "1:alerted"]']


def test_a_play_out_of_turn_has_no_place_in_pbn_but_in_json() -> None:
    told = Recorded(None, RecordedPlay(None, (PlayedCard(Seat.WEST, 0), PlayedCard(Seat.NORTH, 1))))
    assert not any(line.startswith("[Play") for line in lines(game(told)))
    (one,) = json.loads(write_recorded_json("T", "", [game(told)]))["games"]
    assert one["cards"] == {"leader": "W", "agreed": None, "played": [["W", card_name(0)], ["N", card_name(1)]]}


def test_a_deal_is_written_only_when_it_is_given() -> None:
    deal = Deal.from_index(5)
    assert '[Deal ""]' in lines(game(Recorded(AUCTION)))
    assert f'[Deal "{deal.to_pbn(Seat.NORTH)}"]' in lines(game(Recorded(AUCTION)), {("A", 1): deal})
    assert "deal" not in json.loads(write_recorded_json("T", "", [game(Recorded(AUCTION))]))["games"][0]


def test_a_passed_out_board() -> None:
    told = Recorded(read_auction(Seat.NORTH, ["P"] * 4))
    found = lines(game(told, PassedOut()))
    assert '[Contract "Pass"]' in found
    assert "Pass Pass Pass Pass" in found


CONTRACTS = st.builds(
    Contract, st.integers(1, 7), st.sampled_from(list(Strain)), st.just(0), st.sampled_from(list(Seat))
)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(1, 36), CONTRACTS, st.integers(0, 13)), min_size=1, max_size=5))
def test_the_results_come_back_from_the_file(results: list[tuple[int, Contract, int]]) -> None:
    games = [
        RecordedGame(
            PlayKey("A", board, 1 + at, 11 + at),
            1,
            1,
            Played(contract, tricks),
            Recorded(AUCTION),
            {seat: f"{seat}{at}" for seat in "NESW"},
        )
        for at, (board, contract, tricks) in enumerate(results)
    ]
    read = read_pbn_results(write_pbn_recorded("Tuesday", "2026-11-30", games), "file")
    assert [(one.line.board, one.line.result) for one in read.lines] == [
        (board, Played(contract, tricks)) for board, contract, tricks in results
    ]
