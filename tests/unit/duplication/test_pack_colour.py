"""Backs of the pack, and hands in the machine: what the checks say; a machine that sees less works as before."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from duplication_fakes import FULL, FakeMachine

from dealer.duplication import pack_words
from dealer.duplication.checks import ALL_CHECKS, BoardWatch, Checks, Placement
from dealer.duplication.options import PackRule
from dealer.duplication.plan import BoardCopy
from dealer.duplication.verdict import BoardState, Reason, Verdict
from dealer.generate import SeededBytes, generate
from drivers.api import (
    Action,
    Armed,
    BackColour,
    BoardInserted,
    Capability,
    CardPassed,
    Fault,
    MachineEvent,
    MachineFault,
    PackSeen,
    Segment,
)

BOARDS = {
    board.number: BoardCopy(board.number, 1, board.deal, board.digest) for board in generate([7, 8], SeededBytes(3))
}
SEES = FULL | Capability.PACK_COLOUR
RED, BLUE, OTHER, NONE, UNKNOWN = BackColour.RED, BackColour.BLUE, BackColour.OTHER, BackColour.NONE, BackColour.UNKNOWN


def watched(
    before: BackColour | None,
    at: dict[int, MachineEvent] | None = None,
    *,
    board: int = 7,
    capabilities: Capability = SEES,
    checks: Checks = ALL_CHECKS,
    rule: PackRule = PackRule.RED_BLUE,
    reading: bool = False,
) -> tuple[Verdict, BoardWatch]:
    """A board dealt rightly with this pack in the hopper; ``at``: what the machine tells after so many cards."""

    async def go() -> tuple[Verdict, BoardWatch]:
        item = BOARDS[board]
        machine = FakeMachine(capabilities)
        identity = await machine.connect(1)
        run = machine.plan_run(Armed(5, board, 1, item.routing, item.digest))
        placement = Placement(item, capabilities, checks)
        placement.expect_pack(rule, before)
        placement.insert(BoardInserted(board, 0))
        watch = BoardWatch(item, 5, identity, placement, checks, reading=reading)
        cards = 0
        for event in run.events:
            watch.feed(event)
            cards += isinstance(event, CardPassed)
            if isinstance(event, CardPassed) and at and cards in at:
                watch.feed(at[cards])
                if watch.halted is not None:
                    watch.resumed()
        return watch.verdict(), watch

    return asyncio.run(go())


@pytest.mark.parametrize(("board", "colour"), [(7, RED), (8, BLUE)])
def test_the_right_pack_is_good_up_to_the_stop_card_under_it(board: int, colour: BackColour) -> None:
    verdict, _ = watched(colour, {52: PackSeen(NONE)}, board=board)
    assert verdict == Verdict(BoardState.GOOD)


@pytest.mark.parametrize(("board", "colour"), [(7, BLUE), (8, RED), (7, OTHER)])
def test_the_wrong_pack_is_caught_and_only_by_its_check(board: int, colour: BackColour) -> None:
    verdict, watch = watched(colour, board=board)
    assert (verdict.state, watch.reasons) == (BoardState.SUSPECT, [Reason.WRONG_PACK])
    assert watched(colour, board=board, checks=Checks.without("pack_colour"))[0].good


def test_one_card_of_the_other_pack_is_caught() -> None:
    verdict, watch = watched(RED, {20: PackSeen(BLUE)})
    assert Reason.WRONG_PACK in verdict.reasons
    assert watch.stopped


def test_a_pack_that_the_machine_can_not_tell_leaves_the_board_unconfirmed() -> None:
    assert watched(UNKNOWN)[0] == Verdict(BoardState.UNCONFIRMED, (Reason.PACK_UNSEEN,))
    assert watched(None)[0] == Verdict(BoardState.UNCONFIRMED, (Reason.PACK_UNSEEN,))
    assert watched(RED, {9: PackSeen(UNKNOWN), 10: PackSeen(RED)})[0].state is BoardState.UNCONFIRMED


def test_nothing_is_asked_of_an_old_machine_or_with_any_pack_allowed_or_when_a_board_is_read() -> None:
    assert watched(None, capabilities=FULL)[0].good
    assert watched(BLUE, rule=PackRule.ANY)[0].good
    assert watched(RED, {9: PackSeen(BLUE)}, reading=True)[0].good


@pytest.mark.parametrize("fault", [Fault.JAM, Fault.COVER_OPEN])
def test_after_a_hand_in_the_machine_a_board_has_to_be_read(fault: Fault) -> None:
    told = MachineFault(5, fault, Segment.READER, 1, True, Action.CLEAR_JAM)
    verdict, _ = watched(RED, {30: told}, capabilities=SEES | Capability.READ_BACK)
    assert verdict == Verdict(BoardState.SUSPECT, (Reason.HANDS_INSIDE,))
    assert watched(RED, {30: told}, capabilities=SEES | Capability.READ_BACK, checks=Checks.without("hands"))[0].good
    # Who can't read it deals it again at once instead of at the end.
    blind = SEES & ~Capability.READ_BACK
    _, watch = watched(RED, {30: told}, capabilities=blind)
    assert watch.reasons == [Reason.MACHINE_FAULT]
    assert watched(RED, {30: replace(told, fault=Fault.MISFEED)}, capabilities=blind)[0].good


def test_the_words_name_backs_and_board_and_say_what_to_do() -> None:
    placement = Placement(BOARDS[8], SEES)
    placement.expect_pack(PackRule.RED_BLUE, RED)
    told = pack_words.wrong_pack(BOARDS[8].key, 2, placement)
    assert told.action == Action.CHANGE_PACK
    assert told.text == (
        "The pack in the hopper has red backs; board 8, copy 1 wants blue ones. No card has moved. "
        "Take it out and put a blue pack in."
    )
    assert pack_words.load_pack(BOARDS[8].key, 1, placement).text == "Put a blue pack into the hopper for board 8."
    knows = Placement(BOARDS[7], SEES | Capability.STOP_CARD)
    knows.expect_pack(PackRule.RED_BLUE, NONE)
    told = pack_words.load_pack(BOARDS[7].key, 2, knows)
    assert told.text.endswith("for board 7, copy 1. Below it may lie a stop card and a blue pack.")
    placement.expect_pack(PackRule.ANY, RED)
    plain = Placement(BOARDS[8], FULL)
    assert "blue" not in pack_words.load_pack(BOARDS[8].key, 1, plain).text
    assert "backs up" in pack_words.pack_unseen(BOARDS[8].key, 1).text
