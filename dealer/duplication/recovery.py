"""Looks into boards that may hold all their cards although something went wrong: "put the board back, I'll read it".

A board that an earlier run left behind, that was pulled after its last card, or over which line or power was lost, is
read before anything is taken out of it; only what can't be whole is dealt again at once.
"""

from __future__ import annotations

from dealer.board import Board
from dealer.cards import PACK_SIZE
from dealer.duplication import instructions as say
from dealer.duplication.checks import BoardWatch, Checks, Placement
from dealer.duplication.contact import Contact
from dealer.duplication.follow import Follower
from dealer.duplication.instructions import Instruction
from dealer.duplication.ledger import Ledger, Work
from dealer.duplication.options import JobOptions
from dealer.duplication.plan import BoardCopy, Plan
from dealer.duplication.verdict import BROKEN, SETTLED, BoardState, Reason, Verdict
from dealer.readback import compare
from drivers.api import BoardInserted, BoardPulled, Capability, Connected, DealingMachine, Disconnected, Fault
from firmware_bridge.errors import LinkLost

EARLIER = Verdict(BoardState.UNKNOWN, (Reason.INTERRUPTED,))
"""What is said of a board that an earlier run left behind."""


class Recovery:
    """``found``: in one sentence what the last reading found, "" when it found nothing wrong or none was made."""

    def __init__(
        self,
        machine: DealingMachine,
        desk: Contact,
        ledger: Ledger,
        follower: Follower,
        options: JobOptions,
        plan: Plan,
        checks: Checks,
    ) -> None:
        self.found = ""
        self.found_cards = ""
        self.returns = 0
        self._machine = machine
        self._desk = desk
        self._ledger = ledger
        self._follower = follower
        self._options = options
        self._plan = plan
        self._checks = checks
        self._boards = {item.board: Board(item.board, item.deal) for item in plan.items}

    @property
    def can_read(self) -> bool:
        return self._options.read_back and Capability.READ_BACK in self._desk.identity().capabilities

    def read_otherwise(self, item: BoardCopy) -> Instruction:
        """What to do with a board that was read and does not hold its cards."""
        instruction = say.read_otherwise(item.key, self._desk.copies, self.found)
        return say.named(instruction, self.found_cards) if self._options.show_cards else instruction

    async def worth_reading(self, item: BoardCopy, job_id: int, *, killed: bool) -> bool:
        """Whether a board that an earlier run left behind may be whole. Raises LinkLost."""
        if not self.can_read:
            return False
        report = await self._machine.report(job_id)
        # A machine that has forgotten the attempt can't say how far it came; a board that was seen to be wrong is
        # looked into only when all its cards are in it.
        return len(report.placed) >= PACK_SIZE if report.known else killed

    async def earlier(self, item: BoardCopy, job_id: int) -> Verdict | None:
        """A board that an earlier run left behind, or whose verdict was taken back: read, if it may be whole.

        Else its cards are collected. The verdict when it was read, None when it was not.
        """
        verdict: Verdict | None = None
        killed = self._ledger.states[item.key] is BoardState.UNKNOWN
        why = self._ledger.doubts.get(item.key, EARLIER)
        self.found = ""
        try:
            if await self.worth_reading(item, job_id, killed=killed):
                verdict = await self._read_returned(item, why)
        except LinkLost:
            await self._desk.reconnect(item)
        if verdict is not None and verdict.state in SETTLED:
            return verdict
        slot = self._desk.slot
        if verdict is None and slot.board_in and slot.label not in (0, item.board):
            # Another board, perhaps a good one: nobody is told to empty it.
            slot.must_go = True
            await self._desk.tell(say.remove_first(item.key, self._desk.copies))
            await self._desk.old_board_out(item)
        slot.stopped()
        instruction = say.left_behind(item.key, self._desk.copies, why.reasons)
        if self.found:
            instruction = self.read_otherwise(item)
        await self._desk.tell(instruction, why.reasons)
        return verdict

    async def second_look(self, item: BoardCopy, watch: BoardWatch, verdict: Verdict) -> Verdict | None:
        """After an attempt that is not good: read the board if all its cards may be in it. None when it was not."""
        self.found = ""
        if not self.can_read:
            return None
        try:
            if not await self._may_be_whole(watch, verdict):
                return None
            if self._desk.slot.board_in and not BROKEN.intersection(verdict.reasons):
                return await self._read(item, watch.placement)
            return await self._read_returned(item, verdict)
        except LinkLost:
            await self._desk.reconnect(item)
            return None

    async def _may_be_whole(self, watch: BoardWatch, verdict: Verdict) -> bool:
        if watch.cards >= PACK_SIZE:
            return True
        if BROKEN.intersection(verdict.reasons):
            report = await self._machine.report(watch.job_id)
            return report.known and len(report.placed) >= PACK_SIZE
        # Two cards that passed as one: the hopper is empty too early although the board is full.
        short = watch.fault is not None and watch.fault.fault == Fault.HOPPER_EMPTY
        return short and watch.cards >= PACK_SIZE - 2

    async def _read_returned(self, item: BoardCopy, verdict: Verdict) -> Verdict | None:
        """Ask for a board back, wait until it is in, read it. Raises LinkLost when the line breaks meanwhile."""
        self.returns += 1
        await self._desk.tell(say.return_board(item.key, self._desk.copies, verdict), verdict.reasons)
        return await self._read(item, await self._returned(item))

    async def _returned(self, item: BoardCopy) -> Placement:
        desk = self._desk
        placement = Placement(item, desk.identity().capabilities, self._checks)
        if desk.slot.board_in:
            placement.insert(BoardInserted(desk.slot.label, desk.slot.orientation))
        while not placement.seated or placement.wrong_board or placement.turned:
            event = await desk.mail.get(None)
            assert event is not None
            desk.slot.note(event)
            if isinstance(event, Disconnected) or (isinstance(event, Connected) and event.restarted):
                if isinstance(event, Connected):
                    desk.mail.put_back(event)
                raise LinkLost("The line was lost.", where=self._machine.url)
            if isinstance(event, BoardInserted):
                placement.insert(event)
            elif isinstance(event, BoardPulled):
                placement.pull()
            if placement.seated and placement.wrong_board:
                wrong = say.wrong_to_read(item.key, desk.copies, placement.label)
                await desk.tell(wrong, (Reason.WRONG_BOARD,))
            elif placement.seated and placement.turned:
                await desk.tell(say.turned(item.key, desk.copies), (Reason.TURNED,))
        return placement

    async def _read(self, item: BoardCopy, placement: Placement) -> Verdict | None:
        """Read the cards in the board and judge them as if they had just been dealt; None if the machine won't."""
        work = Work(item, self._options.new_job_id(), self._ledger.states[item.key], started=True)
        await self._ledger.begin(work, kind="read")
        watch = BoardWatch(item, work.job_id, self._desk.identity(), placement, self._checks, reading=True)
        try:
            reply = await self._machine.read_board(work.job_id, item.board, item.copy)
        except LinkLost:
            watch.interrupt(Reason.LINK_LOST)
        else:
            if not reply.ok:
                await self._ledger.withdraw(work)
                return None
            await self._desk.tell(say.reading(item.key, self._desk.copies))
            await self._follower.follow(watch)
            # A reading that came to no end says nothing of the cards.
            if watch.done is not None and watch.reasons and not BROKEN.intersection(watch.reasons):
                watch.reasons.insert(0, Reason.READ_BACK_DIFFERS)
                self._say_what_was_found(watch)
        return await self._ledger.conclude(work, watch)

    def _say_what_was_found(self, watch: BoardWatch) -> None:
        """In words: hands turned or swapped, another board's cards, a card missing; with cards for --show-cards."""
        hands: list[list[int]] = [[], [], [], []]
        for seen in watch.picture.seen:
            if 0 <= seen.pocket < 4:
                hands[seen.pocket].append(seen.card)
        if not any(hands):
            self.found, self.found_cards = "There is no card in it.", ""
            return
        differences = compare(hands, self._boards[watch.item.board], self._boards.values()).differences
        self.found = differences[0].text() if differences else ""
        self.found_cards = differences[0].text(show_cards=True) if differences else ""
