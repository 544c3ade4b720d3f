"""The books of one run: which state each board is in, the attempt that is in work, claims and figures of the machine.

Whatever is decided about a board is committed to the journal first, then written among the claims, then reported.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass

from dealer.duplication.checks import BoardWatch
from dealer.duplication.claims import ClaimsFile
from dealer.duplication.contact import Contact
from dealer.duplication.judged import Doubt, Judged
from dealer.duplication.plan import BoardCopy, BoardKey, Plan
from dealer.duplication.progress import BoardEnded
from dealer.duplication.verdict import SETTLED, BoardState, Reason, Verdict
from dealer.health import Trouble, line_lost, measure
from dealer.store.health import HealthStore
from dealer.store.journal import Journal
from drivers.api import DealingMachine, MachineEvent
from firmware_bridge.errors import DeviceError, FirmwareBridgeError, LinkLost

LEFT_OVER = (BoardState.UNKNOWN, BoardState.SUSPECT)
"""States in which an earlier run may have left a board with cards in it."""

MAX_RETURNS = 2
"""A machine that speaks against its own boards again and again must not keep the operator busy for ever."""


@dataclass(slots=True)
class Work:
    """The attempt that is in the journal as ``dealing``. ``started``: motors may have moved for it."""

    item: BoardCopy
    job_id: int
    before: BoardState
    started: bool = False


class Ledger:
    """``states``: of every physical board of the plan. ``work``: the attempt under way, or None. ``doubts``: why the
    verdict on a board was taken back, of boards not made since. ``withdrawals``: how many were.
    """

    def __init__(
        self,
        machine: DealingMachine,
        desk: Contact,
        journal: Journal,
        plan: Plan,
        *,
        claims: ClaimsFile | None = None,
        health: HealthStore | None = None,
    ) -> None:
        self.states: dict[BoardKey, BoardState] = {}
        self.work: Work | None = None
        self.doubts: dict[BoardKey, Verdict] = {}
        self.withdrawals = 0
        self.judged = Judged()
        self._machine = machine
        self._desk = desk
        self._journal = journal
        self._plan = plan
        self._claims = claims
        self._health = health
        self._left: dict[BoardKey, int] = {}
        self._noted_losses = 0
        self._again: list[BoardCopy] = []
        self._returned: Counter[BoardKey] = Counter()

    async def open(self, assumed: BoardState = BoardState.UNKNOWN) -> list[BoardKey]:
        """Enter the plan and take over what earlier runs have left.

        Returns the boards that may hold cards of an attempt that came to no good end, in the order of the plan; the
        one that was in work when the program ended is the first.
        """
        set_id, keys = self._plan.set_id, [item.key for item in self._plan.items]
        await self._journal.register(set_id, self._plan.digests, keys)
        killed = await self._journal.take_over(set_id, keys, assumed)
        rows = await self._journal.rows(set_id)
        self.states = {key: row.state for key, row in rows.items()}
        left = [key for key in keys if self.states[key] in LEFT_OVER]
        left.sort(key=lambda key: key not in killed)
        self._left = {key: rows[key].job_id for key in left}
        return left

    def left_over(self, key: BoardKey) -> int | None:
        """Job id of the last attempt at a board that an earlier run has left behind, once; else None."""
        return self._left.pop(key, None)

    async def begin(self, work: Work, *, kind: str = "deal") -> None:
        """Commit that an attempt begins, before the machine hears of it."""
        identity = self._desk.identity()
        self.judged.forget(work.item.key)
        await self._journal.begin(
            self._plan.set_id,
            work.item.key,
            job_id=work.job_id,
            machine_id=identity.device_id,
            boot_id=identity.boot_id,
            kind=kind,
        )
        self.work = work

    async def withdraw(self, work: Work) -> None:
        """No motor has moved for this attempt: the row goes back to what it was."""
        await self._journal.withdraw(self._plan.set_id, work.item.key, job_id=work.job_id, state=work.before)
        self.work = None

    async def conclude(self, work: Work, watch: BoardWatch) -> Verdict:
        """Stop the machine if need be, commit the verdict, get the line back if it was lost."""
        if watch.stopped:
            with contextlib.suppress(LinkLost, DeviceError):
                await self._machine.abort(work.job_id)
        verdict = watch.verdict()
        fault = int(watch.fault.fault) if watch.fault is not None else 0
        kept = await self._journal.finish(
            self._plan.set_id, work.item.key, job_id=work.job_id, verdict=verdict, cards=watch.cards, fault=fault
        )
        self.work = None
        if not kept:
            verdict = Verdict(BoardState.UNKNOWN, (*verdict.reasons, Reason.INTERRUPTED))
        elif verdict.state in SETTLED:
            self.judged.enter(work.item, work.job_id, watch.done, seated=watch.placement.seated)
            self.doubts.pop(work.item.key, None)
        self._settled(work.item, verdict, watch.cards)
        if Reason.LINK_LOST in verdict.reasons or Reason.RESTARTED in verdict.reasons:
            restarted = await self._desk.reconnect(work.item, watch)
            if restarted and Reason.RESTARTED not in verdict.reasons:
                verdict = Verdict(verdict.state, (*verdict.reasons, Reason.RESTARTED))
        return verdict

    async def hear(self, event: MachineEvent) -> Doubt | None:
        """Take in any event of the machine; when it speaks against a verdict that stands, that is taken back.

        Journal first, as for every verdict. Raises StoreError; the board then is not good in this run's books either.
        """
        doubt = self.judged.hear(event)
        if doubt is None:
            return None
        key, verdict = doubt.item.key, Verdict(BoardState.UNKNOWN, (doubt.reason,))
        self.states[key] = verdict.state
        self.withdrawals += 1
        if await self._journal.take_back(self._plan.set_id, key, job_id=doubt.job_id, verdict=verdict):
            self._left[key] = doubt.job_id
            self.doubts[key] = verdict
            self._again.append(doubt.item)
        self._settled(doubt.item, verdict, withdrawn=True)
        return doubt

    def to_make_again(self) -> list[BoardCopy]:
        """Boards whose verdict was taken back since this was asked; each comes back ``MAX_RETURNS`` times a run."""
        items, self._again = self._again, []
        self._returned.update(item.key for item in items)
        return [item for item in items if self._returned[item.key] <= MAX_RETURNS]

    async def give_up(self, item: BoardCopy, reasons: tuple[Reason, ...]) -> None:
        """The last attempt at a board has failed."""
        failed = Verdict(BoardState.FAILED, reasons)
        await self._journal.settle(self._plan.set_id, item.key, failed)
        self._settled(item, failed)

    async def interrupted(self) -> None:
        """The run ends in mid-attempt: what was started is unknown. Never raises a FirmwareBridgeError."""
        work, self.work = self.work, None
        if work is None:
            return
        with contextlib.suppress(FirmwareBridgeError):
            if work.started:
                verdict = Verdict(BoardState.UNKNOWN, (Reason.INTERRUPTED,))
                await self._journal.finish(self._plan.set_id, work.item.key, job_id=work.job_id, verdict=verdict)
                self.states[work.item.key] = verdict.state
            else:
                await self.withdraw(work)

    def close(self) -> None:
        """The last word on every board goes among the claims."""
        if self._claims is not None and self.states:
            self._claims.export(self._plan, self.states)

    async def note_health(self, watch: BoardWatch) -> None:
        """Keep what an attempt tells of the machine's rollers, optics and packs."""
        if self._health is not None and watch.cards:
            fault = int(watch.fault.fault) if watch.fault is not None else 0
            figures = measure(self._machine_id(), watch.item.board, watch.picture.seen, watch.reasons, fault)
            self._noted_losses += figures.trouble is Trouble.LINE
            await self._health.record(figures)

    async def note_losses(self) -> None:
        """Keep how often the line was lost while no board was being dealt. Never raises a FirmwareBridgeError."""
        if self._health is None or self._desk.losses <= self._noted_losses:
            return
        with contextlib.suppress(FirmwareBridgeError):
            for _ in range(self._desk.losses - self._noted_losses):
                await self._health.record(line_lost(self._machine_id()))
        self._noted_losses = self._desk.losses

    def _machine_id(self) -> str:
        return f"{self._desk.identity().device_id:016x}"

    def _settled(self, item: BoardCopy, verdict: Verdict, cards: int = 0, *, withdrawn: bool = False) -> None:
        self.states[item.key] = verdict.state
        if self._claims is not None:
            self._claims.append(self._plan.set_id, item, verdict.state)
        self._desk.report(BoardEnded(item.board, item.copy, verdict.state, verdict.reasons, cards, withdrawn))
