"""What happened to a board, from the cards found in it: for every kind of mishap, alone and mixed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dealer.board import Board
from dealer.cards import Seat, card_name
from dealer.generate import SeededBytes, generate
from dealer.readback import Difference, Kind, Move, compare, learn
from firmware_bridge.errors import DealError

SET = generate(range(1, 13), SeededBytes(8))
BOARD = SET[4]


def hands(board: Board = BOARD) -> list[list[int]]:
    return [list(hand) for hand in board.deal.hands]


def kinds(found: list[list[int]]) -> list[Kind]:
    return [difference.kind for difference in compare(found, BOARD, SET).differences]


def test_the_same_cards_are_the_same_in_any_order() -> None:
    found = [sorted(hand, reverse=True) for hand in hands()]
    comparison = compare(found, BOARD, SET)
    assert comparison.same
    assert comparison.moves == ()


@pytest.mark.parametrize(("places", "kind"), [(1, Kind.ROTATED_90), (2, Kind.ROTATED_180), (3, Kind.ROTATED_270)])
def test_a_turned_board(places: int, kind: Kind) -> None:
    found = [hands()[(seat - places) % 4] for seat in range(4)]
    assert kinds(found) == [kind]
    assert found == [list(hand) for hand in BOARD.deal.turned(places).hands]


@pytest.mark.parametrize(("one", "two"), [(0, 1), (0, 2), (1, 3), (2, 3)])
def test_two_hands_swapped(one: int, two: int) -> None:
    found = hands()
    found[one], found[two] = found[two], found[one]
    (difference,) = compare(found, BOARD, SET).differences
    assert difference.kind is Kind.SWAPPED
    assert difference.seats == (Seat(one), Seat(two))


def test_three_hands_passed_on() -> None:
    found = hands()
    found[0], found[1], found[2] = found[2], found[0], found[1]
    assert kinds(found) == [Kind.PERMUTED]


@pytest.mark.parametrize("number", [1, 2, 5])
def test_cards_exchanged(number: int) -> None:
    found = hands()
    found[0][:number], found[3][:number] = found[3][:number], found[0][:number]
    (difference,) = compare(found, BOARD, SET).differences
    assert (difference.kind, difference.count) == (Kind.EXCHANGED, 2 * number)
    assert difference.seats == (Seat.NORTH, Seat.WEST)


def test_another_boards_cards_even_when_turned() -> None:
    (difference,) = compare(hands(SET[9]), BOARD, SET).differences
    assert (difference.kind, difference.other) == (Kind.OTHER_BOARD, 10)
    turned = [list(hand) for hand in SET[9].deal.turned(2).hands]
    assert kinds(turned) == [Kind.OTHER_BOARD, Kind.ROTATED_180]


def test_a_missing_card_is_a_matter_of_law_13() -> None:
    found = hands()
    gone = found[2].pop()
    comparison = compare(found, BOARD, SET)
    assert [d.kind for d in comparison.differences] == [Kind.MISSING, Kind.WRONG_COUNT]
    assert comparison.differences[0].seats == (Seat.SOUTH,)
    assert comparison.moves == (Move(gone, None, Seat.SOUTH),)
    assert "Law 13" in comparison.differences[1].text()


def test_a_thirteenth_and_a_fourteenth_card() -> None:
    found = hands()
    found[1].append(found[0].pop())
    assert kinds(found) == [Kind.EXCHANGED, Kind.WRONG_COUNT]


def test_a_card_of_another_pack() -> None:
    found = hands()
    found[0][0] = found[1][0]
    assert kinds(found) == [Kind.EXCHANGED, Kind.MISSING, Kind.EXTRA] or kinds(found) == [Kind.MISSING, Kind.EXTRA]


def test_a_card_that_cannot_be_read() -> None:
    found = hands()
    found[3][5] = 255
    assert kinds(found) == [Kind.MISSING, Kind.UNREADABLE]


def test_a_turned_board_with_two_cards_exchanged_is_both() -> None:
    found = [hands()[(seat - 1) % 4] for seat in range(4)]
    found[0][0], found[1][0] = found[1][0], found[0][0]
    assert kinds(found) == [Kind.ROTATED_90, Kind.EXCHANGED]


def apply(found: list[list[int]], moves: tuple[Move, ...]) -> list[list[int]]:
    """Do what ``restore`` says, with the hands of a director."""
    pockets = [list(hand) for hand in found]
    for move in moves:
        if move.source is not None:
            pockets[move.source].remove(move.card)
        if move.target is not None:
            pockets[move.target].append(move.card)
    return [sorted(hand) for hand in pockets]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 11), st.integers(0, 3), st.integers(0, 254)), max_size=8))
@settings(max_examples=200, deadline=None)
def test_following_the_moves_always_restores_the_board(mishaps: list[tuple[int, int, int, int]]) -> None:
    found = hands()
    for source, place, target, becomes in mishaps:
        if place >= len(found[source]):
            continue
        card = found[source].pop(place)
        if becomes < 60:
            card = becomes % 52  # a card of another pack took its place
        if becomes < 200:
            found[target].append(card)
    comparison = compare(found, BOARD, SET)
    assert apply(found, comparison.moves) == hands()
    assert comparison.same == (not comparison.moves)


def test_messages_name_no_card_unless_asked() -> None:
    found = hands()
    found[0][0], found[1][0] = found[1][0], found[0][0]
    found[2].pop()
    for difference in compare(found, BOARD, SET).differences:
        words = difference.text() + repr(difference)
        assert not any(re.search(rf"\b{card_name(card)}\b", words) for card in range(52))
    shown = compare(found, BOARD, SET).differences[0].text(show_cards=True)
    assert any(card_name(card) in shown for card in range(52))
    assert Difference(Kind.EXCHANGED, (), 1).text().startswith("1 card ")


def test_a_hand_dealt_board_is_learnt_only_when_whole() -> None:
    assert learn(5, hands()) == BOARD
    short = hands()
    short[1].pop()
    with pytest.raises(DealError, match="East has 12 cards") as raised:
        learn(5, short)
    assert raised.value.where == "board 5"
    unread = hands()
    unread[2][0] = 255
    with pytest.raises(DealError, match="South's cards could not be read"):
        learn(5, unread)
    twice = hands()
    twice[0][0] = twice[1][0]
    with pytest.raises(DealError):
        learn(5, twice)


@pytest.mark.parametrize("kind", [Kind.EXCHANGED, Kind.MISSING, Kind.EXTRA, Kind.UNREADABLE])
def test_one_card_is_spoken_of_as_one(kind: Kind) -> None:
    one = Difference(kind, (Seat.NORTH, Seat.EAST), 1).text()
    two = Difference(kind, (Seat.NORTH, Seat.EAST), 2).text()
    assert one.startswith("1 card ")
    assert two.startswith("2 cards ")
    assert not any(word in one.split() for word in ("lie", "are", "they"))
