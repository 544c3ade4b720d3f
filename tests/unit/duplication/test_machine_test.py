"""The test of a machine with a sorted pack: what the reader confuses, and what a good machine shows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from duplication_fakes import FULL, FakeMachine, Run
from duplication_loop import LoopClock, run

from dealer.machine_test import MachineTester, PackTest, evaluate, order_of
from drivers.api import Action, Capability, Fault, MachineFault, Segment
from firmware_bridge.errors import DeviceError

FORWARD = list(range(52))


def sorted_pack(order: list[int], bend: Callable[[Run], None] = lambda run_: None) -> Callable[[Run], None]:
    """The machine deals a sorted pack in this order."""

    def script(run_: Run) -> None:
        by_card = {run_.events[i].best: run_.events[i] for i in run_.cards()}
        run_.events[:52] = [replace(by_card[card], index=index) for index, card in enumerate(order)]
        bend(run_)

    return script


def deal_packs(machine: FakeMachine, packs: int = 1) -> list[PackTest]:
    async def go() -> list[PackTest]:
        return await MachineTester(machine, LoopClock(asyncio.get_running_loop())).run(packs)

    return run(go())


@pytest.mark.parametrize("order", [FORWARD, FORWARD[::-1]])
def test_a_good_machine_passes(order: list[int]) -> None:
    machine = FakeMachine(scripts=[sorted_pack(order)] * 3)
    tests = deal_packs(machine, 3)
    result = evaluate(tests)
    assert result.passed
    assert (result.packs, result.cards, result.right) == (3, 156, 156)
    assert [test.reversed for test in tests] == [order[0] != 0] * 3


def test_no_key_and_no_label_is_needed() -> None:
    machine = FakeMachine(FULL, scripts=[sorted_pack(FORWARD)])
    machine.habits.label = lambda board: 17
    machine.habits.presses_key = False
    assert evaluate(deal_packs(machine)).passed
    assert Action.SWAP_BOARD not in [action for action, *_ in machine.shown]


def test_the_matrix_says_which_card_was_taken_for_which() -> None:
    def confuse(run_: Run) -> None:
        run_.change(3, best=29, margin=60)
        run_.change(7, best=255, margin=0)
        run_.change(9, margin=12)
        run_.change(20, confirmed=(run_.events[20].wanted + 1) % 4)

    result = evaluate(deal_packs(FakeMachine(scripts=[sorted_pack(FORWARD, confuse)] * 2), 2))
    assert not result.passed
    assert result.taken_for == {(3, 29): 2, (7, 255): 2}
    assert (result.unread, result.wrong_pockets, result.right) == (2, 2, 100)
    assert result.weakest[0] == (9, 12.0)
    assert result.rows() == [("S7", "-", 2), ("SJ", "DJ", 2)]


def test_a_machine_that_stops_fails_the_test() -> None:
    def jam(run_: Run) -> None:
        run_.events[30:] = [MachineFault(run_.order.job_id, Fault.JAM, Segment.READER, 1, False, Action.CLEAR_JAM)]

    result = evaluate(deal_packs(FakeMachine(scripts=[sorted_pack(FORWARD, jam)])))
    assert (result.passed, result.stopped, result.cards) == (False, 1, 30)


def test_the_line_lost_during_a_test() -> None:
    machine = FakeMachine()
    machine.scripts = [sorted_pack(FORWARD, lambda run_: machine.later(2, lambda: machine.unplug(9)))]
    with pytest.raises(DeviceError) as raised:
        deal_packs(machine)
    assert raised.value.code == "machine-lost"


def test_the_order_is_found_in_spite_of_some_false_reads() -> None:
    reads = FORWARD[::-1]
    reads[0] = reads[5] = 255
    assert order_of(reads) == (FORWARD[::-1], True)
    assert order_of([]) == (FORWARD, False)


@pytest.mark.parametrize("cut", [1, 8, 51])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_pack_that_was_cut_is_in_order_all_the_same(cut: int, backwards: bool) -> None:
    order = FORWARD[::-1] if backwards else FORWARD
    reads = [*order[cut:], *order[:cut]]
    reads[3], reads[30] = 255, reads[29]
    assert order_of(reads) == ([*order[cut:], *order[:cut]], backwards)


def test_the_operator_is_asked_for_any_board_and_a_sorted_pack_and_told_why_it_stopped() -> None:
    def jam(run_: Run) -> None:
        run_.events[30:] = [MachineFault(run_.order.job_id, Fault.JAM, Segment.READER, 1, False, Action.CLEAR_JAM)]

    machine = FakeMachine(scripts=[sorted_pack(FORWARD, jam), sorted_pack(FORWARD)])
    result = evaluate(deal_packs(machine, 2))
    assert result.stops == {"a card is stuck": 1}
    texts = [text for *_, text in machine.shown]
    assert not any("999" in text for text in texts)
    assert "Put any empty board into the machine." in texts
    assert any(text.startswith("Pack 1: a card is stuck. Take the board out, empty it") for text in texts)
    assert texts[-1] == "All 2 packs are dealt. Take the board out."


def test_the_matrix_has_a_row_for_each_card_that_was_confused() -> None:
    def confuse(run_: Run) -> None:
        run_.change(3, best=29)
        run_.change(7, best=255)

    result = evaluate(deal_packs(FakeMachine(scripts=[sorted_pack(FORWARD, confuse)] * 2), 2))
    assert result.matrix() == [["", "DJ", "-"], ["SJ", "2", ""], ["S7", "", "2"]]
    assert evaluate([]).matrix() == []


def test_a_machine_that_measures_no_margin_has_no_lowest_ones() -> None:
    machine = FakeMachine(FULL & ~Capability.MARGIN, scripts=[sorted_pack(FORWARD)])
    result = evaluate(deal_packs(machine))
    assert result.passed
    assert result.weakest == ()


def test_nothing_tested_is_not_passed() -> None:
    assert not evaluate([]).passed


def test_a_machine_without_exit_sensors_can_be_tested() -> None:
    machine = FakeMachine(FULL & ~Capability.EXIT, scripts=[sorted_pack(FORWARD)])
    assert evaluate(deal_packs(machine)).passed
