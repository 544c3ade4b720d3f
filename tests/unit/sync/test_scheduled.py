"""Two pairs that by the movement never meet on a board: said in words, with where each of them should be."""

from __future__ import annotations

from itertools import product

import pytest

from terminals.movement.catalog import build
from terminals.store.values import PlayKey
from terminals.sync.scheduled import Due, unscheduled
from terminals.sync.setup import new_event

EVENT = 7


@pytest.mark.parametrize("name", ["mitchell:5x2,missing=ew", "howell:4x2"])
def test_every_play_is_scheduled_or_named_with_both_places(name: str) -> None:
    movement = build(name)
    setup = new_event(EVENT, "x", {1: movement})
    planned = {(board, s.ns, s.ew): s for s in movement.seatings for board in s.boards}
    pairs = movement.contestants
    for board, ns, ew in product(movement.board_numbers, pairs, pairs):
        if ns == ew:
            continue
        found = unscheduled(setup, PlayKey("A", board, ns, ew))
        if (board, ns, ew) in planned:
            assert found is None
            continue
        assert found is not None
        assert found.reversed == ((board, ew, ns) in planned)
        for one in found.due:
            mine = [s for (number, *two), s in planned.items() if number == board and one.contestant in two]
            expected = Due(one.contestant)
            if mine:
                (seat,) = mine
                other = seat.ew if seat.ns == one.contestant else seat.ns
                expected = Due(one.contestant, seat.round, seat.table, other)
            assert one == expected
        assert all(str(number) in found.words for number in (board, ns, ew))


def test_without_a_movement_nothing_can_be_said() -> None:
    assert unscheduled(new_event(EVENT, "x", {1: None}), PlayKey("A", 1, 1, 2)) is None
