"""One club evening on whatever devices there are: boards made, results collected, ranking computed.

Every step is safe to repeat: the plan is decided once, the dealing journal knows which boards are good, the ledger
which records are in. So resuming after any interruption is the same as starting.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dealer.duplication.job import JobOptions
from dealer.duplication.options import PackRule
from dealer.duplication.progress import Summary
from dealer.generate import DealSet
from dealer.history import history_digests, repeat_is_a_fault
from dealer.store.history import record_deals
from dealer.store.schema import DEALING_DB, MIGRATIONS
from dealer.store.sets import load_set, save_set
from drivers.host import HostIdentity
from firmware_bridge.clock import SystemClock
from firmware_bridge.db import Database
from firmware_bridge.errors import DealError, StoreError
from firmware_bridge.service.collecting import collecting
from firmware_bridge.service.dealing import make_boards
from firmware_bridge.service.evening_plan import EveningPlan, EveningRequest, check_same, decide, load, save
from firmware_bridge.service.progress import EveningBegan, OnEveningEvent
from firmware_bridge.service.ranking import GroupRanking, rank_stored
from firmware_bridge.service.solved_deals import solved_deals
from terminals.movement.model import Movement
from terminals.settings import EventSettings
from terminals.sync.event_store import FILE_NAME as EVENTS_DB
from terminals.sync.event_store import EventStore
from terminals.sync.evidence import play_lines
from terminals.sync.setup import EventSetup, new_event

SECTION = 1


@dataclass(frozen=True, slots=True)
class Evening:
    """An evening that is decided: its numbers, deals and movement. resumed: it was begun by an earlier run."""

    plan: EveningPlan
    deals: DealSet = field(repr=False)
    movement: Movement = field(repr=False)
    resumed: bool


@dataclass(frozen=True, slots=True)
class PlayOutcome:
    """What the collection ended with. duplicated: plays with more than one current result, counted from the events."""

    results_expected: int
    results_stored: int
    duplicated: int
    rankings: tuple[GroupRanking, ...]


@dataclass(slots=True)
class Stopwatch:
    """Where the time went, seconds by stage, in the order in which the stages began."""

    seconds: dict[str, float] = field(default_factory=dict)

    def add(self, stage: str, seconds: float) -> None:
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds

    def total(self, stage: str) -> float:
        """Seconds of all stages whose names begin with ``stage``."""
        return sum(value for name, value in self.seconds.items() if name.startswith(stage))

    def rounded(self) -> dict[str, float]:
        return {stage: round(value, 3) for stage, value in self.seconds.items()}


def prepare(directory: Path, request: EveningRequest) -> Evening:
    """Decide the evening, or find the one that was begun in ``directory``.

    Raises ConfigError, EntryError, DealError or StoreError; nothing is begun then.
    """
    plan = load(directory)
    if plan is None:
        plan, deals = decide(request)
        keep_deals(directory, deals, on_record=not request.simulate)
        save(plan, directory)
        return Evening(plan, deals, plan.movement(), resumed=False)
    check_same(plan, request)
    kept = kept_deals(directory, plan.set_id)
    if kept is None:
        raise StoreError(
            "the deals of the evening that was begun here are gone.",
            where=str(directory / DEALING_DB),
            next_step="Restore the file, or choose another data directory with --data.",
            code="deals-gone",
        )
    return Evening(plan, kept, plan.movement(), resumed=True)


def keep_deals(directory: Path, deals: DealSet, *, on_record: bool) -> None:
    """Keep the set for resuming. on_record: it will really be played, so it enters the club's history of deals.

    Raises DealError when a deal of an own random set was dealt here before; nothing is kept then.
    """
    database = Database.open(directory / DEALING_DB, MIGRATIONS)
    try:
        if on_record and not deals.not_for_play:
            repeats = record_deals(
                database,
                history_digests(deals.boards),
                [board.number for board in deals.boards],
                set_id=deals.id,
                origin=deals.origin,
                dealt_on=SystemClock().wall().date().isoformat(),
            )
            if repeats and repeat_is_a_fault(deals.origin):
                raise DealError(
                    f"board {repeats[0].board} has a deal that was dealt here before; chance does not do that.",
                    where=str(database.path),
                    next_step="Check the computer's random generator and the data directory before you deal.",
                    code="dealt-before",
                )
        save_set(database, deals)
    finally:
        database.close()


def kept_deals(directory: Path, set_id: str) -> DealSet | None:
    database = Database.open(directory / DEALING_DB, MIGRATIONS)
    try:
        return load_set(database, set_id)
    finally:
        database.close()


def announce(evening: Evening, on_event: OnEveningEvent) -> None:
    plan, movement = evening.plan, evening.movement
    on_event(
        EveningBegan(
            movement=movement.name,
            boards=plan.boards,
            copies=plan.copies,
            rounds=movement.rounds,
            tables=movement.tables,
            expected=movement.expected_results(),
            seed=plan.seed,
            resumed=evening.resumed,
        )
    )


async def deal(
    evening: Evening,
    directory: Path,
    url: str,
    host: HostIdentity,
    watch: Stopwatch,
    *,
    on_event: OnEveningEvent,
    evidence: Path | None = None,
    patience_s: float = 60.0,
    packs: str = PackRule.RED_BLUE,
) -> Summary:
    """Make every board of the evening that is not made yet. patience_s: how long a vanished machine is waited for."""
    summary = await make_boards(
        url,
        directory,
        host,
        evening.deals.boards,
        set_id=evening.plan.set_id,
        copies=evening.plan.copies,
        on_progress=on_event,
        options=JobOptions(reconnect_s=patience_s, packs=PackRule(packs)),
        evidence=evidence,
    )
    watch.add("dealing: machine", summary.dealing_s)
    watch.add("dealing: operator and line", summary.waiting_s)
    watch.add("dealing: host", summary.host_s)
    return summary


async def play(
    evening: Evening,
    directory: Path,
    urls: Sequence[str],
    host: HostIdentity,
    watch: Stopwatch,
    *,
    on_event: OnEveningEvent,
    evidence: Path | None = None,
    patience_s: float = 0.0,
) -> PlayOutcome:
    """Collect until every scheduled board has a result; then rank. patience_s: for a station that is not there yet."""
    began = time.monotonic()
    store = EventStore.open(directory / EVENTS_DB)
    try:
        setup = await open_event(store, evening)
        deals = {board.number: board.deal for board in evening.deals.boards}
        async with collecting(store, setup, urls, host, on_event=on_event, patience_s=patience_s) as collection:
            # Entries are compared with the deal; what comes of it at the table is one neutral question.
            collection.service.collector.deals = lambda section, board: deals.get(board)
            collection.service.collector.double_dummy = solved_deals(directory)
            await collection.until_complete()
        watch.add("play", time.monotonic() - began)
        began = time.monotonic()
        rows = store.current(setup.id)
        outcome = PlayOutcome(
            results_expected=setup.expected_results(),
            results_stored=sum(row.content is not None for row in rows),
            duplicated=store.read(lambda c: sum(line["current"] > 1 for line in play_lines(c, setup.id))),
            rankings=store.read(lambda connection: rank_stored(connection, setup)),
        )
        if evidence is not None:
            store.write_evidence(setup.id, evidence)
        watch.add("ranking and evidence", time.monotonic() - began)
        return outcome
    finally:
        store.close()


async def open_event(store: EventStore, evening: Evening) -> EventSetup:
    """The event of this evening in the store; made when it is not there yet."""
    known = store.load_setup(evening.plan.event_id)
    if known is not None:
        return known
    # A terminal that names a free table of this evening may play: who starts `evening` has no desk to admit it from.
    settings = EventSettings(admit_all=True)
    setup = new_event(evening.plan.event_id, "Evening", {SECTION: evening.movement}, settings)
    await store.save_setup(setup)
    return setup


def summary_fields(evening: Evening, dealt: Summary, outcome: PlayOutcome) -> dict[str, Any]:
    """The keys of ``evening --json`` that do not depend on simulation."""
    movement = evening.movement
    return {
        "boards_good": dealt.boards_good,
        "copies_good": dealt.copies_good,
        "movement": movement.name,
        "movement_kind": movement.kind,
        "tables": movement.tables,
        "rounds": movement.rounds,
        "results_expected": outcome.results_expected,
        "results_stored": outcome.results_stored,
    }
