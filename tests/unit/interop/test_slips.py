"""Fast keyboard entry of pick-up slips."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dealer.cards import Seat, card_name
from firmware_bridge.errors import EntryError
from terminals.contract import Contract, Doubling, Strain
from terminals.interop.slips import Slip, SlipEntry, parse_fast
from terminals.result import NotPlayed, PassedOut, Played

SLIP = Slip("A", 3, 2, "5", "12", (7, 8, 9))


@pytest.mark.parametrize(
    ("typed", "contract", "tricks", "lead"),
    [
        ("3nt n 10", "3NT N", 10, None),
        ("3ntn+1", "3NT N", 10, None),
        ("3NN=", "3NT N", 9, None),
        ("4sxe-2 hk", "4SX E", 8, 14),
        ("4s xx by w - 3", "4SXX W", 7, None),
        ("1c s = s10", "1C S", 7, 4),
        ("7hn13", "7H N", 13, None),
        ("2d w 0", "2D W", 0, None),
    ],
)
def test_what_people_type(typed: str, contract: str, tricks: int, lead: int | None) -> None:
    assert parse_fast(typed) == Played(Contract.parse(contract), tricks, lead)


def test_boards_without_a_contract() -> None:
    assert parse_fast(" P ") == PassedOut()
    assert parse_fast("np") == NotPlayed()


@pytest.mark.parametrize(
    "typed", ["", "8nt n 10", "3nt", "3nt n", "3nt n 14", "1nt n -8", "3nt n 9 zz", "x", "٣nt n 9", "3" * 50]
)
def test_what_is_no_result_is_refused(typed: str) -> None:
    with pytest.raises(EntryError):
        parse_fast(typed)


@given(
    st.integers(1, 7),
    st.sampled_from(Strain),
    st.sampled_from(Doubling),
    st.sampled_from(Seat),
    st.integers(0, 13),
    st.none() | st.integers(0, 51),
    st.sampled_from(["", " "]),
    st.booleans(),
)
def test_every_result_can_be_typed(
    level: int, strain: Strain, doubling: Doubling, seat: Seat, tricks: int, lead: int | None, gap: str, signed: bool
) -> None:
    contract = Contract(level, strain, doubling, seat)
    wanted = Played(contract, tricks, lead)
    end = wanted.relative_text if signed else str(tricks)
    typed = gap.join([contract.text.lower(), seat.letter.lower(), end])
    if lead is not None:
        typed += f" {card_name(lead).lower()}"
    assert parse_fast(typed) == wanted


def test_boards_follow_by_themselves() -> None:
    entry = SlipEntry(SLIP)
    assert entry.next_board == 7
    assert entry.enter("3nt n 10").echo == "  7  3NT N+1  +630"
    assert entry.enter("p").echo == "  8  Pass  0"
    with pytest.raises(EntryError):
        entry.enter("nonsense")
    assert entry.next_board == 9
    assert entry.enter("7: 3nt n 9").score == 600
    assert entry.next_board == 9
    assert entry.enter("np").score is None
    assert entry.next_board is None
    with pytest.raises(EntryError, match="All boards"):
        entry.enter("p")
    with pytest.raises(EntryError, match="not on this slip"):
        entry.enter("10: p")
    undone = entry.undo()
    assert undone is not None
    assert (undone.board, entry.next_board) == (9, 9)
    assert sorted(line.board for line in entry.lines) == [7, 8]
