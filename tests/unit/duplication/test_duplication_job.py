"""The dealing job against a scripted machine and an operator who does what the display says, in virtual time."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import pytest
from duplication_fakes import FULL, FakeMachine, Run, honest
from duplication_loop import LoopClock, run

from dealer.board import Board
from dealer.cards import card_name
from dealer.duplication.claims import ClaimsFile
from dealer.duplication.job import DuplicationJob, JobOptions
from dealer.duplication.plan import BoardKey, Plan, plan
from dealer.duplication.progress import (
    BoardBegan,
    BoardEnded,
    CardCounted,
    JobBegan,
    JobEnded,
    LineDown,
    LineUp,
    ProgressEvent,
    Stopped,
    Summary,
    Told,
)
from dealer.duplication.verdict import BoardState, Reason
from dealer.generate import SeededBytes, generate
from dealer.store.journal import Journal
from drivers.api import (
    Action,
    BoardConfirmed,
    BoardPulled,
    Capability,
    CommandReason,
    Fault,
    HopperState,
    MachineFault,
    Segment,
    Sound,
)
from firmware_bridge.errors import DeviceError, StoreError
from firmware_bridge.service.dealing import shortfall

BOARDS = generate(range(1, 5), SeededBytes(1))


@dataclass
class Bench:
    """A data directory, a machine, and what the job said."""

    path: Path
    machine: FakeMachine = field(default_factory=FakeMachine)
    heard: list[ProgressEvent] = field(default_factory=list)
    options: JobOptions = field(default_factory=JobOptions)
    summary: Summary | None = None

    def job(self, made: Plan, journal: Journal, **more: object) -> DuplicationJob:
        clock = LoopClock(asyncio.get_running_loop())
        return DuplicationJob(
            self.machine, journal, made, clock=clock, on_progress=self.heard.append, options=self.options, **more
        )

    def make(
        self,
        boards: list[Board] = BOARDS[:2],
        copies: int = 1,
        meanwhile: Callable[[], Awaitable[None]] | None = None,
        **more: object,
    ) -> Summary:
        """Run the job to its end."""

        async def go() -> Summary:
            journal = self.open()
            made = plan(boards, copies, set_id="set", **{k: v for k, v in more.items() if k in ("order", "subset")})
            rest = {k: v for k, v in more.items() if k not in ("order", "subset")}
            helper = asyncio.ensure_future(meanwhile()) if meanwhile else None
            try:
                return await self.job(made, journal, **rest).run()
            finally:
                if helper is not None:
                    helper.cancel()
                journal.close()

        self.summary = run(go())
        return self.summary

    def open(self) -> Journal:
        return Journal.open(self.path / "dealing.db", clock=LoopClock(asyncio.get_running_loop()), threaded=False)

    def states(self) -> dict[tuple[int, int], BoardState]:
        async def go() -> dict[tuple[int, int], BoardState]:
            journal = self.open()
            try:
                return {(k.board, k.copy): row.state for k, row in (await journal.rows("set")).items()}
            finally:
                journal.close()

        return run(go())

    def all_true(self, boards: list[Board] = BOARDS) -> bool:
        """Every board that the journal calls good truly holds its cards."""
        hands = {board.number: [list(hand) for hand in board.deal.hands] for board in boards}
        return all(
            [sorted(cards) for cards in self.machine.truth[key]] == hands[key[0]]
            for key, state in self.states().items()
            if state is BoardState.GOOD
        )

    def ended(self) -> list[tuple[int, BoardState]]:
        return [(event.board, event.state) for event in self.heard if isinstance(event, BoardEnded)]

    def reasons(self) -> list[Reason]:
        return [reason for event in self.heard if isinstance(event, BoardEnded) for reason in event.reasons]

    def stops(self) -> list[Stopped]:
        return [event for event in self.heard if isinstance(event, Stopped)]

    def actions(self) -> list[Action]:
        return [action for action, *_ in self.machine.shown]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


GOOD, SUSPECT, UNKNOWN, FAILED = BoardState.GOOD, BoardState.SUSPECT, BoardState.UNKNOWN, BoardState.FAILED


# --- the rhythm --------------------------------------------------------------------------------------------------


def test_boards_are_made_without_any_key(bench: Bench) -> None:
    bench.machine.habits.presses_key = False
    summary = bench.make(BOARDS, 2)
    assert summary.complete
    assert (summary.boards_good, summary.copies_good, summary.attempts, summary.stops) == (4, 8, 8, 0)
    assert summary.states == {"good": 8}
    assert bench.all_true()
    assert Action.CONFIRM_BOARD not in bench.actions()
    assert bench.actions()[-1] == Action.FINISHED
    done = [s for action, _, _, s, _ in bench.machine.shown if action == Action.REMOVE_BOARD]
    assert done == [Sound.DONE] * 8


def test_the_machine_is_armed_while_the_board_is_fetched(bench: Bench) -> None:
    """START follows the insertion at once: neither disk nor ARM lies between them."""
    bench.make()
    assert bench.machine.commands == ["snapshot", "abort", "arm", "start", "arm", "start"]


def test_the_time_that_the_host_adds_is_two_commands_a_board(bench: Bench) -> None:
    summary = bench.make(BOARDS, 1)
    # START (5 ms each) and the first ARM, SNAPSHOT, ABORT: nothing else is on the machine's time.
    assert summary.host_s == pytest.approx(4 * 0.005 + 3 * 0.005 + 3 * 0.005, abs=0.011)
    assert summary.dealing_s == pytest.approx(4 * 52 * 0.1, rel=0.02)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("by-board", [(1, 1), (1, 2), (3, 1), (3, 2)]),
        ("by-copy", [(1, 1), (3, 1), (1, 2), (3, 2)]),
        ("descending", [(3, 1), (3, 2), (1, 1), (1, 2)]),
    ],
)
def test_orders_and_subsets(bench: Bench, order: str, expected: list[tuple[int, int]]) -> None:
    bench.make(BOARDS, 2, order=order, subset=[3, 1])
    assert [(e.board, e.copy) for e in bench.heard if isinstance(e, BoardBegan)] == expected


def test_progress_counts_cards_and_never_names_one(bench: Bench) -> None:
    bench.make(BOARDS[:1])
    counted = [event for event in bench.heard if isinstance(event, CardCounted)]
    assert [event.cards for event in counted] == list(range(1, 53))
    assert all(sum(event.counts) == event.cards for event in counted)
    assert counted[-1].counts == (13, 13, 13, 13)
    assert isinstance(bench.heard[0], JobBegan)
    assert isinstance(bench.heard[-1], JobEnded)


def test_without_a_label_reader_one_key_a_board_confirms_the_number(bench: Bench) -> None:
    bench.machine.capabilities = FULL & ~(Capability.LABEL | Capability.ORIENTATION)
    assert bench.make(BOARDS, 1).complete
    assert bench.actions().count(Action.CONFIRM_BOARD) == 4


def test_a_board_that_nobody_confirms_ends_unconfirmed(bench: Bench) -> None:
    bench.machine.capabilities = FULL & ~Capability.LABEL
    bench.machine.habits.presses_key = False
    summary = bench.make()
    assert summary.states == {"unconfirmed": 2}
    assert not summary.complete
    assert summary.attempts == 2
    assert "not confirmed" in bench.machine.shown[-2][4]
    assert bench.actions().count(Action.SWAP_BOARD) >= 2
    assert set(bench.reasons()) == {Reason.NOT_CONFIRMED}


def test_the_number_may_be_confirmed_until_the_board_is_taken_out(bench: Bench) -> None:
    bench.machine.capabilities = FULL & ~Capability.LABEL
    bench.machine.habits.presses_key = False
    bench.options = JobOptions(confirm_s=5, confirm_rounds=1, late_confirm_s=30)
    bench.machine.scripts = [
        lambda run: bench.machine.later(7, lambda: bench.machine.emit(BoardConfirmed(1, 1))) and None
    ]
    assert bench.make(BOARDS[:1]).complete


def test_the_wrong_board_is_looked_for_when_nobody_confirms(bench: Bench) -> None:
    """The operator sees another number than the display asks for and presses nothing: that board must not be used."""
    bench.machine.capabilities = FULL & ~Capability.LABEL
    bench.machine.habits.presses_key = False
    real = bench.machine.act

    def act(action: Action, board: int, copy: int, number: int) -> None:
        bench.machine.habits.presses_key = bench.machine.habits.presses_key or action == Action.SWAP_BOARD
        real(action, board, copy, number)

    bench.machine.act = act  # type: ignore[method-assign]
    summary = bench.make(BOARDS[:1])
    assert summary.complete
    assert Action.SWAP_BOARD in bench.actions()


def test_a_machine_without_key_and_label_deals_at_once_and_the_host_may_confirm(bench: Bench) -> None:
    bench.machine.capabilities = FULL & ~(Capability.LABEL | Capability.KEY)
    assert bench.make(BOARDS[:1]).states == {"unconfirmed": 1}

    async def go() -> Summary:
        journal = bench.open()
        job = bench.job(plan(BOARDS[1:2], set_id="set"), journal)
        running = asyncio.ensure_future(job.run())
        await asyncio.sleep(4)
        job.confirm()
        try:
            return await running
        finally:
            journal.close()

    bench.machine.pull()
    assert run(_fresh_machine(bench, go)).complete


async def _fresh_machine(bench: Bench, go: Callable[[], Awaitable[Summary]]) -> Summary:
    bench.machine = FakeMachine(bench.machine.capabilities)
    return await go()


@pytest.mark.parametrize("counts", [(0, 0, 0, 0), (13, 13, 13, 13)])
def test_a_board_that_is_in_already_has_to_come_out_first(bench: Bench, counts: tuple[int, int, int, int]) -> None:
    """A machine that had no power since believes the pockets of a good board to be empty."""
    bench.machine.board_in = True
    bench.machine.wanted = (1, 1)
    bench.machine.counts = counts
    assert bench.make(BOARDS[:1]).complete
    assert bench.actions()[0] == Action.REMOVE_BOARD


def test_an_empty_hopper_and_a_stop_card_are_asked_for_in_words(bench: Bench) -> None:
    bench.machine.hopper = HopperState.STOP_CARD
    assert bench.make(BOARDS[:1]).complete
    assert bench.actions()[0] == Action.LOAD_PACK
    assert "stop card" in bench.machine.shown[0][4]


def test_made_boards_are_left_alone_unless_asked_for(bench: Bench) -> None:
    bench.make(BOARDS[:1])
    first = bench.machine
    bench.machine = FakeMachine(truth=first.truth)
    summary = bench.make(BOARDS)
    assert (summary.attempts, summary.copies_good) == (3, 4)
    bench.machine = FakeMachine(truth=first.truth)
    bench.options = JobOptions(redo=True)
    assert bench.make(BOARDS[:1]).attempts == 1


def test_unconfirmed_boards_are_made_again_when_asked_for(bench: Bench) -> None:
    bench.machine.capabilities = FULL & ~(Capability.LABEL | Capability.KEY)
    bench.make(BOARDS[:2])
    bench.machine = FakeMachine(truth=bench.machine.truth)
    assert bench.make(BOARDS[:2]).attempts == 0
    bench.machine = FakeMachine(truth=bench.machine.truth)
    bench.options = JobOptions(redo_unconfirmed=True)
    summary = bench.make(BOARDS[:2])
    assert (summary.attempts, summary.complete) == (2, True)
    assert bench.all_true()


def test_nothing_to_do_is_said_at_once(bench: Bench) -> None:
    bench.make(BOARDS[:1])
    bench.machine = FakeMachine()
    summary = bench.make(BOARDS[:1])
    assert summary.complete
    assert bench.actions() == [Action.FINISHED]


# --- the wrong board ---------------------------------------------------------------------------------------------


def test_the_wrong_board_is_refused_before_a_card_moves(bench: Bench) -> None:
    seen = iter([9])
    bench.machine.habits.label = lambda board: next(seen, board)
    summary = bench.make()
    assert summary.complete
    assert Action.SWAP_BOARD in bench.actions()
    assert summary.attempts == 2
    assert "board 9" in bench.stops()[0].instruction.text


def test_a_turned_board_is_refused_before_a_card_moves(bench: Bench) -> None:
    seen = iter([2])
    bench.machine.habits.orientation = lambda board: next(seen, 0)
    assert bench.make().complete
    assert Action.TURN_BOARD in bench.actions()


def test_an_orientation_that_stays_unseen_ends_unconfirmed(bench: Bench) -> None:
    bench.machine.habits.orientation = lambda board: 255
    assert bench.make(BOARDS[:1]).states == {"unconfirmed": 1}
    assert bench.reasons() == [Reason.NOT_ORIENTED]


def test_pulling_the_board_before_the_start_arms_again(bench: Bench) -> None:
    bench.machine.capabilities = FULL & ~Capability.LABEL

    async def meddle() -> None:
        await asyncio.sleep(3)
        bench.machine.pull()
        bench.machine.later(1, lambda: bench.machine.insert(1, 1))

    bench.machine.habits.fetch_s = 2.5
    assert bench.make(BOARDS[:1], meanwhile=meddle).complete
    assert bench.machine.commands.count("arm") == 2


@pytest.mark.parametrize(
    ("reason", "action"),
    [
        (CommandReason.COVER_OPEN, Action.CLOSE_COVER),
        (CommandReason.HOPPER_EMPTY, Action.LOAD_PACK),
        (CommandReason.POCKETS_NOT_EMPTY, Action.COLLECT_CARDS),
        (CommandReason.WRONG_BOARD, Action.SWAP_BOARD),
        (CommandReason.TURNED, Action.TURN_BOARD),
    ],
)
def test_refusals_that_an_operator_can_remove(bench: Bench, reason: CommandReason, action: Action) -> None:
    bench.machine.refuse["start"] = [reason]
    if reason is CommandReason.HOPPER_EMPTY:
        bench.machine.hopper = HopperState.EMPTY
        bench.machine.hopper = HopperState.LOADED
        bench.machine.scripts = []
        real = bench.machine.load
        bench.machine.load = lambda: (setattr(bench.machine, "hopper", HopperState.EMPTY), real())  # type: ignore[method-assign]
    summary = bench.make(BOARDS[:1])
    assert summary.complete
    assert action in bench.actions()
    assert summary.attempts == 1


@pytest.mark.parametrize("command", ["arm", "start"])
@pytest.mark.parametrize(
    "reason",
    [CommandReason.WRONG_STATE, CommandReason.WRONG_JOB, CommandReason.WRONG_DIGEST, CommandReason.ID_REUSED],
)
def test_refusals_that_pass_are_tried_again(bench: Bench, command: str, reason: CommandReason) -> None:
    bench.machine.refuse[command] = [reason]
    assert bench.make(BOARDS[:1]).complete


@pytest.mark.parametrize("command", ["arm", "start"])
def test_refusals_that_do_not_pass_end_the_run_in_words(bench: Bench, command: str) -> None:
    bench.machine.refuse[command] = [CommandReason.WRONG_DIGEST] * 50
    with pytest.raises(DeviceError) as raised:
        bench.make(BOARDS[:1])
    assert raised.value.code == "machine-refuses"
    assert "the deal arrived damaged" in raised.value.what
    assert bench.states() == {(1, 1): BoardState.PLANNED}


def test_a_machine_that_cannot_route_is_refused(bench: Bench) -> None:
    bench.machine.capabilities = FULL & ~Capability.ROUTES
    with pytest.raises(DeviceError) as raised:
        bench.make()
    assert raised.value.code == "machine-cannot-route"


# --- stops -------------------------------------------------------------------------------------------------------


def misread_at(position: int, **fields: int) -> Callable[[Run], None]:
    return lambda run: run.change(position, **fields)


def faulty(fault: Fault, position: int = 20) -> Callable[[Run], None]:
    def script(run: Run) -> None:
        job = run.order.job_id
        run.events[position:] = [MachineFault(job, fault, Segment.READER, 1, False, Action.COLLECT_CARDS)]

    return script


def test_a_doubtful_card_stops_and_the_board_is_dealt_again(bench: Bench) -> None:
    bench.machine.scripts = [misread_at(10, margin=5)]
    summary = bench.make()
    assert summary.complete
    assert (summary.attempts, summary.stops, summary.redeals) == (3, 1, 1)
    assert bench.ended() == [(1, SUSPECT), (1, GOOD), (2, GOOD)]
    assert bench.all_true()
    stop = bench.stops()[0].instruction
    assert stop.action == Action.COLLECT_CARDS
    assert stop.sound == Sound.STOP
    assert (stop.board, stop.copy) == (1, 1)
    assert "Board 1" in stop.text
    assert "hopper" in stop.text


def test_the_machine_is_stopped_at_the_first_wrong_card(bench: Bench) -> None:
    bench.machine.scripts = [misread_at(10, best=255)]
    bench.make(BOARDS[:1])
    first = [event for event in bench.heard if isinstance(event, CardCounted)][:11]
    assert [event.cards for event in first] == list(range(1, 12))
    assert bench.machine.commands[:5] == ["snapshot", "abort", "arm", "start", "abort"]


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.NONE])
def test_every_fault_of_the_machine_stops_with_words_of_its_own(bench: Bench, fault: Fault) -> None:
    bench.machine.scripts = [faulty(fault)]
    summary = bench.make(BOARDS[:1])
    assert summary.complete
    assert summary.stops == 1
    assert "fault" not in bench.stops()[0].instruction.text
    assert "something" not in bench.stops()[0].instruction.text
    assert bench.all_true()


def test_five_attempts_and_the_board_is_given_up(bench: Bench) -> None:
    bench.machine.scripts = [faulty(Fault.JAM)] * 5
    summary = bench.make()
    assert summary.states == {"failed": 1, "good": 1}
    assert summary.attempts == 6
    assert bench.states()[(1, 1)] is FAILED
    assert any("failed 5 times" in text for *_, text in bench.machine.shown)


def test_a_pack_that_fails_again_is_replaced(bench: Bench) -> None:
    bench.machine.scripts = [misread_at(10, best=255), misread_at(11, margin=0)]
    assert bench.make(BOARDS[:1]).complete
    wanted = [a for a in bench.actions() if a in (Action.COLLECT_CARDS, Action.REPLACE_PACK)]
    assert wanted == [Action.COLLECT_CARDS, Action.REPLACE_PACK]


def test_when_another_pack_is_hard_to_read_too_it_is_the_light_or_the_glass(bench: Bench) -> None:
    bench.machine.scripts = [misread_at(10, best=255)] * 4
    assert bench.make(BOARDS[:1]).complete
    steps = [event.instruction.step for event in bench.stops()]
    assert [("another pack" in step, "sunlight" in step) for step in steps] == [
        (False, False),
        (True, False),
        (False, True),
        (False, True),
    ]
    assert "another pack too" in bench.stops()[2].instruction.what


def test_two_packs_that_are_mixed_are_recognised(bench: Bench) -> None:
    """Board 1 has a card twice, board 2 another one: complementary faults of neighbouring boards."""

    def twin(first: int, second: int) -> Callable[[Run], None]:
        def script(run: Run) -> None:
            place = next(i for i in run.cards() if run.events[i].best == second)
            run.change(place, best=first, wanted=run.order.routing[first // 4] >> 2 * (first % 4) & 3)

        return script

    bench.machine.scripts = [twin(5, 30), lambda run: None, twin(30, 5)]
    assert bench.make().complete
    texts = [event.instruction.text for event in bench.stops()]
    assert "came twice" in texts[0]
    assert "packs are probably mixed" in texts[1]
    assert bench.stops()[1].instruction.action == Action.REPLACE_PACK


def test_jams_do_not_blame_the_pack(bench: Bench) -> None:
    bench.machine.scripts = [faulty(Fault.JAM)] * 3
    assert bench.make(BOARDS[:1]).complete
    assert Action.REPLACE_PACK not in bench.actions()


def test_a_board_pulled_in_mid_board_is_dealt_again(bench: Bench) -> None:
    def pulled(run: Run) -> None:
        run.events[15:] = [
            BoardPulled(),
            MachineFault(run.order.job_id, Fault.BOARD_PULLED, Segment.POCKET, 0, False, Action.COLLECT_CARDS),
        ]

    bench.machine.scripts = [pulled]
    assert bench.make(BOARDS[:1]).complete
    assert Reason.PULLED in bench.reasons()
    assert bench.all_true()


def curable(fault: Fault, position: int = 20) -> Callable[[Run], None]:
    def script(run: Run) -> None:
        job = run.order.job_id
        run.events[position:position] = [MachineFault(job, fault, Segment.READER, 1, True, Action.CLEAR_JAM)]

    return script


@pytest.mark.parametrize("fault", [Fault.JAM, Fault.COVER_OPEN])
def test_after_a_hand_in_the_machine_the_board_is_read_instead_of_believed(bench: Bench, fault: Fault) -> None:
    bench.machine.capabilities = FULL | Capability.READ_BACK
    bench.machine.scripts = [curable(fault)]
    summary = bench.make(BOARDS[:1])
    assert summary.complete
    assert (summary.attempts, summary.redeals) == (1, 0)
    assert bench.machine.commands.count("read") == 1
    assert bench.ended() == [(1, SUSPECT), (1, GOOD)]
    assert bench.all_true()


@pytest.mark.parametrize("fault", [Fault.JAM, Fault.COVER_OPEN])
def test_after_a_hand_in_a_machine_that_can_not_read_the_board_is_dealt_again(bench: Bench, fault: Fault) -> None:
    bench.machine.scripts = [curable(fault)]
    summary = bench.make(BOARDS[:1])
    assert summary.complete
    assert summary.redeals == 1
    assert "resume" not in bench.machine.commands


@pytest.mark.parametrize("fault", [Fault.MISFEED, Fault.STOPPED_BY_KEY])
def test_a_stop_that_can_be_cured_costs_no_redeal(bench: Bench, fault: Fault) -> None:
    bench.machine.scripts = [curable(fault)]
    bench.machine.refuse["resume"] = [CommandReason.COVER_OPEN, CommandReason.POCKETS_NOT_EMPTY]
    summary = bench.make(BOARDS[:1])
    assert summary.complete
    assert (summary.attempts, summary.stops, summary.redeals) == (1, 1, 0)
    assert bench.machine.commands.count("resume") == 3
    assert "goes on by itself" in bench.stops()[0].instruction.text
    assert bench.all_true()


@pytest.mark.parametrize("reason", [CommandReason.WRONG_STATE, CommandReason.WRONG_JOB, CommandReason.UNSUPPORTED])
def test_a_machine_that_will_not_go_on_deals_again(bench: Bench, reason: CommandReason) -> None:
    bench.machine.scripts = [curable(Fault.MISFEED)]
    bench.machine.refuse["resume"] = [reason]
    summary = bench.make(BOARDS[:1])
    assert summary.complete
    assert summary.redeals == 1
    assert bench.ended() == [(1, SUSPECT), (1, GOOD)]


def test_a_cure_that_nobody_undertakes_ends_in_a_redeal(bench: Bench) -> None:
    bench.machine.scripts = [curable(Fault.MISFEED)]
    bench.machine.refuse["resume"] = [CommandReason.COVER_OPEN] * 200
    assert bench.make(BOARDS[:1]).redeals == 1


def test_a_machine_that_halts_again_and_again_is_not_believed(bench: Bench) -> None:
    def stuttering(run: Run) -> None:
        for position in (40, 30, 20, 10):
            curable(Fault.MISFEED, position)(run)

    bench.machine.scripts = [stuttering]
    assert bench.make(BOARDS[:1]).redeals == 1


def test_the_board_pulled_during_a_cure_is_dealt_again(bench: Bench) -> None:
    bench.machine.scripts = [curable(Fault.MISFEED)]
    bench.machine.refuse["resume"] = [CommandReason.POCKETS_NOT_EMPTY] * 200

    async def meddle() -> None:
        await asyncio.sleep(10)
        bench.machine.pull()

    assert bench.make(BOARDS[:1], meanwhile=meddle).redeals == 1
    assert Reason.PULLED in bench.reasons()


def test_a_silent_machine_is_given_up_and_the_board_dealt_again(bench: Bench) -> None:
    bench.machine.scripts = [lambda run: run.events.__delitem__(slice(20, None))]
    assert bench.make(BOARDS[:1]).complete
    assert Reason.SILENT in bench.reasons()


def test_cards_of_a_stopped_attempt_do_not_count_in_the_next(bench: Bench) -> None:
    def chatty(run: Run) -> None:
        run.change(5, margin=0)
        late = [replace(event) for event in run.events[6:30]]
        bench.machine.later(4, lambda: [bench.machine.emit(event) for event in late])

    bench.machine.scripts = [chatty]
    assert bench.make(BOARDS[:1]).complete
    assert bench.all_true()


# --- line and power ----------------------------------------------------------------------------------------------


def cut_after(bench: Bench, cards: int, seconds: float, *, restart: bool) -> Callable[[Run], None]:
    def script(run: Run) -> None:
        bench.machine.later(cards * bench.machine.card_s, lambda: bench.machine.unplug(seconds, restart=restart))

    return script


@pytest.mark.parametrize("restart", [False, True])
def test_a_line_lost_in_mid_board_makes_it_unknown_and_it_is_dealt_again(bench: Bench, restart: bool) -> None:
    bench.machine.scripts = [cut_after(bench, 20, 5, restart=restart)]
    summary = bench.make()
    assert summary.complete
    assert summary.link_losses == 1
    assert bench.ended() == [(1, UNKNOWN), (1, GOOD), (2, GOOD)]
    assert [type(e) for e in bench.heard if isinstance(e, LineDown | LineUp)] == [LineDown, LineUp]
    assert bench.all_true()


def test_a_machine_that_stays_away_ends_the_run_with_the_next_step(bench: Bench) -> None:
    bench.machine.scripts = [cut_after(bench, 20, 1e6, restart=False)]
    with pytest.raises(DeviceError, match="same data directory") as raised:
        bench.make()
    assert raised.value.code == "machine-lost"
    assert "board 1" in raised.value.where
    assert bench.states()[(1, 1)] is UNKNOWN


@pytest.mark.parametrize("command", ["arm", "start", "abort", "snapshot"])
def test_a_line_lost_during_any_command(bench: Bench, command: str) -> None:
    bench.machine.scripts = [misread_at(10, best=255)]
    bench.machine.lose[command] = 1
    summary = bench.make()
    assert summary.complete
    assert bench.all_true()
    # Only START may have begun something; for the others no attempt is counted and nothing is unknown.
    assert (UNKNOWN in [state for _, state in bench.ended()]) == (command == "start")


def test_a_line_lost_while_the_operator_is_away_costs_nothing(bench: Bench) -> None:
    bench.machine.habits.fetch_s = 30

    async def unplug() -> None:
        await asyncio.sleep(10)
        bench.machine.unplug(3, restart=True)

    summary = bench.make(BOARDS[:1], meanwhile=unplug)
    assert summary.complete
    assert (summary.attempts, summary.link_losses) == (1, 1)


@pytest.mark.parametrize("restart", [False, True])
def test_a_line_lost_while_a_good_board_waits_to_be_taken_out(bench: Bench, restart: bool) -> None:
    """After a power cut the machine believes the pockets empty: the good board must not be dealt into again."""
    bench.machine.habits.fetch_s = 8

    async def unplug() -> None:
        await asyncio.sleep(15)
        bench.machine.unplug(1, restart=restart)

    summary = bench.make(BOARDS[:2], meanwhile=unplug)
    assert summary.complete
    assert (summary.attempts, summary.link_losses) == (2, 1)
    assert bench.all_true()


def test_ctrl_c_stops_the_motors_and_keeps_the_journal(bench: Bench) -> None:
    async def go() -> None:
        journal = bench.open()
        running = asyncio.ensure_future(bench.job(plan(BOARDS, set_id="set"), journal).run())
        await asyncio.sleep(4)
        running.cancel()
        try:
            with pytest.raises(asyncio.CancelledError):
                await running
        finally:
            journal.close()

    run(go())
    assert bench.machine.commands[-1] == "abort"
    assert bench.states()[(1, 1)] is UNKNOWN
    assert bench.states()[(2, 1)] is BoardState.PLANNED
    bench.machine = FakeMachine(truth=bench.machine.truth)
    assert bench.make(BOARDS).complete
    assert bench.actions()[0] == Action.INSERT_BOARD or bench.actions()[0] == Action.COLLECT_CARDS
    assert bench.all_true()


def test_ctrl_c_while_the_operator_is_away_leaves_the_board_planned(bench: Bench) -> None:
    bench.machine.habits.obeys = False

    async def go() -> None:
        journal = bench.open()
        running = asyncio.ensure_future(bench.job(plan(BOARDS, set_id="set"), journal).run())
        await asyncio.sleep(4)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        journal.close()

    run(go())
    assert set(bench.states().values()) == {BoardState.PLANNED}


# --- the journal and the evidence --------------------------------------------------------------------------------


def test_another_deal_under_the_same_set_is_refused(bench: Bench) -> None:
    bench.make(BOARDS[:1])
    other = [Board(1, BOARDS[3].deal)]
    with pytest.raises(StoreError, match="another deal") as raised:
        bench.make(other)
    assert raised.value.code == "set-differs"


def test_claims_are_written_at_each_verdict_and_at_the_end(bench: Bench, tmp_path: Path) -> None:
    class Still:
        def monotonic(self) -> float:
            return 1.5

    claims = ClaimsFile(tmp_path / "evidence", Still())  # type: ignore[arg-type]
    claims.path.write_text('{"torn": ')
    claims = ClaimsFile(tmp_path / "evidence", Still())  # type: ignore[arg-type]
    bench.machine.scripts = [misread_at(3, margin=0)]
    bench.make(claims=claims)
    rows = [json.loads(line) for line in claims.path.read_text().splitlines()]
    assert [(row["board"], row["copy"], row["state"]) for row in rows] == [
        (1, 1, "suspect"),
        (1, 1, "good"),
        (2, 1, "good"),
    ]
    again = ClaimsFile(tmp_path / "evidence", Still())  # type: ignore[arg-type]
    bench.machine = FakeMachine(truth=bench.machine.truth)
    bench.make(claims=again)
    repeated = [json.loads(line) for line in claims.path.read_text().splitlines()][3:]
    assert [(row["board"], row["state"]) for row in repeated] == [(1, "good"), (2, "good")]
    assert rows[-1]["plan"] == {letter: list(hand) for letter, hand in zip("NESW", BOARDS[1].deal.hands, strict=True)}
    assert {"set", "board", "copy", "state", "plan", "at"} == set(rows[0])


def test_nothing_that_is_shown_told_or_logged_names_a_card(
    bench: Bench, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    bench.machine.scripts = [
        misread_at(10, best=255),
        lambda run: run.change(30, best=run.events[3].best),
        faulty(Fault.DUPLICATE_CARD),
        faulty(Fault.GATE),
    ]
    bench.make(BOARDS)
    out, err = capsys.readouterr()
    said = "\n".join([repr(bench.heard), repr(bench.machine.shown), caplog.text, out, err, repr(bench.summary)])
    for card in range(52):
        name = card_name(card)
        assert f"{name}," not in said
        assert f" {name} " not in said
        assert f"'{name}'" not in said
    for symbol in "♠♥♦♣":
        assert symbol not in said
    for board in BOARDS:
        assert board.digest.hex() not in said
        assert repr(board.deal.routing) not in said


def test_the_journal_keeps_every_attempt(bench: Bench) -> None:
    bench.machine.scripts = [faulty(Fault.JAM, 20)]
    bench.make(BOARDS[:1])

    async def look() -> list:
        journal = bench.open()
        try:
            return await journal.attempts("set")
        finally:
            journal.close()

    first, second = run(look())
    assert (first.key, first.state, first.fault, first.cards) == (BoardKey(1, 1), SUSPECT, int(Fault.JAM), 20)
    assert (second.state, second.fault, second.cards) == (GOOD, 0, 52)
    assert first.job_id != second.job_id


def test_told_only_once(bench: Bench) -> None:
    """The same instruction is not shown twice in a row: a display must not flicker, a page not scroll."""
    bench.machine.scripts = [faulty(Fault.JAM)]
    bench.make()
    told = [event.instruction for event in bench.heard if isinstance(event, Told | Stopped)]
    assert all(first != second for first, second in pairwise(told))


def test_the_end_names_every_board_that_is_not_good(bench: Bench) -> None:
    bench.machine.scripts = [honest, *[faulty(Fault.GATE)] * 5]
    summary = bench.make(BOARDS[:2], 2)
    assert summary.not_good == ((BoardKey(1, 2), FAILED),)
    assert summary.as_dict()["not_good"] == [{"board": 1, "copy": 2, "state": "failed"}]
    error = shortfall(summary)
    assert error is not None
    assert error.what == "not every board is good. Failed: board 1, copy 2."


@pytest.mark.parametrize("reads", [False, True])
def test_a_run_that_was_stopped_in_mid_board_is_told_where_its_cards_are(bench: Bench, reads: bool) -> None:
    """Ctrl-C, a lost machine and kill -9 leave the same behind: a board with cards in it, and a pack that is short."""
    bench.machine.capabilities = FULL | Capability.READ_BACK if reads else FULL

    async def go() -> None:
        journal = bench.open()
        running = asyncio.ensure_future(bench.job(plan(BOARDS, set_id="set"), journal).run())
        await asyncio.sleep(4)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        journal.close()

    run(go())
    heard = bench.heard[:]
    bench.machine = FakeMachine(bench.machine.capabilities, truth=bench.machine.truth)
    bench.heard.clear()
    assert bench.make(BOARDS).complete
    assert heard
    first = bench.stops()[0].instruction
    assert first.what == "Board 1: the program ended while it was in work."
    assert first.action == (Action.RETURN_BOARD if reads else Action.COLLECT_CARDS)
    assert bench.all_true()


def test_a_board_pulled_after_its_last_card_is_asked_back_and_read(bench: Bench) -> None:
    def pulled(run: Run) -> None:
        run.events[52:] = [BoardPulled()]

    bench.machine.capabilities = FULL | Capability.READ_BACK
    bench.machine.scripts = [pulled]
    summary = bench.make(BOARDS[:1])
    assert (summary.complete, summary.redeals) == (True, 0)
    stop = bench.stops()[0].instruction
    assert stop.text.endswith("Put the board back: I'll read it.")
    assert "taken out too early" in stop.what
    assert bench.all_true()


def test_the_journal_on_a_full_disk_names_the_next_step(bench: Bench) -> None:
    async def go() -> None:
        journal = bench.open()

        def full(connection: object) -> None:
            raise StoreError("the disk is full; nothing of this was stored.", code="store-full")

        with pytest.raises(StoreError) as raised:
            await journal.submit(full)
        assert "same command again" in raised.value.next_step
        journal.close()

    run(go())


def test_a_machine_that_should_see_backs_but_never_tells_is_asked_again_and_leaves_the_board_unconfirmed(
    bench: Bench,
) -> None:
    bench.machine.capabilities = FULL | Capability.PACK_COLOUR

    async def reload() -> None:
        for _ in range(8):
            await asyncio.sleep(5)
            for hopper in (HopperState.EMPTY, HopperState.LOADED):
                bench.machine.set_hopper(hopper)

    summary = bench.make(BOARDS[:1], meanwhile=reload)
    assert summary.states == {"unconfirmed": 1}
    assert Reason.PACK_UNSEEN in bench.reasons()
    assert "backs up" in bench.stops()[0].instruction.text


class CollectsInPlace(FakeMachine):
    """Its operator takes the cards out of the pockets where the board lies, and takes the board out when told to."""

    hopper_sensor = True

    def act(self, action: Action, board: int, copy: int, number: int) -> None:
        if action != Action.COLLECT_CARDS or not self.board_in or "still in the machine" in self.shown[-1][4]:
            super().act(action, board, copy, number)
            return
        self.truth.pop(self.wanted, None)
        if self.hopper_sensor:
            self.set_hopper(HopperState.EMPTY)
            self.later(1.0, self.load)


@pytest.mark.parametrize("hopper_sensor", [True, False])
def test_a_board_that_is_emptied_where_it_lies_is_asked_out(bench: Bench, hopper_sensor: bool) -> None:
    bench.machine = CollectsInPlace(scripts=[faulty(Fault.GATE)])
    bench.machine.hopper_sensor = hopper_sensor
    summary = bench.make()
    assert summary.complete
    (reminder,) = [text for *_, text in bench.machine.shown if "still in the machine" in text]
    assert "Take the board out" in reminder
    assert len(bench.stops()) == 1
