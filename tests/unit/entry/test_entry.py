"""Promises of the checks at the table: plain words about the movement, one neutral text about cards and field."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dealer.cards import Seat, card_name
from dealer.generate import generate
from terminals.contract import Contract, Doubling, Strain
from terminals.entry import (
    BOTH_SIDES,
    CAUSES,
    NEUTRAL,
    NOT_POSSIBLE,
    OPPOSITE_SIGN,
    WRONG_LEAD,
    Answer,
    Behind,
    Budget,
    Entry,
    Known,
    causes_behind,
    check,
    movement_notices,
    remaining,
)
from terminals.movement.mitchell import mitchell
from terminals.movement.model import Direction
from terminals.result import BoardState, PassedOut, Played

MOVEMENT = mitchell(3, 3)
KNOWN = Known(MOVEMENT)


def played(text: str, tricks: int, lead: int | None = None) -> Played:
    return Played(Contract.parse(text), tricks, lead)


def entry(board: int = 1, round: int = 1, table: int = 1, result: Played | PassedOut | None = None) -> Entry:
    seating = MOVEMENT.at(round, table)
    assert seating is not None
    return Entry(round, table, board, seating.ns, seating.ew, result)


def codes(item: Entry, known: Known = KNOWN) -> list[str]:
    return [notice.code for notice in movement_notices(item, known)]


# --- movement ---


def test_the_next_board_passes() -> None:
    assert codes(entry(1)) == []
    assert check(entry(1), KNOWN, Behind(), Budget()).free


def test_a_board_of_another_round_is_named_with_those_of_this_one() -> None:
    (notice,) = movement_notices(entry(7), KNOWN)
    assert notice.text == "Board 7 is not in this round. This table plays boards 1 to 3."
    assert (notice.answer, notice.key) == (Answer.DIRECTOR, "Call the director")


def test_a_board_entered_before_asks_which_was_which() -> None:
    (notice,) = movement_notices(entry(2), Known(MOVEMENT, {2: 1}))
    assert notice.code == "entered-before"
    assert (notice.key, notice.second) == ("Call the director", "That was board …")
    assert "Board 2 was entered here in this round" in notice.text
    assert "in round 1" in movement_notices(entry(4, round=2), Known(MOVEMENT, {4: 1}))[0].text


def test_out_of_order_needs_one_key_or_nothing_when_switched_off() -> None:
    (notice,) = movement_notices(entry(3), Known(MOVEMENT, {1: 1}))
    assert (notice.code, notice.answer) == ("out-of-order", Answer.CONFIRM)
    assert notice.text == "Board 2 comes before board 3. Is this board 3?"
    assert codes(entry(3), Known(MOVEMENT, {1: 1}, check_order=False)) == []


def test_law_15_names_the_pairs_that_played_the_board_before() -> None:
    (notice,) = movement_notices(entry(1), Known(MOVEMENT, {}, frozenset({(1, 4)})))
    assert notice.text == "Pair 4 has played board 1 before (Law 15)."
    (notice,) = movement_notices(entry(1), Known(MOVEMENT, {}, frozenset({(1, 4), (1, 1)})))
    assert notice.text.startswith("Pair 1 and pair 4 have")


def test_wrong_pairs_and_sit_outs_are_said() -> None:
    assert codes(Entry(1, 1, 1, 1, 5)) == ["wrong-pairs"]
    half = mitchell(3, 2, missing=Direction.EW)
    sit_out = half.sit_outs[0]
    assert [n.code for n in movement_notices(Entry(sit_out.round, sit_out.table, 1, 1, 4), Known(half))] == ["sit-out"]


def test_without_a_movement_only_repetition_is_noticed() -> None:
    assert codes(Entry(1, 1, 77, 1, 9), Known()) == []
    assert codes(Entry(1, 1, 77, 1, 9), Known(entered={77: 1})) == ["entered-before"]


def test_remaining_boards_close_the_round() -> None:
    assert remaining(Known(MOVEMENT, {1: 1, 3: 1}), 1, 1) == (2,)
    assert remaining(Known(), 1, 1) == ()


# --- deal and field ---

DEAL = generate([1])[0].deal


def test_a_lead_from_another_hand() -> None:
    contract = "3NT N"
    for seat in Seat:
        item = entry(result=played(contract, 9, DEAL.hand(seat)[0]))
        assert (WRONG_LEAD in causes_behind(item, Behind(DEAL))) == (seat is not Seat.EAST)
    assert causes_behind(entry(result=played(contract, 9)), Behind(DEAL)) == ()
    assert causes_behind(entry(result=played(contract, 9, 0)), Behind()) == ()


def test_both_sides_in_one_suit() -> None:
    here = entry(result=played("4S N", 10))
    assert causes_behind(here, Behind(field_results=[played("2S E", 8)])) == (BOTH_SIDES,)
    assert causes_behind(here, Behind(field_results=[played("2S E", 5), played("2S S", 9), played("2H E", 9)])) == ()
    nt = entry(result=played("3NT N", 10))
    assert causes_behind(nt, Behind(field_results=[played("3NT E", 10)])) == ()


def test_the_sign_of_the_field_counts_from_three_results() -> None:
    here = entry(result=played("3NT N", 7))
    field: list[BoardState] = [played("3NT N", 9), played("3NT S", 10)]
    assert causes_behind(here, Behind(field_results=field)) == ()
    assert causes_behind(here, Behind(field_results=[*field, played("1NT N", 7)])) == (OPPOSITE_SIGN,)
    assert causes_behind(here, Behind(field_results=[*field, played("4S N", 8)])) == ()
    assert causes_behind(entry(result=PassedOut()), Behind(field_results=field * 2)) == ()


def test_far_from_double_dummy() -> None:
    table = {(Seat.NORTH, Strain.NOTRUMP): 9}
    assert causes_behind(entry(result=played("3NT N", 13)), Behind(double_dummy=table)) == (NOT_POSSIBLE,)
    assert causes_behind(entry(result=played("3NT N", 12)), Behind(double_dummy=table)) == ()
    assert causes_behind(entry(result=played("3NT S", 13)), Behind(double_dummy=table)) == ()


SUSPECT = Behind(field_results=[played("2S E", 9)] * 3)
WRONG = played("4S N", 10)


def test_the_table_sees_one_text_and_the_desk_the_cause() -> None:
    verdict = check(entry(result=WRONG), KNOWN, SUSPECT, Budget())
    assert [(n.text, n.answer, n.key) for n in verdict.notices] == [(NEUTRAL, Answer.CONFIRM, "It is right")]
    assert set(verdict.causes) == {BOTH_SIDES, OPPOSITE_SIGN}


def test_nobody_can_probe_by_typing() -> None:
    budget = Budget()
    shown = 0
    for tricks in range(14):
        verdict = check(entry(result=played("4S N", tricks)), KNOWN, SUSPECT, budget)
        budget = verdict.budget
        shown += len(verdict.notices)
    assert shown <= 1, "only the first entry of a board is answered"
    for board in (1, 2, 3):
        budget = check(entry(board, result=WRONG), Known(MOVEMENT, check_order=False), SUSPECT, budget, 2).budget
    assert budget.warned <= 2
    assert check(entry(4, round=2, result=WRONG), KNOWN, SUSPECT, budget).budget.warned <= 1


@settings(deadline=None)
@given(
    st.integers(1, 7),
    st.sampled_from(list(Strain)),
    st.sampled_from(list(Doubling)),
    st.sampled_from(list(Seat)),
    st.integers(0, 13),
    st.integers(0, 51),
)
def test_no_text_depends_on_a_card(
    level: int, strain: Strain, doubling: Doubling, declarer: Seat, tricks: int, lead: int
) -> None:
    result = Played(Contract(level, strain, doubling, declarer), tricks, lead)
    verdict = check(entry(result=result), KNOWN, Behind(DEAL, {(declarer, strain): 6}, [WRONG] * 3), Budget())
    assert {notice.text for notice in verdict.notices} <= {NEUTRAL}
    assert set(verdict.causes) <= set(CAUSES)
    for text in [*CAUSES.values(), repr(Behind(DEAL))]:
        assert card_name(lead) not in text


def test_without_deals_the_deal_checks_are_off() -> None:
    assert check(entry(result=played("7NT N", 13, 0)), KNOWN, Behind(), Budget()).free
