"""The soak of dealing: thousands of boards in virtual time, and not one called good whose true cards differ.

The production job, driver and link make boards on the simulated machine while faults strike at the rates of a profile.
At the moment when a board is committed as good, and once more at the end, its physical cards are compared with the
plan. ``wrong_good`` must be 0. ``wrong_undetectable`` counts wrong boards whose only causes are on the closed list:
faults that a machine with these sensors can't see (``dealing_judge.excuse_for``). ``dealing_controls`` leaves out one
check after the other and must find wrong boards: a soak that can't fail proves nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from dealer.duplication.checks import ALL_CHECKS, Checks
from dealer.duplication.claims import ClaimsFile
from dealer.duplication.job import DuplicationJob, JobOptions
from dealer.duplication.plan import Plan, plan
from dealer.duplication.progress import CardCounted, ProgressEvent
from dealer.duplication.verdict import BoardState
from dealer.generate import new_set
from dealer.store.journal import Journal
from drivers.framed_machine import FramedMachine
from drivers.host import HostIdentity
from firmware_bridge.db import Connection
from firmware_bridge.errors import DeviceError
from firmware_bridge.simulation.dealing_faults import PROFILES, Rates
from firmware_bridge.simulation.dealing_judge import Judge
from firmware_bridge.simulation.dealing_people import Mishaps
from firmware_bridge.simulation.dealing_room import FirmwareFlaw, RoomLine, SoakMachine
from firmware_bridge.simulation.gpio_room import SoakPinMachine
from firmware_bridge.simulation.lockstep import run_lockstep
from firmware_bridge.simulation.usb_room import UsbLine
from firmware_bridge.simulation.virtual_time import LoopClock, run_virtual
from hwsim.evidence import Evidence, FileEvidence
from hwsim.machine.faults import Fault
from hwsim.machine.profile import PROFILES as MACHINES
from hwsim.machine.profile import Profile

T = TypeVar("T")

MAX_RUNS = 400
"""Starts of the program in one soak; more means that it does not get on."""

LAST_STARTS = 2
"""How often the operator starts the program again at the end while boards are given up after five attempts."""

PATIENCE = 900.0
"""Simulated seconds without anything new after which the operator ends a program that does not get on."""

BAUD = 115200

CARRIERS = ("serial", "usb", "gpio", "gpio-polled")
"""Serial line, USB bulk endpoints, pins with edge detection, pins without."""

PINS = ("gpio", "gpio-polled")


@dataclass(frozen=True, slots=True)
class SoakOptions:
    """boards: physical boards (board, copy) to make. faults: none, realistic or harsh, or rates of one's own.

    machine: a profile of hwsim; on pins it is always the home-built one. carrier: of ``CARRIERS``, or all, which gives
    each an equal part of the boards. code: printed on the cards, strong or weak. without: capabilities taken from the
    machine. strikes: faults besides those of the dice. flaw, checks, excuses: for controls only.
    """

    boards: int = 300
    faults: str | Rates = "realistic"
    seed: int = 1
    machine: str = "fast"
    carrier: str = "serial"
    code: str = "strong"
    strikes: tuple[Fault, ...] = ()
    without: int = 0
    evidence: Path | None = None
    checks: Checks = ALL_CHECKS
    flaw: FirmwareFlaw | None = None
    excuses: bool = True

    @property
    def rates(self) -> Rates:
        return self.faults if isinstance(self.faults, Rates) else PROFILES[self.faults]

    @property
    def profile(self) -> Profile:
        name = "diy" if self.carrier in PINS else self.machine
        return replace(MACHINES[name], code=self.code).without(self.without)


@dataclass(slots=True)
class SoakResult:
    """boards = good + unconfirmed + failed. trace: a hash that is the same for the same seed and options."""

    boards: int = 0
    good: int = 0
    unconfirmed: int = 0
    failed: int = 0
    wrong_good: int = 0
    wrong_undetectable: int = 0
    stops: int = 0
    redeals: int = 0
    attempts: int = 0
    runs: int = 0
    hours: float = 0.0
    faults: dict[str, int] = field(default_factory=dict)
    gave_up: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    excuses: dict[str, int] = field(default_factory=dict)
    trace: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "boards": self.boards,
            "good": self.good,
            "unconfirmed": self.unconfirmed,
            "failed": self.failed,
            "wrong_good": self.wrong_good,
            "wrong_undetectable": self.wrong_undetectable,
            "stops_per_board": round(self.stops / max(1, self.boards), 4),
            "redeals": self.redeals,
            "attempts": self.attempts,
            "runs": self.runs,
            "simulated_hours": round(self.hours, 3),
            "faults": self.faults,
            "reasons": self.reasons,
            "gave_up": self.gave_up,
            "excuses": self.excuses,
            "trace": self.trace,
        }

    def add(self, other: SoakResult) -> None:
        """Take in what another soak has counted."""
        for f in fields(self):
            mine, theirs = getattr(self, f.name), getattr(other, f.name)
            if isinstance(mine, dict):
                theirs = dict(sorted((Counter(mine) + Counter(theirs)).items()))
            elif f.name == "trace":
                theirs = hashlib.sha256(f"{mine}{theirs}".encode()).hexdigest()[:16]
            else:
                theirs = mine + theirs
            setattr(self, f.name, theirs)

    @property
    def passed(self) -> bool:
        return self.wrong_good == 0 and self.boards == self.good + self.unconfirmed + self.failed


def soak(options: SoakOptions) -> SoakResult:
    """Run one soak to its end. Raises DeviceError when the program does not get on at all."""
    if options.carrier == "all":
        return _one_after_the_other(options)
    # What a crash does to the file is tested elsewhere; here the disk would only take time.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="soak-", dir=memory) as directory:
        run = run_lockstep if options.carrier == "usb" else run_virtual
        return run(_soak(options, Path(directory)))


def _one_after_the_other(options: SoakOptions) -> SoakResult:
    """The boards divided among the carriers; the counts are sums."""
    whole = SoakResult()
    for number, carrier in enumerate(CARRIERS):
        boards = len(range(number, options.boards, len(CARRIERS)))
        if boards:
            folder = options.evidence / carrier if options.evidence is not None else None
            whole.add(soak(replace(options, carrier=carrier, boards=boards, evidence=folder)))
    return whole


def _plan_of(options: SoakOptions) -> Plan:
    copies = 1 if options.boards <= 36 else max(2, -(-options.boards // 999))
    numbers = -(-options.boards // copies)
    deals = new_set(range(1, numbers + 1), seed=f"soak {options.seed}")
    # By copy, so that odd and even boards take turns, and red packs and blue ones.
    whole = plan(deals.boards, copies, order="by-copy", set_id=deals.id)
    return Plan(whole.set_id, whole.items[: options.boards], copies)


async def _soak(options: SoakOptions, directory: Path) -> SoakResult:
    clock = LoopClock(asyncio.get_running_loop())
    made = _plan_of(options)
    evidence = FileEvidence(options.evidence) if options.evidence is not None else Evidence()
    kept = evidence if options.evidence is not None else _Silent()
    machine, line = _machine_and_line(options, kept, max(item.board for item in made.items))
    judge = Judge(machine, made, excuses=options.excuses)
    claims = ClaimsFile(options.evidence, clock) if options.evidence is not None else None
    journal = _MortalJournal.open(directory / "dealing.db", clock=clock, threaded=False)
    assert isinstance(journal, _MortalJournal)
    result = SoakResult(boards=options.boards)
    try:
        done, again = False, 0
        while not done:
            result.runs += 1
            if result.runs > MAX_RUNS:
                raise DeviceError("the soak does not come to an end.", code="soak-stuck")
            done = await _one_life(options, result, made, line, journal, judge, claims, clock)
            if done and again < LAST_STARTS and await _has_failed(journal, made):
                # The program's last word to the operator is to start it again for the rest, and he does.
                done, again = False, again + 1
        states = {key: row.state for key, row in (await journal.rows(made.set_id)).items()}
        attempts = await journal.attempts(made.set_id)
    finally:
        line.stop()
        journal.close()
        machine.close()
    judge.at_the_end(states)
    counted = Counter(states.values())
    result.good = counted[BoardState.GOOD]
    result.unconfirmed = counted[BoardState.UNCONFIRMED]
    result.failed = counted[BoardState.FAILED]
    result.wrong_good = sum(excuse is None for excuse in judge.wrong.values())
    result.wrong_undetectable = len(judge.wrong) - result.wrong_good
    result.excuses = dict(sorted(Counter(excuse for excuse in judge.wrong.values() if excuse).items()))
    result.reasons = dict(sorted(judge.reasons.items()))
    result.attempts = len(attempts)
    result.redeals = len(attempts) - len({attempt.key for attempt in attempts})
    result.stops = judge.stops
    result.hours = clock.monotonic() / 3600
    result.faults = dict(sorted(machine.struck.items()))
    result.trace = judge.trace
    return result


def _machine_and_line(options: SoakOptions, evidence: Evidence, boards: int) -> tuple[Mishaps, RoomLine]:
    rates, seed, profile = options.rates, options.seed, options.profile
    if options.carrier in PINS:
        edges = options.carrier == "gpio"
        pins = SoakPinMachine(profile, rates, seed, evidence, boards=boards, edges=edges, certain=options.strikes)
        return pins, RoomLine(pins, None, rates.byte_error, seed)
    baud = BAUD if options.carrier == "serial" else None
    machine = SoakMachine(
        profile, rates, seed, evidence, baud=baud, boards=boards, certain=options.strikes, flaw=options.flaw
    )
    if baud is None:
        return machine, UsbLine(machine, rates.byte_error, seed)
    return machine, RoomLine(machine, baud, rates.byte_error, seed)


async def _has_failed(journal: Journal, made: Plan) -> bool:
    return any(row.state is BoardState.FAILED for row in (await journal.rows(made.set_id)).values())


async def _one_life(
    options: SoakOptions,
    result: SoakResult,
    made: Plan,
    line: RoomLine,
    journal: _MortalJournal,
    judge: Judge,
    claims: ClaimsFile | None,
    clock: LoopClock,
) -> bool:
    """One start of the program. False when it was ended in mid-board, or gave up, and has to be started again."""
    dice = random.Random(f"{options.seed}:host:{result.runs}")
    ids = random.Random(f"{options.seed}:ids:{result.runs}")
    host = HostIdentity(0xF1B7, boot_id=ids.getrandbits(32), boot_count=result.runs, firmware="soak")
    machine = FramedMachine(line.opener, host, clock, rng=ids)
    ending = asyncio.Event()
    heard = 0

    def hear(event: ProgressEvent) -> None:
        nonlocal heard
        heard += 1
        judge.hear(event)
        if isinstance(event, CardCounted) and dice.random() < options.rates.host_restart / 52:
            ending.set()

    job = DuplicationJob(
        machine,
        journal,
        made,
        clock=clock,
        on_progress=hear,
        claims=claims,
        checks=options.checks,
        options=JobOptions(new_job_id=lambda: ids.getrandbits(31) + 1, connect_s=30.0),
    )
    running = asyncio.ensure_future(job.run())
    stopped = asyncio.ensure_future(ending.wait())
    try:
        before = -1
        while not running.done() and not ending.is_set() and heard != before:
            before = heard
            await asyncio.wait({running, stopped}, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        if not running.done() and not ending.is_set():
            result.gave_up["stuck"] = result.gave_up.get("stuck", 0) + 1
        if not running.done():
            # As kill -9 does: neither the machine nor the journal hears anything more of this program.
            journal.dead = True
            line.host_dies()
            running.cancel()
            line.machine.struck["host-restart"] += 1  # type: ignore[attr-defined]
        try:
            await running
        except (asyncio.CancelledError, _Dead):
            return False
        except DeviceError as error:
            result.gave_up[error.code] = result.gave_up.get(error.code, 0) + 1
            line.machine.power_cut(2.0)  # what the error asks the operator to do
            return False
        return True
    finally:
        stopped.cancel()
        await machine.close()
        journal.dead = False
        await asyncio.sleep(6.0)  # the machine must notice that its host is gone before another one greets it


class _Dead(BaseException):
    """The program does not exist any more."""


class _MortalJournal(Journal):
    """The journal of a program that may be killed; the file outlives it."""

    dead = False

    async def _submit(self, job: Callable[[Connection], T]) -> T:
        if self.dead:
            raise _Dead
        return await super()._submit(job)


class _Silent(Evidence):
    def write(self, name: str, line: dict[str, Any]) -> None:
        return None
