"""Watches the machine deal or read one board to its end: every event into the watch, cures and late confirmations."""

from __future__ import annotations

from dealer.duplication import instructions as say
from dealer.duplication.checks import BoardWatch
from dealer.duplication.contact import Contact
from dealer.duplication.options import JobOptions
from dealer.duplication.progress import CardCounted
from dealer.duplication.verdict import Reason
from drivers.api import CardPassed, CommandReason, Connected, Disconnected, JobDone, MachineFault
from firmware_bridge.clock import Clock
from firmware_bridge.errors import LinkLost

_CURABLE = (CommandReason.COVER_OPEN, CommandReason.HOPPER_EMPTY, CommandReason.POCKETS_NOT_EMPTY)
"""Refusals of RESUME that end when the operator has done what was asked."""


class Follower:
    """Counts over one job: ``stops`` that were cured or not, ``dealing_s`` seconds with the machine at work."""

    def __init__(self, desk: Contact, clock: Clock, options: JobOptions) -> None:
        self._desk = desk
        self._clock = clock
        self._options = options
        self.stops = 0
        self.dealing_s = 0.0

    async def follow(self, watch: BoardWatch) -> None:
        """Watch the machine deal until the board is done or something is wrong."""
        began = self._clock.monotonic()
        item = watch.item
        resumes = 0
        while not watch.over and not watch.stopped:
            event = await self._desk.mail.get(self._options.silence_s)
            if event is None:
                watch.interrupt(Reason.SILENT)
                break
            self._desk.slot.note(event)
            before = watch.cards
            watch.feed(event)
            if isinstance(event, Connected) and watch.stopped:
                self._desk.mail.put_back(event)  # it is what the reconnection waits for
            if watch.cards != before:
                self._desk.report(CardCounted(item.board, item.copy, watch.cards, watch.counts))
            if watch.halted is not None:
                stood = self._clock.monotonic()
                resumes += 1
                if resumes > self._options.max_resumes or not await self._resume(watch):
                    watch.give_up()
                began += self._clock.monotonic() - stood
        while watch.over and self._desk.mail.next_is(CardPassed, MachineFault, JobDone):
            late = await self._desk.mail.get(0)  # nothing may follow DONE: what has come with it counts as well
            if late is not None:
                watch.feed(late)
        self.dealing_s += self._clock.monotonic() - began
        if not watch.stopped and watch.placement.needs_key:
            await self._late_confirmation(watch)

    async def _resume(self, watch: BoardWatch) -> bool:
        """A stop that can be cured without losing count of the cards: True when the machine deals again."""
        assert watch.halted is not None
        self.stops += 1
        cards = say.where_cards_are(watch.cards, in_flight=watch.halted.in_flight)
        cure = say.cure(watch.item.key, self._desk.copies, watch.halted, cards)
        await self._desk.tell(cure, (Reason.MACHINE_FAULT,))
        now = self._clock.monotonic()
        earliest, end = now + self._options.resume_after_s, now + self._options.resume_limit_s
        while (now := self._clock.monotonic()) < end:
            event = await self._desk.mail.get(max(0.0, earliest - now) or 1.0)
            if event is not None:
                self._desk.slot.note(event)
                watch.feed(event)
                if isinstance(event, Connected) and watch.stopped:
                    self._desk.mail.put_back(event)
            if watch.stopped:
                return False
            if self._clock.monotonic() < earliest:
                continue
            try:
                reply = await self._desk.machine.resume(watch.job_id, watch.cards)
            except LinkLost:
                watch.interrupt(Reason.LINK_LOST)
                return False
            if reply.ok:
                watch.resumed()
                await self._desk.tell(say.dealing(watch.item.key, self._desk.copies))
                return True
            if reply.reason not in _CURABLE:
                return False
        return False

    async def _late_confirmation(self, watch: BoardWatch) -> None:
        """The cards are right and the board is still in: the number may yet be confirmed."""
        await self._desk.tell(say.confirm(watch.item.key, self._desk.copies))
        end = self._clock.monotonic() + self._options.late_confirm_s
        while watch.placement.needs_key and watch.placement.seated:
            event = await self._desk.mail.get(max(0.0, end - self._clock.monotonic()))
            if event is None:
                break
            if isinstance(event, Disconnected | Connected):
                self._desk.mail.put_back(event)
                break
            self._desk.slot.note(event)
            watch.feed(event)
