"""The dealing job: makes the boards of a plan on a machine, one after the other, and calls good only what is good.

Rhythm: the journal row is committed, the machine is armed while the operator fetches the board, inserting it starts
the machine, every card is compared with the plan as it passes, DONE brings the verdict, the verdict is committed, the
display asks for the next board. The first doubt stops the machine; the cards are collected and the same board is
dealt again. A lost line or a restarted machine makes the board in work ``unknown``.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass

from dealer.board import Board
from dealer.cards import PACK_SIZE
from dealer.duplication import instructions as say
from dealer.duplication.checks import ALL_CHECKS, BoardWatch, Checks, Placement
from dealer.duplication.claims import ClaimsFile
from dealer.duplication.contact import Contact
from dealer.duplication.follow import Follower
from dealer.duplication.options import JobOptions
from dealer.duplication.plan import BoardCopy, BoardKey, Plan
from dealer.duplication.progress import (
    BoardBegan,
    BoardEnded,
    JobBegan,
    JobEnded,
    OnProgress,
    Summary,
    count_states,
)
from dealer.duplication.slot import LineBroken, Starter
from dealer.duplication.verdict import BROKEN, SETTLED, BoardState, Reason, Verdict
from dealer.health import measure
from dealer.readback import compare
from dealer.store.health import HealthStore
from dealer.store.journal import Journal
from drivers.api import (
    Armed,
    BoardInserted,
    BoardPulled,
    Capability,
    Connected,
    DealingMachine,
    Disconnected,
)
from firmware_bridge.clock import Clock, SystemClock
from firmware_bridge.errors import DeviceError, FirmwareBridgeError, LinkLost

__all__ = ["DuplicationJob", "JobOptions"]


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
        self._journal = journal
        self._plan = plan
        self._clock = clock or SystemClock()
        self._options = options or JobOptions()
        self._desk = Contact(machine, self._clock, self._options, plan.copies, on_progress)
        self._follower = Follower(self._desk, self._clock, self._options)
        self._slot = self._desk.slot
        self._mail = self._desk.mail
        self._copies = plan.copies
        self._claims = claims
        self._health = health
        self._checks = checks
        self._states: dict[BoardKey, BoardState] = {}
        self._work: _Work | None = None
        self._twin: tuple[int, int] | None = None
        self._found = ""
        self._attempts = self._stops = self._redeals = 0
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
            self._desk.require_routing()
            await self._journal.register(self._plan.set_id, self._plan.digests, keys)
            assumed = BoardState.UNKNOWN if self._checks.resume else BoardState.GOOD
            found = await self._journal.take_over(self._plan.set_id, keys, assumed)
            self._states = {k: row.state for k, row in (await self._journal.rows(self._plan.set_id)).items()}
            todo = [item for item in self._plan.items if self._to_do(self._states[item.key])]
            self._desk.report(JobBegan(len(keys), len(keys) - len(todo), len(found)))
            reading = bool(found) and self._checks.resume and self._can_read()
            first, lost = todo[0].key if todo else None, found[0] if found else None
            await self._desk.look(first, lost, reading=reading)
            if reading:
                # The board that was in work comes first: it is the one that the operator has at hand.
                todo.sort(key=lambda item: item.key != found[0])
                await self._put_back_to_read(next(item for item in todo if item.key == found[0]))
            for item in todo:
                await self._make(item)
            good = sum(self._states[key] is BoardState.GOOD for key in keys)
            await self._desk.tell(say.finished(good, len(keys), board_in=self._slot.board_in))
        except BaseException:
            # Whatever ends the run, Ctrl-C included: first the motors, then the journal, then the rest.
            await self._stop_everything()
            raise
        finally:
            self._mail.close()
            if self._claims is not None and self._states:
                self._claims.export(self._plan, self._states)
        summary = self.summary()
        self._desk.report(JobEnded(summary))
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
            stops=self._stops + self._follower.stops,
            redeals=self._redeals,
            link_losses=self._desk.losses,
            seconds=self._clock.monotonic() - self._began_at,
            dealing_s=self._follower.dealing_s,
            waiting_s=max(0.0, self._mail.waited_s - self._follower.dealing_s),
        )

    def _to_do(self, state: BoardState) -> bool:
        """A board in this state is made in this run."""
        if state is BoardState.UNCONFIRMED and self._options.redo_unconfirmed:
            return True
        return self._options.redo or state not in SETTLED

    # --- one board -----------------------------------------------------------------------------------------------

    async def _make(self, item: BoardCopy) -> None:
        pack_trouble = 0
        for number in range(1, self._options.max_attempts + 1):
            if number > 1:
                self._redeals += 1
            if number == 1 and not self._to_do(self._states[item.key]):
                return  # it was read back
            watch, verdict = await self._attempt(item, number)
            if verdict.state not in SETTLED and watch.cards >= PACK_SIZE and self._slot.board_in and self._can_read():
                # The whole pack is in the board, only a doubt is left: its cards can be looked at once more.
                verdict = await self._read(item, watch.placement) or verdict
            if verdict.state in SETTLED:
                await self._ask_to_remove(item, verdict)
                await self._note_health(watch)
                return
            await self._note_health(watch)
            self._stops += 1
            self._slot.stopped()
            if say.points_at_pack(verdict.reasons, watch.fault):
                pack_trouble += 1
            if number == self._options.max_attempts:
                break
            replace = pack_trouble >= self._options.packs_after
            pack_trouble = 0 if replace else pack_trouble
            instruction = say.collect(item.key, self._copies, verdict, watch.fault, replace_pack=replace)
            if Reason.READ_BACK_DIFFERS in verdict.reasons and self._found:
                instruction = say.read_otherwise(item.key, self._copies, self._found)
            if (other := self._twin_board(watch)) != 0:
                instruction = say.packs_mixed(item.key, self._copies, other)
            if self._options.show_cards:
                instruction = say.with_detail(instruction, watch.picture, verdict.reasons)
            await self._desk.tell(instruction, verdict.reasons)
        failed = Verdict(BoardState.FAILED, verdict.reasons)
        await self._journal.settle(self._plan.set_id, item.key, failed)
        self._settled(item, failed)
        await self._desk.tell(say.given_up(item.key, self._copies, self._options.max_attempts), verdict.reasons)

    def _twin_board(self, watch: BoardWatch) -> int:
        """The board before this one in which another card came twice: then each pack has a card of the other. Else 0.

        A read without doubt is taken for true here; a wrong guess costs the operator one look at two packs.
        """
        if Reason.DUPLICATE_CARD not in watch.reasons or Reason.LOW_MARGIN in watch.reasons:
            return 0
        before, self._twin = self._twin, (watch.item.board, watch.picture.seen[-1].card)
        return before[0] if before is not None and self._twin[0] != before[0] and self._twin[1] != before[1] else 0

    async def _note_health(self, watch: BoardWatch) -> None:
        if self._health is not None and watch.cards:
            machine = f"{self._desk.identity().device_id:016x}"
            fault = int(watch.fault.fault) if watch.fault is not None else 0
            await self._health.record(measure(machine, watch.item.board, watch.picture.seen, watch.reasons, fault))

    async def _ask_to_remove(self, item: BoardCopy, verdict: Verdict) -> None:
        self._slot.must_go = self._slot.board_in
        if verdict.good:
            await self._desk.tell(say.remove_done(item.key, self._copies))
        else:
            await self._desk.tell(say.remove_unconfirmed(item.key, self._copies, verdict.reasons))

    # --- reading back --------------------------------------------------------------------------------------------

    def _can_read(self) -> bool:
        return self._options.read_back and Capability.READ_BACK in self._desk.identity().capabilities

    async def _put_back_to_read(self, item: BoardCopy) -> None:
        """A board that was in work when the program ended is read, if it may be whole; else its cards are collected."""
        lost = Verdict(BoardState.UNKNOWN, (Reason.INTERRUPTED,))
        job_id = (await self._journal.rows(self._plan.set_id))[item.key].job_id
        verdict: Verdict | None = None
        try:
            report = await self._machine.report(job_id)
            if not report.known or len(report.placed) >= PACK_SIZE:
                placement = await self._returned(item, lost)
                verdict = await self._read(item, placement)
        except LinkLost:
            await self._desk.reconnect(item)
        if verdict is not None and verdict.state in SETTLED:
            await self._ask_to_remove(item, verdict)
            return
        self._slot.stopped()
        instruction = say.collect(item.key, self._copies, verdict or lost, None)
        if self._found:
            instruction = say.read_otherwise(item.key, self._copies, self._found)
        await self._desk.tell(instruction, lost.reasons)

    async def _returned(self, item: BoardCopy, verdict: Verdict) -> Placement:
        """Ask for a board back and wait until it is in. Raises LinkLost when the line breaks meanwhile."""
        self._stops += 1
        await self._desk.tell(say.return_board(item.key, self._copies, verdict), verdict.reasons)
        placement = Placement(item, self._desk.identity().capabilities, self._checks)
        if self._slot.board_in:
            placement.insert(BoardInserted(self._slot.label, self._slot.orientation))
        while not placement.seated or placement.wrong_board or placement.turned:
            event = await self._mail.get(None)
            assert event is not None
            self._slot.note(event)
            if isinstance(event, Disconnected):
                raise LinkLost("The line was lost.", where=self._machine.url)
            if isinstance(event, BoardInserted):
                placement.insert(event)
            elif isinstance(event, BoardPulled):
                placement.pull()
            if placement.seated and placement.wrong_board:
                wrong = say.wrong_board(item.key, self._copies, placement.label)
                await self._desk.tell(wrong, (Reason.WRONG_BOARD,))
            elif placement.seated and placement.turned:
                await self._desk.tell(say.turned(item.key, self._copies), (Reason.TURNED,))
        return placement

    async def _read(self, item: BoardCopy, placement: Placement) -> Verdict | None:
        """Read the cards in the board and judge them as if they had just been dealt; None if the machine won't."""
        identity = self._desk.identity()
        work = _Work(item, self._options.new_job_id(), self._states[item.key], started=True)
        await self._journal.begin(
            self._plan.set_id,
            item.key,
            job_id=work.job_id,
            machine_id=identity.device_id,
            boot_id=identity.boot_id,
            kind="read",
        )
        self._work = work
        watch = BoardWatch(item, work.job_id, identity, placement, self._checks, reading=True)
        try:
            reply = await self._machine.read_board(work.job_id, item.board, item.copy)
        except LinkLost:
            watch.interrupt(Reason.LINK_LOST)
        else:
            if not reply.ok:
                await self._withdraw(work)
                return None
            await self._desk.tell(say.reading(item.key, self._copies))
            await self._follower.follow(watch)
            if watch.reasons and not BROKEN.intersection(watch.reasons):
                watch.reasons.insert(0, Reason.READ_BACK_DIFFERS)
                self._found = self._what_was_found(watch)
        return await self._conclude(work, watch)

    def _what_was_found(self, watch: BoardWatch) -> str:
        """In words, without a card: hands turned or swapped, another board's cards, a card missing."""
        hands: list[list[int]] = [[], [], [], []]
        for seen in watch.picture.seen:
            if 0 <= seen.pocket < 4:
                hands[seen.pocket].append(seen.card)
        others = {item.board: Board(item.board, item.deal) for item in self._plan.items}
        comparison = compare(hands, others[watch.item.board], others.values())
        return comparison.differences[0].text() if comparison.differences else ""

    # --- dealing -------------------------------------------------------------------------------------------------

    async def _attempt(self, item: BoardCopy, number: int) -> tuple[BoardWatch, Verdict]:
        """One attempt, from the journal row to the committed verdict."""
        while True:
            # A board that was interrupted is then never mistaken for the one before it, which is still in.
            await self._old_board_out(item)
            identity = self._desk.identity()
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
            starter = Starter(
                self._machine,
                self._mail,
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
                    await self._withdraw(work)
                    await self._desk.reconnect(item)
                    continue
                watch.interrupt(Reason.LINK_LOST)
            else:
                self._attempts += 1
                self._desk.report(BoardBegan(item.board, item.copy, number))
                await self._desk.tell(say.dealing(item.key, self._copies))
                await self._follower.follow(watch)
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
            asked = self._desk.shown
            await self._desk.reconnect(item)
            # Whatever the machine believes after a power cut: the board that was to go out is no empty one.
            self._slot.must_go = self._slot.board_in
            self._slot.inserted = None
            if self._slot.must_go and asked is not None:
                await self._desk.tell(asked)

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
            await self._desk.reconnect(work.item)
        return verdict

    def _settled(self, item: BoardCopy, verdict: Verdict, cards: int = 0) -> None:
        self._states[item.key] = verdict.state
        if self._claims is not None:
            self._claims.append(self._plan.set_id, item, verdict.state)
        self._desk.report(BoardEnded(item.board, item.copy, verdict.state, verdict.reasons, cards))

    async def _withdraw(self, work: _Work) -> None:
        await self._journal.withdraw(self._plan.set_id, work.item.key, job_id=work.job_id, state=work.before)
        self._work = None

    # --- the end -------------------------------------------------------------------------------------------------

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
