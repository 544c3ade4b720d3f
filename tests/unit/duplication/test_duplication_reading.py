"""Boards that are read back: the doubtful ones at once, the one that was in work when the program ended."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from duplication_fakes import FULL, FakeMachine, Run
from duplication_loop import LoopClock, run

from dealer.cards import card_name
from dealer.duplication.job import DuplicationJob, JobOptions
from dealer.duplication.plan import BoardKey, plan
from dealer.duplication.progress import ProgressEvent, Stopped, Summary
from dealer.duplication.verdict import BoardState, Reason
from dealer.generate import SeededBytes, generate
from dealer.store.journal import AttemptRow, Journal
from drivers.api import Action, Capability, JobReport

BOARDS = generate(range(1, 3), SeededBytes(4))
READS = FULL | Capability.READ_BACK


def make(
    path: Path, machine: FakeMachine, heard: list[ProgressEvent] | None = None, **options: object
) -> tuple[Summary, list[AttemptRow]]:
    async def go() -> tuple[Summary, list[AttemptRow]]:
        clock = LoopClock(asyncio.get_running_loop())
        journal = Journal.open(path / "dealing.db", clock=clock, threaded=False)
        try:
            made = plan(BOARDS, set_id="set")
            job = DuplicationJob(
                machine,
                journal,
                made,
                clock=clock,
                options=JobOptions(**options),  # type: ignore[arg-type]
                on_progress=None if heard is None else heard.append,
            )
            return await job.run(), await journal.attempts("set")
        finally:
            journal.close()

    return run(go())


def interrupt(path: Path, *, job_id: int = 5) -> None:
    """The journal of a program that was killed while board 1 was in work."""

    async def go() -> None:
        journal = Journal.open(path / "dealing.db", threaded=False)
        made = plan(BOARDS, set_id="set")
        await journal.register("set", made.digests, [item.key for item in made.items])
        await journal.begin("set", BoardKey(1, 1), job_id=job_id, machine_id=77, boot_id=1)
        journal.close()

    run(go())


def holds(number: int) -> list[list[int]]:
    return [list(hand) for hand in BOARDS[number - 1].deal.hands]


def right(machine: FakeMachine) -> bool:
    return all([sorted(cards) for cards in machine.truth[(n, 1)]] == holds(n) for n in (1, 2))


def wrong_digest(run_: Run) -> None:
    run_.change_done(digest=b"\x07" * 8)


def test_a_whole_board_with_a_doubt_is_read_at_once_and_good(tmp_path: Path) -> None:
    machine = FakeMachine(READS, scripts=[wrong_digest])
    summary, attempts = make(tmp_path, machine)
    assert summary.complete
    assert summary.stops == 0
    assert [(row.kind, row.state.value) for row in attempts[:2]] == [("deal", "suspect"), ("read", "good")]
    assert right(machine)


def test_a_reading_that_came_to_no_end_says_nothing_of_the_cards(tmp_path: Path) -> None:
    def falls_silent(run_: Run) -> None:
        del run_.events[40:]

    heard: list[ProgressEvent] = []
    summary, attempts = make(tmp_path, FakeMachine(READS, scripts=[wrong_digest, falls_silent]), heard)
    assert summary.complete
    assert attempts[1].kind == "read"
    assert Reason.READ_BACK_DIFFERS not in attempts[1].reasons
    (stop,) = [event.instruction for event in heard if isinstance(event, Stopped)]
    assert stop.what == "Board 1: the machine says nothing any more."


def test_a_board_that_reads_otherwise_is_dealt_again(tmp_path: Path) -> None:
    def exchanged(run_: Run) -> None:
        """Two cards truly lie in each other's place; the machine's digest gives it away."""
        wrong_digest(run_)
        first, second = run_.pockets[0][0], run_.pockets[1][0]
        run_.move(first, 1)
        run_.move(second, 0)

    machine = FakeMachine(READS, scripts=[exchanged])
    summary, attempts = make(tmp_path, machine)
    assert summary.complete
    assert [(row.kind, row.state.value) for row in attempts[:3]] == [
        ("deal", "suspect"),
        ("read", "suspect"),
        ("deal", "good"),
    ]
    assert Reason.WRONG_POCKET in attempts[1].reasons
    assert right(machine)


@pytest.mark.parametrize("honest", [True, False])
def test_a_card_is_believed_to_lie_where_it_was_found_not_where_it_was_wanted(tmp_path: Path, honest: bool) -> None:
    """A machine that repeats its routing as ``wanted`` while it reads back, or says nothing there."""
    owners = {card: seat for seat, hand in enumerate(holds(1)) for card in hand}

    def repeats_the_routing(run_: Run) -> None:
        for at in run_.cards():
            best = run_.events[at].best  # type: ignore[union-attr]
            found = next(seat for seat, hand in enumerate(run_.pockets) if best in hand)
            run_.change(at, wanted=255 if honest else owners[best], confirmed=found)
        run_.change_done(digest=BOARDS[0].deal.digest(1))

    interrupt(tmp_path)
    lies = holds(1)
    if not honest:
        lies[0][0], lies[1][0] = lies[1][0], lies[0][0]
    machine = FakeMachine(READS, scripts=[repeats_the_routing], truth={(1, 1): lies})
    summary, attempts = make(tmp_path, machine)
    assert summary.complete
    assert attempts[1].kind == "read"
    assert (attempts[1].state is BoardState.GOOD) == honest
    assert right(machine)


@pytest.mark.parametrize(
    ("turn", "words"),
    [((1, 2, 3, 0), "turned by 90 degrees"), ((2, 3, 0, 1), "turned by 180 degrees"), ((1, 0, 2, 3), "each other's")],
)
def test_turned_and_swapped_hands_are_recognised_as_such(tmp_path: Path, turn: tuple[int, ...], words: str) -> None:
    interrupt(tmp_path)
    heard: list[ProgressEvent] = []
    machine = FakeMachine(READS, truth={(1, 1): [holds(1)[seat] for seat in turn]})
    summary, _ = make(tmp_path, machine, heard)
    assert summary.complete
    assert any(words in event.instruction.text for event in heard if isinstance(event, Stopped))
    assert right(machine)


def test_without_reading_it_is_dealt_again(tmp_path: Path) -> None:
    machine = FakeMachine(READS, scripts=[wrong_digest])
    summary, attempts = make(tmp_path, machine, read_back=False)
    assert summary.redeals == 1
    assert {row.kind for row in attempts} == {"deal"}


@pytest.mark.parametrize("in_the_machine", [False, True])
def test_the_interrupted_board_is_put_back_and_read_first(tmp_path: Path, in_the_machine: bool) -> None:
    interrupt(tmp_path)
    heard: list[ProgressEvent] = []
    machine = FakeMachine(READS, truth={(1, 1): holds(1)}, board_in=in_the_machine, wanted=(1, 1))
    summary, attempts = make(tmp_path, machine, heard)
    assert summary.complete
    stop = next(event.instruction for event in heard if isinstance(event, Stopped))
    assert stop.action == Action.RETURN_BOARD
    assert "Put the board back: I'll read it." in stop.text
    assert [(row.kind, row.state.value) for row in attempts] == [
        ("deal", "unknown"),
        ("read", "good"),
        ("deal", "good"),
    ]
    assert right(machine)


def test_an_interrupted_board_that_is_half_full_is_dealt_again(tmp_path: Path) -> None:
    interrupt(tmp_path)
    machine = FakeMachine(READS, truth={(1, 1): [cards[:6] for cards in holds(1)]})
    summary, attempts = make(tmp_path, machine)
    assert summary.complete
    assert attempts[1].kind == "read"
    assert attempts[1].state is BoardState.SUSPECT
    assert right(machine)


def test_a_machine_that_remembers_an_unfinished_board_need_not_read_it(tmp_path: Path) -> None:
    interrupt(tmp_path)

    class Remembers(FakeMachine):
        async def report(self, job_id: int) -> JobReport:
            assert job_id == 5
            return JobReport(job_id, True, self.state, ((0, 1), (3, 2)))

    machine = Remembers(READS, truth={(1, 1): [[], [0], [3], []]})
    summary, attempts = make(tmp_path, machine)
    assert summary.complete
    assert {row.kind for row in attempts} == {"deal"}
    assert right(machine)


def test_another_board_in_place_of_the_interrupted_one_is_refused(tmp_path: Path) -> None:
    interrupt(tmp_path)
    heard: list[ProgressEvent] = []
    machine = FakeMachine(READS, truth={(1, 1): holds(1)}, board_in=True, wanted=(2, 1))
    summary, _ = make(tmp_path, machine, heard)
    assert summary.complete
    wrong = [event.instruction for event in heard if isinstance(event, Stopped)][1]
    assert wrong.what == "Board 1 is wanted, this is board 2."
    # Not "empty": whoever obeys takes no card out of either board.
    assert (wrong.action, wrong.step) == (Action.RETURN_BOARD, "Take it out and put board 1 back: I'll read it.")
    assert right(machine)


def test_the_line_lost_while_reading_makes_it_unknown_and_it_is_dealt_again(tmp_path: Path) -> None:
    interrupt(tmp_path)
    machine = FakeMachine(READS, truth={(1, 1): holds(1)})
    machine.scripts = [lambda run_: machine.later(1.0, lambda: machine.unplug(2.0))]
    summary, attempts = make(tmp_path, machine)
    assert summary.complete
    assert attempts[1].state is BoardState.UNKNOWN
    assert right(machine)


def test_cards_are_named_only_when_asked_for(tmp_path: Path) -> None:
    for show, expected in ((False, False), (True, True)):
        heard: list[ProgressEvent] = []
        machine = FakeMachine(FULL, scripts=[lambda run_: run_.change(10, margin=0)])
        make(tmp_path / str(show), machine, heard, show_cards=show)
        details = [event.instruction.detail for event in heard if isinstance(event, Stopped)]
        assert any(details) is expected
        assert any(card_name(card) in " ".join(details) for card in range(52)) is expected
        for _, _, _, _, text in machine.shown:
            assert "last card" not in text
