"""The program is killed between every two commits, and right after each: nothing is assumed, nothing is made twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from duplication_fakes import FakeMachine, Run
from duplication_loop import LoopClock, run

from dealer.duplication.checks import ALL_CHECKS, Checks
from dealer.duplication.job import DuplicationJob
from dealer.duplication.plan import BoardKey, plan
from dealer.duplication.verdict import BoardState, Reason, Verdict
from dealer.generate import SeededBytes, generate
from dealer.store.journal import Journal
from firmware_bridge.errors import StoreError

BOARDS = generate(range(1, 4), SeededBytes(2))
PLAN = plan(BOARDS, set_id="set")
HANDS = {board.number: [list(hand) for hand in board.deal.hands] for board in BOARDS}


class Killed(BaseException):
    """The process is gone: no clean-up of the program reaches disk or machine any more."""


class MortalJournal(Journal):
    """Dies at the ``at``-th commit (0 the first), ``after`` it has reached the disk or just before."""

    at = 10**9
    after = False
    machine: FakeMachine
    count = -1

    async def _submit(self, job: Callable[[Any], Any]) -> Any:
        self.count += 1
        if self.count > self.at:
            raise Killed
        if self.count == self.at and not self.after:
            self._die()
        value = await super()._submit(job)
        if self.count == self.at:
            self._die()
        return value

    def _die(self) -> None:
        self.count = self.at
        self.machine.unplug(1e9)  # nothing that a dying program still says may reach the machine
        raise Killed


def make(path: Path, machine: FakeMachine, at: int, after: bool, checks: Checks = ALL_CHECKS) -> bool:
    """One life of the program. False when it was killed."""

    async def go() -> bool:
        clock = LoopClock(asyncio.get_running_loop())
        journal = MortalJournal.open(path / "dealing.db", clock=clock, threaded=False)
        assert isinstance(journal, MortalJournal)
        journal.at, journal.after, journal.machine = at, after, machine
        try:
            await DuplicationJob(machine, journal, PLAN, clock=clock, checks=checks).run()
        except Killed:
            return False
        finally:
            journal._database.close()
        return True

    return run(go())


def states(path: Path) -> dict[int, BoardState]:
    async def go() -> dict[int, BoardState]:
        journal = Journal.open(path / "dealing.db", threaded=False)
        try:
            return {key.board: row.state for key, row in (await journal.rows("set")).items()}
        finally:
            journal.close()

    return run(go())


def wrong_good(path: Path, machine: FakeMachine) -> list[int]:
    """Boards that the journal calls good and that do not hold their cards."""
    return [
        number
        for number, state in states(path).items()
        if state is BoardState.GOOD
        and [sorted(cards) for cards in machine.truth.get((number, 1), [[]] * 4)] != HANDS[number]
    ]


def next_life(machine: FakeMachine) -> FakeMachine:
    """The same room on the next start: the boards hold what they hold, the line is plugged in again."""
    return FakeMachine(truth=machine.truth, hopper=machine.hopper, board_in=machine.board_in, wanted=machine.wanted)


COMMITS = 9
"""Register, take over, rows, and two for each of three boards."""


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(COMMITS))
def test_killed_at_any_commit(tmp_path: Path, at: int, after: bool) -> None:
    first = FakeMachine()
    assert not make(tmp_path, first, at, after)
    assert wrong_good(tmp_path, first) == []
    # A board that was in work holds a random part of its cards: nobody knows.
    in_work = [number for number, state in states(tmp_path).items() if state is BoardState.DEALING]
    assert len(in_work) <= 1
    second = next_life(first)
    assert make(tmp_path, second, 10**9, True)
    assert set(states(tmp_path).values()) == {BoardState.GOOD}
    assert wrong_good(tmp_path, second) == []


def test_the_number_of_commits_is_as_assumed(tmp_path: Path) -> None:
    assert make(tmp_path, FakeMachine(), COMMITS, False)


def test_killed_again_and_again(tmp_path: Path) -> None:
    """Dies at a commit further on in each life; the work goes on from where it was."""
    machine = FakeMachine()
    lives = 0
    while not make(tmp_path, machine, 3 + lives % 3, lives % 2 == 0):
        assert wrong_good(tmp_path, machine) == []
        machine = next_life(machine)
        lives += 1
        assert lives < 20
    assert set(states(tmp_path).values()) == {BoardState.GOOD}
    assert wrong_good(tmp_path, machine) == []
    assert lives >= 3


def test_without_the_resume_check_a_wrong_board_would_be_good(tmp_path: Path) -> None:
    """The board in work is taken for made: how two boards of a set become wrong."""

    def half(run_: Run) -> None:
        for pocket in run_.pockets:
            del pocket[5:]

    first = FakeMachine(scripts=[half])
    assert not make(tmp_path, first, 4, False)  # dies before the verdict of board 1 is committed
    assert states(tmp_path)[1] is BoardState.DEALING
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in tmp_path.glob("dealing.db*"):
        (copy / file.name).write_bytes(file.read_bytes())
    assert make(copy, next_life(first), 10**9, True, Checks.without("resume"))
    assert wrong_good(copy, first) == [1]
    second = next_life(first)
    assert make(tmp_path, second, 10**9, True)
    assert wrong_good(tmp_path, second) == []


# --- the journal itself ------------------------------------------------------------------------------------------


async def opened(path: Path) -> Journal:
    journal = Journal.open(path / "dealing.db", threaded=False)
    await journal.register("set", PLAN.digests, [item.key for item in PLAN.items])
    return journal


def test_a_board_in_work_cannot_be_begun_twice(tmp_path: Path) -> None:
    async def go() -> None:
        journal = await opened(tmp_path)
        key = BoardKey(1, 1)
        await journal.begin("set", key, job_id=1, machine_id=2**64 - 1, boot_id=3)
        with pytest.raises(StoreError, match="another run"):
            await journal.begin("set", key, job_id=2, machine_id=1, boot_id=3)
        with pytest.raises(StoreError):
            await journal.begin("set", BoardKey(9, 1), job_id=2, machine_id=1, boot_id=3)
        row = (await journal.rows("set"))[key]
        assert (row.machine_id, row.job_id, row.boot_id) == ("f" * 16, 1, 3)
        journal.close()

    run(go())


def test_a_verdict_for_a_board_that_was_taken_over_is_not_kept(tmp_path: Path) -> None:
    async def go() -> None:
        journal = await opened(tmp_path)
        key = BoardKey(1, 1)
        await journal.begin("set", key, job_id=1, machine_id=1, boot_id=1)
        assert await journal.take_over("set", [key]) == [key]
        assert not await journal.finish("set", key, job_id=1, verdict=Verdict(BoardState.GOOD))
        row = (await journal.rows("set"))[key]
        assert (row.state, row.reasons) == (BoardState.UNKNOWN, (Reason.INTERRUPTED,))
        assert await journal.take_over("set", [key]) == []
        journal.close()

    run(go())


def test_withdrawing_leaves_no_trace_of_an_attempt(tmp_path: Path) -> None:
    async def go() -> None:
        journal = await opened(tmp_path)
        key = BoardKey(2, 1)
        await journal.begin("set", key, job_id=8, machine_id=1, boot_id=1)
        await journal.withdraw("set", key, job_id=8, state=BoardState.PLANNED)
        row = (await journal.rows("set"))[key]
        assert (row.state, row.attempts) == (BoardState.PLANNED, 0)
        assert await journal.attempts("set") == []
        journal.close()

    run(go())


def test_a_set_may_grow_but_not_change(tmp_path: Path) -> None:
    async def go() -> None:
        journal = await opened(tmp_path)
        await journal.register("set", {4: b"12345678"}, [BoardKey(4, 1)])
        assert BoardKey(4, 1) in await journal.rows("set")
        with pytest.raises(StoreError, match="board 4"):
            await journal.register("set", {5: b"12345678", 4: b"87654321"}, [BoardKey(5, 1)])
        assert BoardKey(5, 1) not in await journal.rows("set"), "a refused registration leaves nothing behind"
        assert await journal.sets() == ["set"]
        journal.close()

    run(go())


def test_no_card_is_in_the_journal(tmp_path: Path) -> None:
    make(tmp_path, FakeMachine(), 10**9, True)
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("dealing.db*"))
    for board in BOARDS:
        assert board.digest in stored
        assert board.deal.routing not in stored
        assert board.deal.owners not in stored
        for hand in board.deal.to_pbn()[2:].split():
            assert hand.encode() not in stored


def test_a_disk_that_is_full_in_mid_board_stops_the_machine_and_the_next_run_goes_on(tmp_path: Path) -> None:
    class FullDisk(Journal):
        count = 0

        async def _submit(self, job: Callable[[Any], Any]) -> Any:
            self.count += 1
            if self.count >= 5:  # the verdict on board 1, and everything after it
                raise StoreError("the disk is full; nothing of this was stored.", code="store-full")
            return await super()._submit(job)

    async def go(machine: FakeMachine) -> None:
        clock = LoopClock(asyncio.get_running_loop())
        journal = FullDisk.open(tmp_path / "dealing.db", clock=clock, threaded=False)
        with pytest.raises(StoreError, match="disk is full"):
            await DuplicationJob(machine, journal, PLAN, clock=clock).run()
        journal.close()

    machine = FakeMachine()
    run(go(machine))
    assert machine.commands[-1] == "abort"
    assert states(tmp_path)[1] is BoardState.DEALING
    second = next_life(machine)
    assert make(tmp_path, second, 10**9, True)
    assert set(states(tmp_path).values()) == {BoardState.GOOD}
    assert wrong_good(tmp_path, second) == []
