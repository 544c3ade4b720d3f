"""Boards read on a machine, through mishaps of people and line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from duplication_fakes import FULL, FakeMachine, Run
from duplication_loop import LoopClock, run

from dealer.duplication.progress import CardCounted, ProgressEvent, Stopped
from dealer.generate import SeededBytes, generate
from dealer.readback import Kind, compare, learn
from dealer.reading import MAX_TRIES, BoardContent, BoardReader
from drivers.api import (
    Action,
    BoardInserted,
    Capability,
    CardPassed,
    CommandReason,
    Fault,
    MachineFault,
    MachineStateCode,
    Segment,
    Sound,
)
from firmware_bridge.errors import DealError, DeviceError

BOARDS = generate(range(1, 4), SeededBytes(21))
READS = FULL | Capability.READ_BACK


def full_machine(capabilities: Capability = READS) -> FakeMachine:
    truth = {(board.number, 1): [list(hand) for hand in board.deal.hands] for board in BOARDS}
    return FakeMachine(capabilities, truth=truth)


def read(machine: FakeMachine, numbers: list[int], heard: list[ProgressEvent] | None = None) -> list[BoardContent]:
    async def go() -> list[BoardContent]:
        clock = LoopClock(asyncio.get_running_loop())
        reader = BoardReader(machine, clock, on_progress=None if heard is None else heard.append)
        return [content async for content in reader.read(numbers)]

    return run(go())


def test_boards_are_read_and_learnt() -> None:
    heard: list[ProgressEvent] = []
    contents = read(full_machine(), [1, 2, 3], heard)
    assert [learn(content.board, content.hands) for content in contents] == BOARDS
    assert all(content.number_seen and content.complete for content in contents)
    assert [event.cards for event in heard if isinstance(event, CardCounted)] == [*range(1, 53)] * 3
    assert "hands" not in repr(contents[0])


def test_boards_after_play_are_compared_with_the_set() -> None:
    machine = full_machine()
    pockets = machine.truth[(2, 1)]
    pockets[0], pockets[1] = pockets[1], pockets[0]
    machine.truth[(3, 1)][2].pop()
    found = [
        compare(content.hands, board, BOARDS) for content, board in zip(read(machine, [1, 2, 3]), BOARDS, strict=True)
    ]
    assert found[0].same
    assert [d.kind for d in found[1].differences] == [Kind.SWAPPED]
    assert [d.kind for d in found[2].differences] == [Kind.MISSING, Kind.WRONG_COUNT]


def test_a_doubtful_card_is_not_guessed() -> None:
    machine = full_machine()
    machine.scripts = [lambda run_: run_.change(10, margin=3)]
    (content,) = read(machine, [1])
    assert sum(hand.count(255) for hand in content.hands) == 1


def test_a_board_that_is_in_already_is_read_as_it_lies() -> None:
    """The last board of the evening is often still in the machine: nobody can put in what is in."""
    machine = full_machine()
    machine.board_in, machine.wanted = True, (1, 1)
    machine.state, machine.counts = MachineStateCode.FINISHED, (13, 13, 13, 13)
    (content,) = read(machine, [1])
    assert learn(1, content.hands) == BOARDS[0]
    assert not any("Put in" in text for *_, text in machine.shown)


def test_the_wrong_board_is_sent_back() -> None:
    machine = full_machine()
    machine.board_in, machine.wanted = True, (2, 1)
    (content,) = read(machine, [1])
    assert learn(1, content.hands) == BOARDS[0]
    # Whoever obeys takes no card out of either board.
    assert Action.SWAP_BOARD not in [action for action, *_ in machine.shown]
    assert any("this is board 2" in text and "put board 1 back" in text for *_, text in machine.shown)


@pytest.mark.parametrize(("key", "seen"), [(True, True), (False, False)])
def test_without_a_label_the_key_or_the_order_gives_the_number(key: bool, seen: bool) -> None:
    capabilities = READS & ~Capability.LABEL
    machine = full_machine(capabilities if key else capabilities & ~Capability.KEY)
    (content,) = read(machine, [1])
    assert content.number_seen is seen


def test_the_line_lost_while_reading() -> None:
    machine = full_machine()
    machine.scripts = [lambda run_: machine.later(2.0, lambda: machine.unplug(1.0))]
    contents = read(machine, [1, 2])
    assert [learn(content.board, content.hands) for content in contents] == BOARDS[:2]


def test_a_fault_or_a_silence_while_reading_is_tried_again() -> None:
    def jam(run_: Run) -> None:
        run_.events[9:] = [MachineFault(run_.order.job_id, Fault.JAM, Segment.READER, 1, False, Action.CLEAR_JAM)]

    machine = full_machine()
    machine.scripts = [jam, lambda run_: run_.events.__delitem__(slice(9, None))]
    (content,) = read(machine, [1])
    assert learn(1, content.hands) == BOARDS[0]


def repeats_a_card(run_: Run) -> None:
    run_.change(7, index=6)


def loses_a_card(run_: Run) -> None:
    del run_.events[20]


def babbles(run_: Run) -> None:
    """It reads for ever, with numbers that go round."""
    run_.events[52:] = [machine_card(run_, 52 + n) for n in range(600)]


def machine_card(run_: Run, index: int) -> CardPassed:
    first = run_.events[0]
    assert isinstance(first, CardPassed)
    return replace(first, index=index & 0xFF)


def another_board_comes(run_: Run) -> None:
    """The number changes in mid-board, and the machine has not noticed that the first one went out."""
    run_.events.insert(30, BoardInserted(2, 0))


@pytest.mark.parametrize("mishap", [repeats_a_card, loses_a_card, babbles, another_board_comes])
def test_words_that_do_not_fit_together_are_no_reading(mishap: Callable[[Run], None]) -> None:
    machine = full_machine()
    machine.scripts = [mishap]
    heard: list[ProgressEvent] = []
    (content,) = read(machine, [1], heard)
    assert learn(1, content.hands) == BOARDS[0]
    assert any(isinstance(event, Stopped) for event in heard)


def test_a_board_that_is_sent_back_is_read_again_and_the_next_one_asked_for_by_number() -> None:
    machine = full_machine()
    machine.truth[(1, 1)][0].append(machine.truth[(1, 1)][1].pop())  # North has 14 cards, East 12
    put_right = lambda: machine.truth[(1, 1)][1].append(machine.truth[(1, 1)][0].pop())  # noqa: E731
    heard: list[ProgressEvent] = []
    learnt: list[int] = []

    async def go() -> None:
        reader = BoardReader(machine, LoopClock(asyncio.get_running_loop()), on_progress=heard.append)
        async for content in reader.read([1, 2]):
            try:
                learnt.append(learn(content.board, content.hands).number)
            except DealError as error:
                reader.send_back(error.what.rstrip("."))
                put_right()

    run(go())
    assert learnt == [1, 2]
    (stop,) = [event.instruction for event in heard if isinstance(event, Stopped)]
    assert stop.what == "Board 1: North has 14 cards instead of 13."
    assert stop.step.endswith("put it back: I'll read it.")
    texts = [text for *_, text in machine.shown]
    assert "Board 1 is read. Take it out and put in board 2 with its cards: I'll read it." in texts
    assert texts[-1] == "All 2 boards are read. Take the last one out."
    assert [sound for *_, sound, _ in machine.shown].count(Sound.DONE) == 2


def test_a_board_that_never_reads_ends_the_run_in_words() -> None:
    def jam(run_: Run) -> None:
        run_.events[9:] = [MachineFault(run_.order.job_id, Fault.JAM, Segment.READER, 1, False, Action.CLEAR_JAM)]

    machine = full_machine()
    machine.scripts = [jam] * MAX_TRIES
    with pytest.raises(DeviceError, match="a card is stuck at the reader") as raised:
        read(machine, [1])
    assert raised.value.code == "board-unreadable"


def test_a_machine_that_cannot_read_says_so() -> None:
    with pytest.raises(DeviceError) as raised:
        read(full_machine(FULL), [1])
    assert raised.value.code == "machine-cannot-read"


def test_a_machine_that_refuses_for_good() -> None:
    machine = full_machine()
    machine.refuse["read"] = [CommandReason.COVER_OPEN, CommandReason.UNSUPPORTED]
    with pytest.raises(DeviceError) as raised:
        read(machine, [1])
    assert raised.value.code == "machine-refuses"
