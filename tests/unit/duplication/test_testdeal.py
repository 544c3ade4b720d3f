"""Counting confusions of a sorted pack."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dealer.testdeal import DEAL, ORDER, ConfusionMatrix
from drivers.api import CardPassed


def pack(reads: dict[int, int]) -> list[CardPassed]:
    events = []
    for index, card in enumerate(ORDER):
        pocket = DEAL.owners[card]
        events.append(CardPassed(1, index, 0, reads.get(card, card), 255, 80, pocket, pocket, 0.0, 0, 0, 0))
    return events


@given(st.dictionaries(st.integers(0, 51), st.integers(0, 51) | st.just(255), max_size=20))
def test_every_wrong_read_is_counted_once(reads: dict[int, int]) -> None:
    wrong = {card: read for card, read in reads.items() if card != read}
    matrix = ConfusionMatrix()
    matrix.add(pack(reads))
    matrix.add(pack({}))
    assert (matrix.packs, matrix.cards, matrix.right) == (2, 104, 104 - len(wrong))
    assert {(one.came, one.read): one.times for one in matrix.confusions()} == dict.fromkeys(wrong.items(), 1)
    assert len(matrix.rows()) == 5 + len(wrong)
    assert not matrix.shifted()


def test_a_pack_that_is_not_in_order_is_seen_as_such() -> None:
    matrix = ConfusionMatrix()
    matrix.add(pack({card: (card + 1) % 52 for card in range(52)}))
    assert matrix.shifted()


def test_a_card_in_another_pocket_is_counted() -> None:
    matrix = ConfusionMatrix()
    events = pack({})
    first = events[0]
    events[0] = CardPassed(1, 0, 0, first.best, 255, 80, first.wanted, (first.wanted + 1) % 4, 0.0, 0, 0, 0)
    matrix.add(events)
    assert matrix.misplaced == 1
