"""The dealing job: makes the boards of a plan on a machine, one after the other, and calls good only what is good.

Rhythm: the journal row is committed, the machine is armed while the operator fetches the board, inserting it starts
the machine, every card is compared with the plan as it passes, DONE brings the verdict, the verdict is committed, the
display asks for the next board. The first doubt stops the machine; the cards are collected and the same board is
dealt again. A lost line or a restarted machine makes the board in work ``unknown``.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from dealer.duplication import instructions as tell
from dealer.duplication.checks import ALL_CHECKS, BoardWatch, Checks, Placement
from dealer.duplication.claims import ClaimsFile
from dealer.duplication.instructions import Instruction, short
from dealer.duplication.mailbox import Mailbox
from dealer.duplication.plan import BoardCopy, BoardKey, Plan
from dealer.duplication.progress import (
    BoardBegan,
    BoardEnded,
    CardCounted,
    JobBegan,
    JobEnded,
    LineDown,
    LineUp,
    OnProgress,
    ProgressEvent,
    Stopped,
    Summary,
    Told,
    count_states,
)
from dealer.duplication.slot import LineBroken, Slot, Starter
from dealer.duplication.verdict import SETTLED, BoardState, Reason, Verdict
from dealer.store.journal import Journal
from drivers.api import Armed, Capability, Connected, DealingMachine, Disconnected, MachineIdentity
from firmware_bridge.clock import Clock, SystemClock
from firmware_bridge.errors import DeviceError, FirmwareBridgeError, LinkLost

__all__ = ["DuplicationJob", "JobOptions"]


def _random_job_id() -> int:
    return secrets.randbelow(0xFFFFFFFF) + 1


@dataclass(frozen=True, slots=True)
class JobOptions:
    """How a job behaves. Times in seconds.

    max_attempts: per physical board and run. reconnect_s: how long a vanished machine is waited for. confirm_s: after
    that time without the key the operator is asked to look at the number again; None waits for ever. confirm_rounds:
    how often, before the board is dealt all the same and ends ``unconfirmed``. late_confirm_s: how long
    the number may still be confirmed after the last card. silence_s: without a word for so long a dealing machine is
    given up. grace_s: after a stop, when no sensor tells that the cards have been collected. packs_after: attempts
    that failed over the pack before another pack is asked for. redo: make again what is made already.
    """

    max_attempts: int = 5
    connect_s: float = 10.0
    reconnect_s: float = 60.0
    confirm_s: float | None = 60.0
    confirm_rounds: int = 3
    late_confirm_s: float = 15.0
    silence_s: float = 10.0
    grace_s: float = 20.0
    stop_s: float = 2.0
    packs_after: int = 2
    redo: bool = False
    new_job_id: Callable[[], int] = _random_job_id


@dataclass(slots=True)
class _Work:
    """The attempt that is in the journal as ``dealing``."""

    item: BoardCopy
    job_id: int
    before: BoardState
    started: bool = False


class DuplicationJob:
    """Makes the boards of ``plan``. One job per machine at a time; ``run`` may be cancelled at any moment.

    on_progress: called with every progress event; must return at once. claims: evidence file, or None.
    """

    def __init__(
        self,
        machine: DealingMachine,
        journal: Journal,
        plan: Plan,
        *,
        clock: Clock | None = None,
        on_progress: OnProgress | None = None,
        options: JobOptions | None = None,
        claims: ClaimsFile | None = None,
        checks: Checks = ALL_CHECKS,
    ) -> None:
        self._machine = machine
        self._journal = journal
        self._plan = plan
        self._clock = clock or SystemClock()
        self._on_progress = on_progress
        self._options = options or JobOptions()
        self._claims = claims
        self._checks = checks
        self._mail = Mailbox(machine, self._clock)
        self._slot = Slot()
        self._states: dict[BoardKey, BoardState] = {}
        self._work: _Work | None = None
        self._shown: Instruction | None = None
        self._attempts = self._stops = self._redeals = self._losses = 0
        self._dealing_s = 0.0
        self._began_at = 0.0

    def confirm(self) -> None:
        """The operator confirms, at the host's own keyboard, the number of the board that is in the machine."""
        if self._work is not None:
            self._mail.confirm(self._work.item.board, self._work.item.copy)

    async def run(self) -> Summary:
        """Make every board of the plan that is not made yet.

        Raises DeviceError when the machine is missing, refuses for good or stays away, StoreError when the journal
        can't be kept; both leave a journal from which the next run goes on.
        """
        self._began_at = self._clock.monotonic()
        keys = [item.key for item in self._plan.items]
        try:
            if self._machine.identity is None:
                await self._machine.connect(self._options.connect_s)
            self._require_routing()
            await self._journal.register(self._plan.set_id, self._plan.digests, keys)
            assumed = BoardState.UNKNOWN if self._checks.resume else BoardState.GOOD
            found = await self._journal.take_over(self._plan.set_id, keys, assumed)
            self._states = {k: row.state for k, row in (await self._journal.rows(self._plan.set_id)).items()}
            todo = [i for i in self._plan.items if self._options.redo or self._states[i.key] not in SETTLED]
            self._report(JobBegan(len(keys), len(keys) - len(todo), len(found)))
            await self._look_at_machine(todo[0].key if todo else None, found[0] if found else None)
            for item in todo:
                await self._make(item)
            good = sum(self._states[key] is BoardState.GOOD for key in keys)
            await self._tell(tell.finished(good, len(keys), board_in=self._slot.board_in))
        except BaseException:
            # Whatever ends the run, Ctrl-C included: first the motors, then the journal, then the rest.
            await self._stop_everything()
            raise
        finally:
            self._mail.close()
            if self._claims is not None and self._states:
                self._claims.export(self._plan, self._states)
        summary = self.summary()
        self._report(JobEnded(summary))
        return summary

    def summary(self) -> Summary:
        """Where the job stands now."""
        boards, copies, states = count_states(self._plan, self._states) if self._states else (0, 0, {})
        return Summary(
            planned=len(self._plan.items),
            boards_good=boards,
            copies_good=copies,
            states=states,
            attempts=self._attempts,
            stops=self._stops,
            redeals=self._redeals,
            link_losses=self._losses,
            seconds=self._clock.monotonic() - self._began_at,
            dealing_s=self._dealing_s,
            waiting_s=max(0.0, self._mail.waited_s - self._dealing_s),
        )

    # --- one board -----------------------------------------------------------------------------------------------

    async def _make(self, item: BoardCopy) -> None:
        pack_trouble = 0
        for number in range(1, self._options.max_attempts + 1):
            if number > 1:
                self._redeals += 1
            watch, verdict = await self._attempt(item, number)
            if verdict.state in SETTLED:
                self._slot.must_go = self._slot.board_in
                if verdict.good:
                    await self._tell(tell.remove_done(item.key, self._plan.copies))
                else:
                    await self._tell(tell.remove_unconfirmed(item.key, self._plan.copies, verdict.reasons))
                return
            self._stops += 1
            self._slot.stopped()
            if tell.points_at_pack(verdict.reasons, watch.fault):
                pack_trouble += 1
            if number == self._options.max_attempts:
                break
            replace = pack_trouble >= self._options.packs_after
            pack_trouble = 0 if replace else pack_trouble
            instruction = tell.collect(item.key, self._plan.copies, verdict, watch.fault, replace_pack=replace)
            await self._tell(instruction, verdict.reasons)
        failed = Verdict(BoardState.FAILED, verdict.reasons)
        await self._journal.settle(self._plan.set_id, item.key, failed)
        self._settled(item, failed)
        await self._tell(tell.given_up(item.key, self._plan.copies, self._options.max_attempts), verdict.reasons)

    async def _attempt(self, item: BoardCopy, number: int) -> tuple[BoardWatch, Verdict]:
        """One attempt, from the journal row to the committed verdict."""
        while True:
            # A board that was interrupted is then never mistaken for the one before it, which is still in.
            await self._old_board_out(item)
            identity = self._identity()
            work = _Work(item, self._options.new_job_id(), self._states[item.key])
            await self._journal.begin(
                self._plan.set_id,
                item.key,
                job_id=work.job_id,
                machine_id=identity.device_id,
                boot_id=identity.boot_id,
            )
            self._work = work
            order = Armed(work.job_id, item.board, item.copy, item.routing, item.digest)
            placement = Placement(item, identity.capabilities, self._checks)
            watch = BoardWatch(item, work.job_id, identity, placement, self._checks)
            starter = Starter(self._machine, self._mail, self._slot, self._options, self._tell, self._plan.copies)
            try:
                await starter.start(order, item, placement, work)
            except LineBroken as broken:
                if not broken.started:
                    # No motor has moved for this attempt: the row goes back to what it was.
                    await self._withdraw(work)
                    await self._reconnect(item)
                    continue
                watch.interrupt(Reason.LINK_LOST)
            else:
                self._attempts += 1
                self._report(BoardBegan(item.board, item.copy, number))
                await self._tell(tell.dealing(item.key, self._plan.copies))
                await self._follow(watch)
            return watch, await self._conclude(work, watch)

    async def _old_board_out(self, item: BoardCopy) -> None:
        """Wait until the board that has been dealt, or does not belong here, is out of the machine."""
        while self._slot.must_go:
            event = await self._mail.get(None)
            assert event is not None
            self._slot.note(event)
            if not isinstance(event, Disconnected | Connected):
                continue
            if isinstance(event, Connected):
                if not event.restarted:
                    continue
                self._mail.put_back(event)
            asked = self._shown
            await self._reconnect(item)
            # Whatever the machine believes after a power cut: the board that was to go out is no empty one.
            self._slot.must_go = self._slot.board_in
            self._slot.inserted = None
            if self._slot.must_go and asked is not None:
                await self._tell(asked)

    async def _follow(self, watch: BoardWatch) -> None:
        """Watch the machine deal until the board is done or something is wrong."""
        began = self._clock.monotonic()
        item = watch.item
        while not watch.over and not watch.stopped:
            event = await self._mail.get(self._options.silence_s)
            if event is None:
                watch.interrupt(Reason.SILENT)
                break
            self._slot.note(event)
            before = watch.cards
            watch.feed(event)
            if isinstance(event, Connected) and watch.stopped:
                self._mail.put_back(event)  # it is what the reconnection waits for
            if watch.cards != before:
                self._report(CardCounted(item.board, item.copy, watch.cards, watch.counts))
        self._dealing_s += self._clock.monotonic() - began
        if not watch.stopped and watch.placement.needs_key:
            await self._late_confirmation(watch)

    async def _late_confirmation(self, watch: BoardWatch) -> None:
        """The cards are right and the board is still in: the number may yet be confirmed."""
        await self._tell(tell.confirm(watch.item.key, self._plan.copies))
        end = self._clock.monotonic() + self._options.late_confirm_s
        while watch.placement.needs_key and watch.placement.seated:
            event = await self._mail.get(max(0.0, end - self._clock.monotonic()))
            if event is None:
                break
            if isinstance(event, Disconnected | Connected):
                self._mail.put_back(event)
                break
            self._slot.note(event)
            watch.feed(event)

    async def _conclude(self, work: _Work, watch: BoardWatch) -> Verdict:
        """Stop the machine if need be, commit the verdict, get the line back if it was lost."""
        if watch.stopped:
            with contextlib.suppress(LinkLost, DeviceError):
                await self._machine.abort(work.job_id)
        verdict = watch.verdict()
        fault = int(watch.fault.fault) if watch.fault is not None else 0
        kept = await self._journal.finish(
            self._plan.set_id, work.item.key, job_id=work.job_id, verdict=verdict, cards=watch.cards, fault=fault
        )
        self._work = None
        if not kept:
            verdict = Verdict(BoardState.UNKNOWN, (*verdict.reasons, Reason.INTERRUPTED))
        self._settled(work.item, verdict, watch.cards)
        if Reason.LINK_LOST in verdict.reasons or Reason.RESTARTED in verdict.reasons:
            await self._reconnect(work.item)
        return verdict

    def _settled(self, item: BoardCopy, verdict: Verdict, cards: int = 0) -> None:
        self._states[item.key] = verdict.state
        if self._claims is not None:
            self._claims.append(self._plan.set_id, item, verdict.state)
        self._report(BoardEnded(item.board, item.copy, verdict.state, verdict.reasons, cards))

    async def _withdraw(self, work: _Work) -> None:
        await self._journal.withdraw(self._plan.set_id, work.item.key, job_id=work.job_id, state=work.before)
        self._work = None

    # --- the machine ---------------------------------------------------------------------------------------------

    def _identity(self) -> MachineIdentity:
        identity = self._machine.identity
        if identity is None:
            raise DeviceError("The machine has not said what it is.", where=self._machine.url, code="machine-unknown")
        return identity

    def _require_routing(self) -> None:
        if Capability.ROUTES not in self._identity().capabilities:
            raise DeviceError(
                "This machine can't route a whole board by itself.",
                where=self._machine.url,
                next_step="Choose another machine; devices lists what is connected.",
                code="machine-cannot-route",
            )

    async def _look_at_machine(self, first: BoardKey | None, interrupted: BoardKey | None) -> None:
        """Before the first board: end whatever the machine is doing, and see what lies in it.

        A board that is in already has to come out, whatever the machine says of it: after a power cut it believes its
        pockets to be empty, and a good board would be dealt into once more.
        """
        try:
            self._slot.look(await self._machine.snapshot())
            await self._machine.abort(0)
        except LinkLost:
            await self._reconnect(None)
        self._slot.inserted = None
        self._slot.must_go = self._slot.board_in
        if first is None:
            return
        another = self._slot.board_in and interrupted is not None and self._slot.label not in (0, interrupted.board)
        if interrupted is not None and not another:
            self._slot.stopped()
            lost = Verdict(BoardState.UNKNOWN, (Reason.INTERRUPTED,))
            await self._tell(tell.collect(interrupted, self._plan.copies, lost, None), lost.reasons)
        elif self._slot.board_in:
            # It may be a good one that only waits to be taken out: nobody is told to empty it.
            await self._tell(tell.remove_first(first, self._plan.copies))

    async def _reconnect(self, item: BoardCopy | None) -> None:
        """Wait for the machine to come back, end what it was doing, and see what lies in it.

        Raises DeviceError when it stays away for longer than ``reconnect_s``.
        """
        self._losses += 1
        limit = self._options.reconnect_s
        self._report(LineDown("the machine does not answer"))
        await self._tell(tell.link_down(item.key if item else None, self._plan.copies, limit), (Reason.LINK_LOST,))
        end = self._clock.monotonic() + limit
        while True:
            event = await self._mail.get(max(0.0, end - self._clock.monotonic()))
            if event is None:
                place = f", {item.key}" if item is not None else ""
                raise DeviceError(
                    "The machine was lost and did not come back.",
                    where=f"{self._machine.url}{place}",
                    next_step="Check cable and power, then start again with the same data directory: it goes on where "
                    "it was.",
                    code="machine-lost",
                )
            self._slot.note(event)
            if not isinstance(event, Connected):
                continue
            try:
                self._slot.look(await self._machine.snapshot())
                await self._machine.abort(0)
            except LinkLost:
                continue
            self._shown = None
            self._report(LineUp(event.restarted))
            return

    async def _stop_everything(self) -> None:
        """Motors off, then the journal, whatever state either is in. Never raises a FirmwareBridgeError."""
        with contextlib.suppress(FirmwareBridgeError, TimeoutError):
            async with asyncio.timeout(self._options.stop_s):
                await self._machine.abort(0)
        work, self._work = self._work, None
        if work is None:
            return
        with contextlib.suppress(FirmwareBridgeError):
            if work.started:
                verdict = Verdict(BoardState.UNKNOWN, (Reason.INTERRUPTED,))
                await self._journal.finish(self._plan.set_id, work.item.key, job_id=work.job_id, verdict=verdict)
                self._states[work.item.key] = verdict.state
            else:
                await self._withdraw(work)

    # --- the operator --------------------------------------------------------------------------------------------

    async def _tell(self, instruction: Instruction, stop: tuple[Reason, ...] = ()) -> None:
        """Show an instruction, once, on the machine and through ``on_progress``; ``stop``: why work stands still."""
        if instruction == self._shown:
            return
        self._shown = instruction
        self._report(Stopped(instruction, stop) if stop else Told(instruction))
        identity = self._machine.identity
        if identity is None or Capability.DISPLAY not in identity.capabilities:
            return
        # A display that does not answer must not end the job: the next command or event tells that the line is gone.
        with contextlib.suppress(LinkLost, DeviceError):
            await self._machine.display(
                instruction.action, instruction.board, instruction.copy, instruction.sound, short(instruction.text)
            )

    def _report(self, event: ProgressEvent) -> None:
        if self._on_progress is not None:
            self._on_progress(event)
