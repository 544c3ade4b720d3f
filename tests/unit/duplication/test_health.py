"""The machine's health: drifts are seen before they stop a board, and nothing is seen in a healthy machine."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from duplication_fakes import FakeMachine
from duplication_loop import LoopClock, run

from dealer.duplication.job import DuplicationJob
from dealer.duplication.picture import SeenCard
from dealer.duplication.plan import plan
from dealer.duplication.verdict import Reason
from dealer.generate import SeededBytes, generate
from dealer.health import BoardHealth, Trouble, assess, measure, plot
from dealer.store.health import HealthStore
from dealer.store.journal import Journal

MACHINE = "00000000000000aa"


def cards(number: int = 52, step: int = 100, margin: int = 120) -> list[SeenCard]:
    return [SeenCard(i, i % 52, 0, margin, 0, i % 4, 40.0, 1000 + i * step) for i in range(number)]


def boards(number: int, *, slower: float = 0.0, dimmer: float = 0.0, seed: int = 1) -> list[BoardHealth]:
    """Boards of a machine that gets slower and dimmer by these shares over all of them."""
    dice = random.Random(seed)
    return [
        BoardHealth(
            MACHINE,
            i + 1,
            52,
            100 * (1 + slower * i / number) * dice.gauss(1, 0.003),
            120 * (1 - dimmer * i / number) * dice.gauss(1, 0.01),
            80,
            40.0,
        )
        for i in range(number)
    ]


def codes(history: list[BoardHealth], troubles: Counter[int] | None = None) -> list[str]:
    return [warning.code for warning in assess(history, troubles).warnings]


def test_one_board_is_measured() -> None:
    found = measure(MACHINE, 7, cards())
    assert (found.cards, found.feed_ms, found.margin, found.margin_low, found.beam_ms) == (52, 100.0, 120.0, 120, 40.0)
    assert found.trouble is None


@pytest.mark.parametrize(
    ("reasons", "fault", "trouble"),
    [
        ((Reason.MACHINE_FAULT,), 1, Trouble.JAM),
        ((Reason.LOW_MARGIN,), 0, Trouble.READ),
        ((Reason.LINK_LOST,), 0, Trouble.LINE),
        ((Reason.PULLED, Reason.LOW_MARGIN), 0, Trouble.OPERATOR),
        ((Reason.DIGEST_DIFFERS,), 0, Trouble.OTHER),
        ((Reason.MACHINE_FAULT,), 14, Trouble.OTHER),
    ],
)
def test_what_an_attempt_stopped_over(reasons: tuple[Reason, ...], fault: int, trouble: Trouble) -> None:
    found = measure(MACHINE, 7, cards(10), reasons, fault)
    assert found.trouble is trouble
    assert (found.doubtful is not None) == (trouble is Trouble.READ)


def test_no_card_at_all_is_no_error() -> None:
    assert measure(MACHINE, 1, []).feed_ms == 0.0
    assert assess([]).attempts == 0
    assert assess([measure(MACHINE, 1, [])]).warnings == ()


def test_a_healthy_machine_gets_no_warning() -> None:
    assert codes(boards(200)) == []
    assert codes(boards(3, slower=0.5)) == [], "a few boards tell nothing"


def test_a_dirty_roller_is_told_before_it_jams() -> None:
    history = boards(200, slower=0.05)
    report = assess(history)
    assert report.feed_drift == pytest.approx(0.05, abs=0.01)
    assert codes(history) == ["rollers"]
    assert report.plot_feed[0] < report.plot_feed[-1]


def test_dirty_optics_are_told_before_a_read_fails() -> None:
    assert codes(boards(200, dimmer=0.3)) == ["optics"]


def test_bad_reads_bad_line_and_a_bad_pack() -> None:
    history = boards(60)
    for i in range(0, 60, 6):
        history[i] = BoardHealth(MACHINE, i + 1, 30, 100, 120, 5, 40, Trouble.READ)  # odd boards only
    for i in (1, 3, 5):
        history[i] = BoardHealth(MACHINE, i + 1, 30, 100, 120, 80, 40, Trouble.LINE)
    assert codes(history) == ["reader", "line", "pack-odd"]


def test_cards_that_stand_out_are_told_without_naming_them() -> None:
    warnings = assess(boards(5), Counter({3: 4, 40: 1})).warnings
    assert [warning.code for warning in warnings] == ["card"]
    assert warnings[0].text.startswith("1 card")


def test_cards_that_the_feeder_got_at_a_further_try_are_counted() -> None:
    seen = cards()
    late = [replace(card, at_ms=card.at_ms + (250 if card.index >= 20 else 0)) for card in seen]
    helped = [replace(card, at_ms=card.at_ms + (9000 if card.index >= 20 else 0)) for card in seen]
    assert [measure(MACHINE, 1, some).retries for some in (seen, late, helped)] == [0, 1, 0]


def test_a_feeder_that_slips_is_told_before_it_stops() -> None:
    history = [replace(item, retries=int(item.board % 3 == 0)) for item in boards(60)]
    report = assess(history)
    assert [warning.code for warning in report.warnings] == ["feeder"]
    assert report.retries_per_100_packs == pytest.approx(33.3, abs=0.1)
    assert codes([replace(item, retries=int(item.board % 15 == 0)) for item in boards(60)]) == []


def test_jams_that_come_often_are_told() -> None:
    history = boards(60)
    for i in (10, 20, 30):
        history[i] = replace(history[i], trouble=Trouble.JAM)
    assert codes(history) == ["jams"]


def test_the_table_has_a_row_for_everything_that_is_kept() -> None:
    history = boards(20)
    for i, trouble in enumerate(Trouble):
        history[i] = replace(history[i], trouble=trouble)
    names = [name for name, _ in assess(history).rows()]
    assert len(names) == len(set(names)) == 7 + len(Trouble)


def test_lines_lost_between_boards_are_counted_too(tmp_path: Path) -> None:
    async def go() -> None:
        clock = LoopClock(asyncio.get_running_loop())
        journal = Journal.open(tmp_path / "dealing.db", clock=clock, threaded=False)
        store = HealthStore(journal, clock)
        machine = FakeMachine()
        machine.habits.fetch_s = 8
        machine.later(3, lambda: machine.unplug(1))
        machine.scripts = [lambda run_: machine.later(2, lambda: machine.unplug(1))]
        made = plan(generate(range(1, 3), SeededBytes(1)), set_id="set")
        summary = await DuplicationJob(machine, journal, made, clock=clock, health=store).run()
        (machine_id,) = await store.machines()
        report = assess(await store.history(machine_id))
        assert report.troubles["line"] == summary.link_losses == 2
        assert report.attempts == summary.attempts == 3
        journal.close()

    run(go())


def test_the_plot() -> None:
    assert plot([]) == ""
    assert plot([5.0] * 9) == "▁" * 9
    assert plot([1, 2, 3, 4]) == "▁▃▆█"
    assert len(plot([float(i) for i in range(1000)])) == 40


def test_the_job_keeps_the_figures_and_cleaning_begins_anew(tmp_path: Path) -> None:
    async def go() -> None:
        clock = LoopClock(asyncio.get_running_loop())
        journal = Journal.open(tmp_path / "dealing.db", clock=clock, threaded=False)
        store = HealthStore(journal, clock)
        machine = FakeMachine(scripts=[lambda run_: run_.change(10, margin=1)])
        made = plan(generate(range(1, 4), SeededBytes(1)), set_id="set")
        await DuplicationJob(machine, journal, made, clock=clock, health=store).run()
        (machine_id,) = await store.machines()
        history = await store.history(machine_id)
        assert [item.cards for item in history] == [11, 52, 52, 52]
        assert [item.trouble for item in history] == [Trouble.READ, None, None, None]
        assert [item.board for item in history] == [1, 1, 0, 1]
        assert sum((await store.card_troubles(machine_id)).values()) == 1
        assert assess(history).feed_ms == pytest.approx(100, abs=1)
        await store.cleaned(machine_id)
        assert await store.history(machine_id) == []
        assert await store.card_troubles(machine_id) == Counter()
        journal.close()

    run(go())
