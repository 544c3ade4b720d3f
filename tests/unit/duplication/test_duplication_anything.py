"""Any sequence of mishaps, in any order, on any kind of machine: the job comes to an end and no good board is wrong."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

from duplication_fakes import FULL, FakeMachine, Habits, Run
from duplication_loop import LoopClock, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dealer.duplication.checks import ALL_CHECKS, Checks
from dealer.duplication.job import DuplicationJob, JobOptions
from dealer.duplication.plan import plan
from dealer.duplication.verdict import BoardState
from dealer.generate import SeededBytes, generate
from dealer.store.journal import Journal
from drivers.api import Action, BoardInserted, BoardPulled, Capability, Fault, MachineFault, Segment
from firmware_bridge.errors import DeviceError

BOARDS = generate(range(1, 4), SeededBytes(33))
HANDS = {board.number: [list(hand) for hand in board.deal.hands] for board in BOARDS}

Mishap = Callable[[FakeMachine], Callable[[Run], None]]


def report(position: int, **fields: int | float) -> Mishap:
    """The machine reports one card otherwise; the card lies where it belongs, or is taken back by the operator."""
    return lambda machine: lambda run_: run_.change(position, **fields)


def exchanged(first: int, second: int, low: bool) -> Mishap:
    """Two cards lie in each other's place; the reader was in doubt, or the exit sensor saw it."""

    def script(run_: Run) -> None:
        one, two = run_.events[first], run_.events[second]
        if one.wanted == two.wanted:
            return
        run_.move(one.best, two.wanted)
        run_.move(two.best, one.wanted)
        for index, other in ((first, two), (second, one)):
            run_.change(index, **({"margin": 5} if low else {"wanted": other.wanted, "confirmed": other.wanted}))

    return lambda machine: script


def lost_event(position: int) -> Mishap:
    return lambda machine: lambda run_: run_.events.__delitem__(position)


def twice(position: int) -> Mishap:
    return lambda machine: lambda run_: run_.events.insert(position, run_.events[position])


def fault(position: int, kind: Fault, curable: bool) -> Mishap:
    def script(run_: Run) -> None:
        event = MachineFault(run_.order.job_id, kind, Segment.READER, 0, curable, Action.CLEAR_JAM)
        if curable:
            run_.events[position:position] = [event]
        else:
            run_.events[position:] = [event]

    return lambda machine: script


def silence(position: int) -> Mishap:
    return lambda machine: lambda run_: run_.events.__delitem__(slice(position, None))


def cut(after: float, seconds: float, restart: bool) -> Mishap:
    return lambda machine: lambda run_: machine.later(after, lambda: machine.unplug(seconds, restart=restart))


def swapped_board(position: int) -> Mishap:
    """The board is pulled and another one put in, and the machine goes on: half of the cards are elsewhere."""

    def script(run_: Run) -> None:
        run_.events[position:position] = [BoardPulled(), BoardInserted(run_.order.board, 0)]
        for pocket in run_.pockets:
            del pocket[7:]

    return lambda machine: script


def early_pull(after: float) -> Mishap:
    def arrange(machine: FakeMachine) -> Callable[[Run], None]:
        def script(run_: Run) -> None:
            def pull() -> None:
                for pocket in run_.pockets:
                    del pocket[6:]
                machine.pull()

            machine.later(after, pull)

        return script

    return arrange


def done_of_another(run_: Run) -> None:
    run_.change_done(job_id=run_.order.job_id ^ 1)


position = st.integers(0, 51)
mishaps = st.one_of(
    st.builds(report, position, best=st.sampled_from([255, 254, 60])),
    st.builds(report, position, margin=st.integers(0, 39)),
    st.builds(report, position, confirmed=st.just(255)),
    st.builds(report, position, beam_ms=st.just(90.0)),
    st.builds(exchanged, position, position, st.booleans()),
    st.builds(lost_event, position),
    st.builds(twice, position),
    st.builds(fault, position, st.sampled_from([Fault.JAM, Fault.COVER_OPEN, Fault.HOPPER_EMPTY]), st.booleans()),
    st.builds(silence, position),
    st.builds(cut, st.floats(0.0, 6.0), st.sampled_from([0.2, 3.0]), st.booleans()),
    st.builds(swapped_board, position),
    st.builds(early_pull, st.floats(0.1, 5.0)),
    st.just(lambda machine: done_of_another),
    st.just(lambda machine: lambda run_: None),
)
machines = st.sampled_from(
    [
        FULL,
        FULL | Capability.READ_BACK,
        FULL & ~Capability.LABEL,
        FULL & ~(Capability.LABEL | Capability.ORIENTATION | Capability.KEY),
        FULL & ~Capability.DISPLAY | Capability.DISPLAY,
    ]
)


def make(machine: FakeMachine, checks: Checks = ALL_CHECKS) -> dict[int, BoardState]:
    """Run the job, again whenever it gave up, until it says that it is done."""

    async def go(path: Path) -> dict[int, BoardState]:
        clock = LoopClock(asyncio.get_running_loop())
        made = plan(BOARDS, set_id="set")
        for _ in range(20):
            journal = Journal.open(path / "dealing.db", clock=clock, threaded=False)
            try:
                job = DuplicationJob(
                    machine, journal, made, clock=clock, options=JobOptions(reconnect_s=5.0), checks=checks
                )
                await asyncio.wait_for(job.run(), 50_000)
                return {key.board: row.state for key, row in (await journal.rows("set")).items()}
            except DeviceError:
                continue  # the operator starts the same command again
            finally:
                journal.close()
        raise AssertionError("the job does not come to an end")

    with tempfile.TemporaryDirectory() as directory:
        return run(go(Path(directory)))


def wrong(machine: FakeMachine, states: dict[int, BoardState]) -> list[int]:
    """Boards that are good and do not hold their cards."""
    return [
        number
        for number, state in states.items()
        if state is BoardState.GOOD and [sorted(cards) for cards in machine.truth[(number, 1)]] != HANDS[number]
    ]


@given(
    st.lists(mishaps, max_size=10),
    machines,
    st.lists(st.sampled_from([1, 2, 3, 0, 9]), max_size=4),
    st.lists(st.sampled_from([0, 1, 2, 255]), max_size=4),
    st.booleans(),
    st.integers(0, 2**16),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_happens_no_good_board_is_wrong(
    what: list[Mishap], capabilities: Capability, labels: list[int], turns: list[int], presses: bool, seed: int
) -> None:
    seen_labels, seen_turns = iter(labels), iter(turns)
    habits = Habits(
        presses_key=presses,
        label=lambda board: next(seen_labels, board),
        orientation=lambda board: next(seen_turns, 0),
    )
    machine = FakeMachine(capabilities, habits=habits, seed=seed)
    machine.scripts = [mishap(machine) for mishap in what]

    states = make(machine)
    assert set(states.values()) <= {BoardState.GOOD, BoardState.UNCONFIRMED, BoardState.FAILED}
    assert wrong(machine, states) == []


def test_the_harness_can_fail() -> None:
    """Without the check that it is there for, the same mishap makes a wrong board good."""
    for mishap, check in ((exchanged(3, 20, True), "margin"), (swapped_board(20), "present")):
        for checks, expected in ((ALL_CHECKS, False), (Checks.without(check), True)):
            machine = FakeMachine()
            machine.scripts = [mishap(machine)] * 3
            assert bool(wrong(machine, make(machine, checks))) is expected
