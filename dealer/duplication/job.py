"""The dealing job: makes the boards of a plan on a machine, one after the other, and calls good only what is good.

Rhythm: the journal row is committed, the machine is armed while the operator fetches the board, inserting it starts
the machine, every card is compared with the plan as it passes, DONE brings the verdict, the verdict is committed, the
display asks for the next board. The first doubt stops the machine; a board that may be whole is looked into
(``recovery``), else the cards are collected and the same board is dealt again. A lost line or a restarted machine
makes the board in work ``unknown``.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque

from dealer.duplication import instructions as say
from dealer.duplication.checks import ALL_CHECKS, BoardWatch, Checks, Placement
from dealer.duplication.claims import ClaimsFile
from dealer.duplication.contact import Contact
from dealer.duplication.follow import Follower
from dealer.duplication.instructions import Instruction
from dealer.duplication.ledger import Ledger, Work
from dealer.duplication.options import JobOptions
from dealer.duplication.plan import BoardCopy, Plan
from dealer.duplication.progress import BoardBegan, JobBegan, JobEnded, OnProgress, Summary, count_states, not_good
from dealer.duplication.recovery import Recovery
from dealer.duplication.slot import LineBroken, Starter
from dealer.duplication.verdict import BROKEN, READER_TROUBLE, SETTLED, BoardState, Reason, Verdict
from dealer.store.health import HealthStore
from dealer.store.journal import Journal
from drivers.api import Armed, Connected, DealingMachine, Disconnected, Fault, MachineEvent
from firmware_bridge.clock import Clock, SystemClock
from firmware_bridge.errors import DeviceError, FirmwareBridgeError, LinkLost

__all__ = ["DuplicationJob", "JobOptions"]

UNSURE = (Reason.LONG_BEAM, Reason.OUT_OF_SEQUENCE, Reason.SILENT, Reason.PULLED, *BROKEN)
"""Reasons after which the count of the cards in the board may be off."""


class DuplicationJob:
    """Makes the boards of ``plan``. One job per machine at a time; ``run`` may be cancelled at any moment.

    on_progress: called with every progress event; must return at once. claims: evidence file, or None.
    health: where the figures of the machine are kept, or None.
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
        health: HealthStore | None = None,
        checks: Checks = ALL_CHECKS,
    ) -> None:
        self._machine = machine
        self._plan = plan
        self._clock = clock or SystemClock()
        self._options = options or JobOptions()
        self._desk = Contact(machine, self._clock, self._options, plan.copies, on_progress)
        self._follower = Follower(self._desk, self._clock, self._options)
        self._ledger = Ledger(machine, self._desk, journal, plan, claims=claims, health=health)
        self._recovery = Recovery(machine, self._desk, self._ledger, self._follower, self._options, plan, checks)
        self._slot = self._desk.slot
        self._desk.mail.on_event = self._hear
        self._copies = plan.copies
        self._checks = checks
        self._following: BoardCopy | None = None
        self._twin: tuple[int, int] | None = None
        self._attempts = self._stops = self._redeals = 0
        self._began_at = 0.0

    def confirm(self) -> None:
        """The operator confirms, at the host's own keyboard, the number of the board that is in the machine."""
        work = self._ledger.work
        if work is not None:
            self._desk.mail.confirm(work.item.board, work.item.copy)

    async def run(self) -> Summary:
        """Make every board of the plan that is not made yet.

        Raises DeviceError when the machine is missing, refuses for good or stays away, StoreError when the journal
        can't be kept; both leave a journal from which the next run goes on.
        """
        self._began_at = self._clock.monotonic()
        states = self._ledger.states
        try:
            if self._machine.identity is None:
                await self._machine.connect(self._options.connect_s)
            self._desk.require_routing()
            left = await self._ledger.open(BoardState.UNKNOWN if self._checks.resume else BoardState.GOOD)
            states = self._ledger.states
            todo = [item for item in self._plan.items if self._to_do(states[item.key])]
            planned = len(self._plan.items)
            self._desk.report(JobBegan(planned, planned - len(todo), len(left), self._copies))
            await self._desk.look()
            if left:
                # The board that was in work comes first: it is the one that the operator has at hand.
                todo.sort(key=lambda item: item.key != left[0])
            if todo and self._slot.board_in and (not left or todo[0].key != left[0]):
                # It may be a good one that only waits to be taken out: nobody is told to empty it.
                await self._desk.tell(say.remove_first(todo[0].key, self._copies))
            await self._make_all(deque(todo))
            good = sum(states[item.key] is BoardState.GOOD for item in self._plan.items)
            await self._ledger.note_losses()
            await self._desk.tell(say.finished(good, planned, board_in=self._slot.board_in))
        except BaseException:
            # Whatever ends the run, Ctrl-C included: first the motors, then the journal, then the rest.
            await self._stop_everything()
            raise
        finally:
            self._desk.mail.close()
            self._ledger.close()
        summary = self.summary()
        self._desk.report(JobEnded(summary))
        return summary

    def summary(self) -> Summary:
        """Where the job stands now."""
        states = self._ledger.states
        boards, copies, counted = count_states(self._plan, states) if states else (0, 0, {})
        return Summary(
            planned=len(self._plan.items),
            boards_good=boards,
            copies_good=copies,
            states=counted,
            not_good=not_good(self._plan, states) if states else (),
            copies=self._copies,
            attempts=self._attempts,
            stops=self._stops + self._follower.stops + self._recovery.returns + self._ledger.withdrawals,
            redeals=self._redeals,
            link_losses=self._desk.losses,
            seconds=self._clock.monotonic() - self._began_at,
            dealing_s=self._follower.dealing_s,
            waiting_s=max(0.0, self._desk.mail.waited_s - self._follower.dealing_s),
        )

    def _to_do(self, state: BoardState) -> bool:
        """A board in this state is made in this run."""
        if state is BoardState.UNCONFIRMED and self._options.redo_unconfirmed:
            return True
        return self._options.redo or state not in SETTLED

    async def _make_all(self, queue: deque[BoardCopy]) -> None:
        """Make these boards; one whose verdict is taken back meanwhile comes once more at the end."""
        while queue:
            item = queue.popleft()
            self._following = queue[0] if queue else None
            if item.key in self._ledger.doubts:
                await self._desk.old_board_out(item)  # it may be a good one, which must not be taken for this one
            await self._make(item)
            if not queue:
                await self._hear_out()
            queue.extend(self._ledger.to_make_again())

    # --- what is said of a board after its verdict -------------------------------------------------------------------

    async def _hear(self, event: MachineEvent) -> None:
        """Every event, whoever waits for it: the operator is told when one speaks against a verdict."""
        doubt = await self._ledger.hear(event)
        if doubt is None:
            return
        asked = self._desk.shown
        told = say.withdrawn(doubt.item.key, self._copies, doubt.reason, board_in=doubt.board_in)
        await self._desk.tell(told, (doubt.reason,) if doubt.board_in else ())
        if not doubt.board_in and asked is not None:
            await self._desk.tell(asked)  # another board is at hand: what was asked for still holds

    async def _hear_out(self) -> None:
        """Nobody waits for the last board to be taken out: listen to the machine for a moment."""
        end = self._clock.monotonic() + self._options.settle_s
        with contextlib.suppress(LinkLost, DeviceError):
            while self._ledger.judged.board_in and (left := end - self._clock.monotonic()) > 0:
                event = await self._desk.mail.get(left)
                if event is None:
                    return
                self._slot.note(event)
                if isinstance(event, Disconnected | Connected):
                    self._desk.mail.put_back(event)
                    return

    # --- one board -----------------------------------------------------------------------------------------------

    async def _make(self, item: BoardCopy) -> None:
        job_id = self._ledger.left_over(item.key)
        if job_id is not None:
            verdict = await self._recovery.earlier(item, job_id)
            if verdict is not None and verdict.state in SETTLED:
                await self._ask_to_remove(item, verdict)
                return
        pack_trouble = packs_changed = 0
        for number in range(1, self._options.max_attempts + 1):
            if number > 1:
                self._redeals += 1
            watch, verdict = await self._attempt(item, number)
            self._recovery.found = ""
            if verdict.state not in SETTLED:
                looked = await self._recovery.second_look(item, watch, verdict)
                verdict = looked if looked is not None else verdict
            await self._ledger.note_health(watch)
            if verdict.state in SETTLED:
                await self._ask_to_remove(item, verdict)
                return
            self._stops += 1
            cards = self._where_cards_are(watch, verdict)
            self._slot.stopped()
            if say.points_at_pack(verdict.reasons, watch.fault):
                pack_trouble += 1
            if number == self._options.max_attempts:
                await self._ledger.give_up(item, verdict.reasons)
                given_up = say.given_up(item.key, self._copies, number, cards)
                await self._desk.tell(given_up, verdict.reasons)
                return
            replace = pack_trouble >= self._options.packs_after
            unread = not READER_TROUBLE.isdisjoint(verdict.reasons) or say.points_at_pack((), watch.fault)
            instruction = self._again(
                item, watch, verdict, cards, replace=replace, blame_reader=unread and packs_changed > 0
            )
            packs_changed += replace
            pack_trouble = 0 if replace else pack_trouble
            await self._desk.tell(instruction, verdict.reasons)

    def _again(
        self,
        item: BoardCopy,
        watch: BoardWatch,
        verdict: Verdict,
        cards: str,
        *,
        replace: bool,
        blame_reader: bool,
    ) -> Instruction:
        """What to do before the same board is dealt again."""
        other = self._twin_board(watch)
        if other:
            instruction = say.packs_mixed(item.key, self._copies, other, cards)
        elif self._recovery.found and not replace:
            return self._recovery.read_otherwise(item)
        else:
            instruction = say.collect(
                item.key,
                self._copies,
                verdict,
                watch.fault,
                cards,
                replace_pack=replace,
                blame_reader=blame_reader,
            )
        if self._options.show_cards:
            instruction = say.with_detail(instruction, watch.picture, verdict.reasons)
        return instruction

    def _where_cards_are(self, watch: BoardWatch, verdict: Verdict) -> str:
        fault = watch.fault
        doubled = fault is not None and fault.fault in (Fault.DOUBLE_FEED, Fault.HOPPER_EMPTY)
        return say.where_cards_are(
            watch.cards,
            in_flight=fault.in_flight if fault is not None else 0,
            sure=not doubled and not set(UNSURE).intersection(verdict.reasons),
            board_in=self._slot.board_in or Reason.PULLED not in verdict.reasons,
        )

    def _twin_board(self, watch: BoardWatch) -> int:
        """The board before this one in which another card came twice: then each pack has a card of the other. Else 0.

        A read without doubt is taken for true here; a wrong guess costs the operator one look at two packs.
        """
        if Reason.DUPLICATE_CARD not in watch.reasons or Reason.LOW_MARGIN in watch.reasons:
            return 0
        before, self._twin = self._twin, (watch.item.board, watch.picture.seen[-1].card)
        return before[0] if before is not None and self._twin[0] != before[0] and self._twin[1] != before[1] else 0

    async def _ask_to_remove(self, item: BoardCopy, verdict: Verdict) -> None:
        self._slot.must_go = self._slot.board_in
        if self._ledger.states[item.key] not in SETTLED:
            return  # taken back meanwhile, and the operator has been told
        following = self._following.key if self._following is not None else None
        if verdict.good:
            await self._desk.tell(say.remove_done(item.key, self._copies, following))
        else:
            await self._desk.tell(say.remove_unconfirmed(item.key, self._copies, verdict.reasons, following))

    # --- dealing -------------------------------------------------------------------------------------------------

    async def _attempt(self, item: BoardCopy, number: int) -> tuple[BoardWatch, Verdict]:
        """One attempt, from the journal row to the committed verdict."""
        while True:
            # A board that was interrupted is then never mistaken for the one before it, which is still in.
            await self._desk.old_board_out(item)
            work = Work(item, self._options.new_job_id(), self._ledger.states[item.key])
            await self._ledger.begin(work)
            identity = self._desk.identity()
            order = Armed(work.job_id, item.board, item.copy, item.routing, item.digest)
            placement = Placement(item, identity.capabilities, self._checks)
            watch = BoardWatch(item, work.job_id, identity, placement, self._checks)
            starter = Starter(
                self._machine,
                self._desk.mail,
                self._slot,
                self._options,
                self._desk.tell,
                self._copies,
            )
            try:
                await starter.start(order, item, placement, work)
            except LineBroken as broken:
                if not broken.started:
                    # No motor has moved for this attempt: the row goes back to what it was.
                    await self._ledger.withdraw(work)
                    await self._desk.reconnect(item)
                    continue
                watch.interrupt(Reason.LINK_LOST)
            else:
                self._attempts += 1
                self._desk.report(BoardBegan(item.board, item.copy, number))
                await self._desk.tell(say.dealing(item.key, self._copies))
                await self._follower.follow(watch)
            return watch, await self._ledger.conclude(work, watch)

    # --- the end -------------------------------------------------------------------------------------------------

    async def _stop_everything(self) -> None:
        """Motors off, then the journal, whatever state either is in. Never raises a FirmwareBridgeError."""
        with contextlib.suppress(FirmwareBridgeError, TimeoutError):
            async with asyncio.timeout(self._options.stop_s):
                await self._machine.abort(0)
        await self._ledger.interrupted()
        with contextlib.suppress(FirmwareBridgeError):
            for event in self._desk.mail.take_all():
                await self._ledger.hear(event)
        await self._ledger.note_losses()
