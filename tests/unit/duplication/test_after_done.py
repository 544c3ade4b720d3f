"""A machine that goes on after DONE: until the run ends nothing that it says of a judged board is overheard."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from duplication_fakes import FULL, FakeMachine, Run, honest
from duplication_loop import LoopClock, run

from dealer.duplication.claims import ClaimsFile
from dealer.duplication.job import DuplicationJob
from dealer.duplication.judged import Judged
from dealer.duplication.plan import BoardKey, plan
from dealer.duplication.progress import BoardEnded, ProgressEvent, Stopped, Summary, Told
from dealer.duplication.verdict import BoardState, Reason
from dealer.generate import SeededBytes, generate
from dealer.store.journal import AttemptRow, Journal
from drivers.api import (
    Action,
    BoardConfirmed,
    BoardInserted,
    BoardPulled,
    Capability,
    Fault,
    MachineEvent,
    MachineFault,
    Segment,
)
from firmware_bridge.service.dealing import shortfall

BOARDS = generate(range(1, 4), SeededBytes(8))
GOOD, SUSPECT, UNKNOWN = BoardState.GOOD, BoardState.SUSPECT, BoardState.UNKNOWN
READS = FULL | Capability.READ_BACK


class Room:
    """A data directory, a machine and what was said."""

    def __init__(self, path: Path, capabilities: Capability = FULL, boards: int = 3) -> None:
        self.path = path
        self.plan = plan(BOARDS[:boards], set_id="set")
        self.machine = FakeMachine(capabilities)
        self.heard: list[ProgressEvent] = []
        self.attempts: list[AttemptRow] = []
        self.states: dict[int, BoardState] = {}

    def make(self, cancel: Callable[[Room], bool] | None = None) -> Summary | None:
        """Run the job; None when it was cancelled, as soon as ``cancel`` says so."""

        async def go() -> Summary | None:
            clock = LoopClock(asyncio.get_running_loop())
            journal = Journal.open(self.path / "dealing.db", clock=clock, threaded=False)
            claims = ClaimsFile(self.path / "evidence", clock)
            job = DuplicationJob(
                self.machine, journal, self.plan, clock=clock, on_progress=self.heard.append, claims=claims
            )
            running = asyncio.ensure_future(job.run())
            try:
                while cancel is not None and not cancel(self):
                    await asyncio.sleep(0.01)
                if cancel is not None:
                    running.cancel()
                    with pytest.raises(asyncio.CancelledError):
                        await running
                    return None
                return await running
            finally:
                self.attempts = await journal.attempts("set")
                self.states = {key.board: row.state for key, row in (await journal.rows("set")).items()}
                journal.close()

        return run(go())

    def wrong(self) -> list[int]:
        """Boards that the journal calls good and that do not hold their cards."""
        hands = {board.number: [list(hand) for hand in board.deal.hands] for board in BOARDS}
        return [
            number
            for number, state in self.states.items()
            if state is GOOD and [sorted(cards) for cards in self.machine.truth[(number, 1)]] != hands[number]
        ]

    def claimed(self) -> dict[int, str]:
        """The last claim on each board."""
        lines = (self.path / "evidence" / "claims.jsonl").read_text().splitlines()
        return {row["board"]: row["state"] for row in map(json.loads, lines)}

    def ended(self) -> list[tuple[int, BoardState]]:
        return [(event.board, event.state) for event in self.heard if isinstance(event, BoardEnded)]


def further_card(room: Room, delay: float) -> Callable[[Run], None]:
    """So long after DONE a card that was in the hopper as well falls into North's pocket, and the machine says so."""

    def script(run_: Run) -> None:
        first = next(event for event in run_.events if getattr(event, "wanted", None) == 0)
        late = replace(first, index=52)

        def falls() -> None:
            run_.pockets[0].append(first.best)
            room.machine.emit(late)

        room.machine.later(52 * room.machine.card_s + delay, falls)

    return script


def says(room: Room, delay: float, event: MachineEvent) -> Callable[[Run], None]:
    """So long after DONE the machine says something more."""
    return lambda run_: room.machine.later(52 * room.machine.card_s + delay, lambda: room.machine.emit(event)) and None


@pytest.mark.parametrize("capabilities", [FULL, READS, FULL & ~(Capability.LABEL | Capability.ORIENTATION)])
@pytest.mark.parametrize("number", [1, 3])
def test_a_card_after_done_takes_the_verdict_back_and_the_board_is_made_again(
    tmp_path: Path, capabilities: Capability, number: int
) -> None:
    """While the board waits to be taken out, and after the last board of all."""
    room = Room(tmp_path, capabilities)
    room.machine.scripts = [honest] * (number - 1) + [further_card(room, 0.5)]
    summary = room.make()
    assert summary is not None
    assert summary.complete
    assert room.wrong() == []
    assert room.ended()[number - 1 : number + 1] == [(number, GOOD), (number, UNKNOWN)]
    assert room.ended()[-1] == (number, GOOD)
    assert summary.stops > 0
    first = next(row for row in room.attempts if row.key == BoardKey(number, 1))
    assert (first.state, first.reasons) == (UNKNOWN, (Reason.OUT_OF_SEQUENCE,))
    stops = [event.instruction for event in room.heard if isinstance(event, Stopped)]
    assert stops[0].text.startswith(f"Board {number} is not good after all: the machine went on after DONE.")
    assert stops[0].step == "Take it out and put it aside."
    asked = [stop.step for stop in stops[1:]]
    if capabilities == READS:
        assert asked == ["Put the board back: I'll read it.", "Put all 52 cards back into the hopper."]
    else:
        assert asked == ["Take all its cards out and put a counted pack of 52 into the hopper."]
    assert set(room.claimed().values()) == {"good"}


@pytest.mark.parametrize("number", [1, 3])
def test_without_this_check_the_board_would_stay_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(Judged, "hear", lambda self, event: None)
    room = Room(tmp_path)
    room.machine.scripts = [honest] * (number - 1) + [further_card(room, 0.5)]
    summary = room.make()
    assert summary is not None
    assert summary.complete
    assert room.wrong() == [number]


def test_a_card_that_comes_with_done_is_part_of_the_verdict(tmp_path: Path) -> None:
    room = Room(tmp_path)

    def at_once(run_: Run) -> None:
        done, late = run_.events.pop(), replace(run_.events[0], index=52)

        def both() -> None:
            room.machine.emit(done)
            run_.pockets[0].append(late.best)
            room.machine.emit(late)

        room.machine.later(52 * room.machine.card_s, both)

    room.machine.scripts = [at_once]
    summary = room.make()
    assert summary is not None
    assert summary.complete
    assert room.wrong() == []
    assert room.ended()[:2] == [(1, SUSPECT), (1, GOOD)]


FAULT = MachineFault(0, Fault.EXTRA_CARD, Segment.HOPPER, 0, False, Action.COLLECT_CARDS)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda run_: replace(FAULT, job_id=run_.order.job_id), Reason.OUT_OF_SEQUENCE),
        (lambda run_: replace(FAULT, job_id=run_.order.job_id, recoverable=True), Reason.OUT_OF_SEQUENCE),
        (lambda run_: replace(run_.events[-1], cards=53), Reason.OUT_OF_SEQUENCE),
        (lambda run_: replace(run_.events[0], job_id=run_.order.job_id ^ 1), Reason.OUT_OF_SEQUENCE),
        (lambda run_: BoardInserted(9, 0), Reason.WRONG_BOARD),
        (lambda run_: BoardInserted(run_.order.board, 2), Reason.TURNED),
    ],
    ids=["fault", "curable fault", "another DONE", "card of another job", "another label", "turned"],
)
@pytest.mark.parametrize("number", [1, 2])
def test_whatever_else_speaks_against_a_judged_board(
    tmp_path: Path, make: Callable[[Run], MachineEvent], reason: Reason, number: int
) -> None:
    room = Room(tmp_path, boards=2)

    def speaks(run_: Run) -> None:
        said = make(Run(run_.order, run_.events[-2:], run_.pockets))  # the list itself is eaten up while it is played
        says(room, 0.5, said)(run_)

    room.machine.scripts = [honest] * (number - 1) + [speaks]
    summary = room.make()
    assert summary is not None
    (withdrawn,) = [event for event in room.heard if isinstance(event, BoardEnded) and event.withdrawn]
    assert (withdrawn.board, withdrawn.state, withdrawn.reasons) == (number, UNKNOWN, (reason,))


@pytest.mark.parametrize(
    "make",
    [
        lambda run_: replace(FAULT, job_id=0),
        lambda run_: replace(FAULT, job_id=run_.order.job_id, fault=Fault.NONE),
        lambda run_: run_.events[-1],
        lambda run_: BoardConfirmed(1, 1),
    ],
    ids=["fault of no job", "no fault", "DONE again", "the key"],
)
def test_what_says_nothing_of_the_cards_changes_nothing(tmp_path: Path, make: Callable[[Run], MachineEvent]) -> None:
    room = Room(tmp_path, boards=2)

    def speaks(run_: Run) -> None:
        says(room, 0.5, make(Run(run_.order, run_.events[-2:], run_.pockets)))(run_)

    room.machine.scripts = [speaks]
    summary = room.make()
    assert summary is not None
    assert (summary.complete, summary.attempts) == (True, 2)
    assert room.ended() == [(1, GOOD), (2, GOOD)]


@pytest.mark.parametrize("delay", [2.5, 5.0])
def test_a_card_of_a_board_that_is_out_already_is_heard_before_and_while_the_next_is_dealt(
    tmp_path: Path, delay: float
) -> None:
    """The board at hand is neither pulled nor stopped for it; the other one comes back at the end."""
    room = Room(tmp_path, boards=2)
    room.machine.scripts = [further_card(room, delay)]
    summary = room.make()
    assert summary is not None
    assert summary.complete
    assert room.wrong() == []
    assert sorted(room.ended()[:3]) == sorted([(1, GOOD), (1, UNKNOWN), (2, GOOD)])
    assert room.ended()[3:] == [(1, GOOD)]
    texts = [event.instruction.step for event in room.heard if isinstance(event, Told)]
    assert "Put that board aside." in texts
    assert summary.attempts == 3


@pytest.mark.parametrize("heard", [True, False], ids=["told already", "on its way"])
def test_a_run_that_is_stopped_hears_what_has_come_and_the_next_one_goes_on_from_there(
    tmp_path: Path, heard: bool
) -> None:
    room = Room(tmp_path)
    cards: list[MachineEvent] = []
    room.machine.scripts = [further_card(room, 0.5) if heard else lambda run_: cards.append(run_.events[0])]

    def stop(room: Room) -> bool:
        if heard:
            return (1, UNKNOWN) in room.ended()
        if (1, GOOD) not in room.ended():
            return False
        room.machine.truth[(1, 1)][0].append(0)
        room.machine.emit(cards[0])
        return True

    room.make(cancel=stop)
    assert room.states[1] is UNKNOWN
    assert room.claimed()[1] == "unknown"
    later = Room(tmp_path)
    later.machine.truth = room.machine.truth
    summary = later.make()
    assert summary is not None
    assert summary.complete
    assert later.wrong() == []
    assert later.ended()[0] == (1, GOOD)


def test_a_machine_that_always_goes_on_ends_the_run_with_boards_that_are_not_good(tmp_path: Path) -> None:
    room = Room(tmp_path, boards=2)
    room.machine.scripts = [further_card(room, 0.5) for _ in range(20)]
    summary = room.make()
    assert summary is not None
    assert room.wrong() == []
    assert summary.states == {"unknown": 2}
    assert summary.attempts == 6
    error = shortfall(summary)
    assert error is not None
    assert error.exit_status == 1
    assert "Unknown: board 1; board 2." in error.what
    assert room.claimed() == {1: "unknown", 2: "unknown"}


def test_the_pure_rule_doubts_each_verdict_once_and_forgets_what_is_made_anew() -> None:
    item = plan(BOARDS[:1], set_id="set").items[0]
    fault = replace(FAULT, job_id=7)
    judged = Judged()
    judged.enter(item, 7, None, seated=True)
    assert judged.board_in
    assert judged.hear(BoardPulled()) is None
    assert not judged.board_in
    doubt = judged.hear(fault)
    assert doubt is not None
    assert (doubt.item, doubt.job_id, doubt.board_in) == (item, 7, False)
    assert judged.hear(fault) is None
    judged.enter(item, 7, None, seated=True)
    judged.forget(item.key)
    assert judged.hear(fault) is None
    assert not judged.board_in
