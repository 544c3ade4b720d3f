"""Random sets: rejection, seeds, origins, board numbers; and what verification refuses."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dealer.board import Board
from dealer.cards import Seat
from dealer.deal import N_DEALS, Deal
from dealer.generate import (
    DealSet,
    Origin,
    SeededBytes,
    check_numbers,
    generate,
    new_set,
    parse_numbers,
    random_index,
)
from dealer.verify import FILLER, Finding, unshuffled_name, verify_boards
from firmware_bridge.errors import ConfigError, DealError


def test_numbers_at_or_above_the_count_are_drawn_again():
    draws = iter([b"\xff" * 12, N_DEALS.to_bytes(12, "big"), (N_DEALS - 1).to_bytes(12, "big"), b"\x00" * 12])
    assert random_index(lambda size: next(draws)) == N_DEALS - 1
    assert random_index(lambda size: next(draws)) == 0


def test_own_sets_differ_and_seeded_sets_repeat():
    own, other = new_set(range(1, 5)), new_set(range(1, 5))
    assert own.origin is Origin.OWN
    assert not own.not_for_play
    assert own.id != other.id
    assert {b.deal for b in own.boards}.isdisjoint(b.deal for b in other.boards)
    seeded = new_set(range(1, 5), seed=7)
    assert seeded == new_set(range(1, 5), seed=7)
    assert seeded != new_set(range(1, 5), seed=8)
    assert seeded.not_for_play
    assert seeded.origin is Origin.SEEDED


def test_seeded_stream_does_not_depend_on_how_it_is_read():
    whole = SeededBytes(3)(200)
    pieces = SeededBytes(3)
    assert b"".join(pieces(size) for size in (1, 31, 32, 33, 3, 100)) == whole


def test_extension_keeps_identity():
    first = new_set(range(1, 25))
    longer = first.extended(generate(range(25, 28)))
    assert (longer.id, longer.origin, len(longer.boards)) == (first.id, first.origin, 27)
    assert longer.boards[:24] == first.boards
    with pytest.raises(DealError):
        longer.extended(generate([24]))
    assert "boards" not in repr(first)


@pytest.mark.parametrize("numbers", [[1, 1], [0], [-1], [10_000_001]])
def test_impossible_numbers(numbers):
    with pytest.raises(DealError):
        check_numbers(numbers)


@pytest.mark.parametrize(
    ("text", "numbers"), [("1-3", [1, 2, 3]), ("7", [7]), (" 1-2, 25-27 ", [1, 2, 25, 26, 27]), ("3,1", [3, 1])]
)
def test_numbers_as_people_write_them(text, numbers):
    assert parse_numbers(text) == numbers


@pytest.mark.parametrize("text", ["", "0", "3-1", "a", "1-", "-3", "1,,2", "1,1", "1-99999999", "1-3-5", "²", "1-3,2"])
def test_numbers_that_can_not_be_read(text):
    with pytest.raises(ConfigError) as caught:
        parse_numbers(text)
    assert caught.value.exit_status == 2


def test_good_set_has_no_findings():
    assert verify_boards(generate(range(1, 37))) == []


def test_repeats_are_found():
    boards = generate([1, 2])
    codes = [finding.code for finding in verify_boards([*boards, boards[0], Board(3, boards[1].deal)])]
    assert codes == ["board-repeated", "deal-repeated"]


def test_filler_is_refused_by_name():
    [finding] = verify_boards([Board(5, FILLER)])
    assert finding.code == "unshuffled"
    assert "Duplimate filler" in finding.message
    assert finding.board == 5


def pack(suits, low_ace, down):
    ranks = [0, *range(12, 0, -1)] if low_ace else list(range(13))
    return [
        13 * suit + rank
        for suit, is_down in zip(suits, down, strict=True)
        for rank in (reversed(ranks) if is_down else ranks)
    ]


@settings(deadline=None)
@given(
    st.permutations(range(4)),
    st.booleans(),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.integers(0, 51),
    st.booleans(),
    st.integers(0, 3),
    st.booleans(),
)
def test_any_deal_of_an_unshuffled_pack_is_named(suits, low_ace, down, cut, by_blocks, first, clockwise):
    cards = pack(suits, low_ace, down)
    cards = cards[cut:] + cards[:cut]
    owners = bytearray(52)
    for place, card in enumerate(cards):
        turn = place // 13 if by_blocks else place
        owners[card] = (first + (turn if clockwise else -turn)) % 4
    assert unshuffled_name(Deal(bytes(owners)))


@settings(deadline=None)
@given(st.integers(0, N_DEALS - 1))
def test_random_deals_are_not_called_unshuffled(index):
    # index 0 and its like are found by hypothesis on purpose; they are whole suits and rightly named
    deal = Deal.from_index(index)
    longest = max(len(deal.holding(seat, suit)) for seat in Seat for suit in range(4))
    if longest < 10 and unshuffled_name(deal) is not None:
        assert "card by card" in unshuffled_name(deal) or "at a time" in unshuffled_name(deal)
        assert longest in (4, 5) or "at a time" in unshuffled_name(deal)


def test_a_swap_makes_an_unshuffled_pack_pass():
    owners = bytearray(card % 4 for card in range(52))
    assert unshuffled_name(Deal(bytes(owners)))
    owners[0], owners[1] = owners[1], owners[0]
    assert unshuffled_name(Deal(bytes(owners))) is None


def test_finding_for_people_and_programs():
    finding = Finding("hand-size", "East has 12 cards instead of 13.", line=9, board=4)
    assert str(finding) == "line 9, board 4: East has 12 cards instead of 13."
    assert finding.as_dict() == {
        "line": 9,
        "board": 4,
        "code": "hand-size",
        "message": "East has 12 cards instead of 13.",
    }
    assert DealSet("ab", Origin.EXTERNAL, ()).not_for_play is False
