"""Making the boards of a set on the machine behind a URL: machine, journal and job put together."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from dealer.board import Board
from dealer.duplication.claims import ClaimsFile
from dealer.duplication.instructions import place
from dealer.duplication.job import DuplicationJob, JobOptions
from dealer.duplication.plan import Order, plan
from dealer.duplication.progress import OnProgress, ProgressEvent, Summary
from dealer.machine_test import Confusion, MachineTester, evaluate
from dealer.store.health import HealthStore
from dealer.store.journal import Journal
from dealer.store.schema import DEALING_DB
from drivers.api import DealingMachine
from drivers.host import HostIdentity
from drivers.registry import open_machine
from firmware_bridge.clock import SystemClock
from firmware_bridge.errors import DeviceError, FirmwareBridgeError

MAX_NAMES = 24
"""Boards that an error names one by one."""


async def make_boards(
    machine: str | DealingMachine,
    directory: Path,
    host: HostIdentity,
    boards: Collection[Board],
    *,
    set_id: str | None = None,
    copies: int = 1,
    order: str = Order.BY_BOARD,
    subset: Collection[int] | None = None,
    allow_unshuffled: bool = False,
    on_progress: OnProgress | None = None,
    on_job: Callable[[DuplicationJob], None] | None = None,
    options: JobOptions | None = None,
    evidence: Path | None = None,
) -> Summary:
    """Make every physical board that is not made yet; the journal is ``dealing.db`` of the data directory.

    machine: its device URL, or the machine itself; it is closed at the end.
    on_job: called with the job before it runs, for whoever wants to pass on the operator's keys.
    Raises ConfigError or DealError for a plan that can't be, DeviceError and LinkError for the machine, StoreError for
    the journal; what was made until then is kept.
    """
    made = plan(boards, copies, order, subset, set_id=set_id, allow_unshuffled=allow_unshuffled)
    clock = SystemClock()
    dealer = open_machine(machine, host, clock) if isinstance(machine, str) else machine
    journal = Journal.open(directory / DEALING_DB, clock=clock)
    claims = None if evidence is None else ClaimsFile(evidence, clock)
    try:
        job = DuplicationJob(
            dealer,
            journal,
            made,
            clock=clock,
            on_progress=on_progress,
            options=options,
            claims=claims,
            health=HealthStore(journal, clock),
        )
        if on_job is not None:
            on_job(job)
        return await job.run()
    finally:
        try:
            await dealer.close()
        finally:
            journal.close()


async def try_machine(url: str, host: HostIdentity, packs: int, *, on_progress: OnProgress | None = None) -> Confusion:
    """Deal sorted packs on the machine behind ``url`` and say what was read wrongly; nothing is kept.

    Raises DeviceError when the machine is missing, refuses for good or is lost.
    """
    clock = SystemClock()
    machine = open_machine(url, host, clock)
    try:
        return evaluate(await MachineTester(machine, clock, on_progress=on_progress).run(packs))
    finally:
        await machine.close()


def _names(names: list[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return "; ".join(names[:MAX_NAMES]) + more


def shortfall(summary: Summary) -> FirmwareBridgeError | None:
    """The error of a run whose boards are not all good; None when they are."""
    if summary.complete:
        return None
    rest: dict[str, list[str]] = {}
    for key, state in summary.not_good:
        rest.setdefault(state.value, []).append(place(key, summary.copies).lower())
    words = ". ".join(f"{state.capitalize()}: {_names(names)}" for state, names in sorted(rest.items()))
    again = "Start the same command again to make the rest; use no board that is not good."
    if set(rest) == {"unconfirmed"}:
        again = "Compare the numbers on these boards with the list, or make them again with --redo-unconfirmed."
    return DeviceError(
        f"not every board is good. {words}.",
        next_step=again,
        code="boards-missing",
    )


__all__ = ["OnProgress", "ProgressEvent", "make_boards", "shortfall", "try_machine"]
