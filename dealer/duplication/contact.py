"""The job's contact with machine and operator: who the machine is, what lies in it, one instruction at a time, and the
line back when it was lost."""

from __future__ import annotations

import contextlib

from dealer.duplication import instructions as say
from dealer.duplication.checks import BoardWatch
from dealer.duplication.instructions import Instruction, short
from dealer.duplication.mailbox import Mailbox
from dealer.duplication.options import JobOptions
from dealer.duplication.plan import BoardCopy
from dealer.duplication.progress import LineDown, LineUp, OnProgress, ProgressEvent, Stopped, Told
from dealer.duplication.slot import Slot
from dealer.duplication.verdict import Reason
from drivers.api import (
    Capability,
    Connected,
    DealingMachine,
    Disconnected,
    HopperChanged,
    HopperState,
    MachineIdentity,
)
from firmware_bridge.clock import Clock
from firmware_bridge.errors import DeviceError, LinkLost


class Contact:
    """Shared by all attempts of one job. ``shown``: what the operator was told last. ``losses``: of the line."""

    def __init__(
        self,
        machine: DealingMachine,
        clock: Clock,
        options: JobOptions,
        copies: int,
        on_progress: OnProgress | None,
    ) -> None:
        self.machine = machine
        self.mail = Mailbox(machine, clock)
        self.slot = Slot()
        self.copies = copies
        self.shown: Instruction | None = None
        self.losses = 0
        self._clock = clock
        self._options = options
        self._on_progress = on_progress

    def identity(self) -> MachineIdentity:
        identity = self.machine.identity
        if identity is None:
            raise DeviceError("The machine has not said what it is.", where=self.machine.url, code="machine-unknown")
        return identity

    def require_routing(self) -> None:
        if Capability.ROUTES not in self.identity().capabilities:
            raise DeviceError(
                "This machine can't route a whole board by itself.",
                where=self.machine.url,
                next_step="Choose another machine; devices lists what is connected.",
                code="machine-cannot-route",
            )

    async def look(self) -> None:
        """Before the first board: end whatever the machine is doing, and see what lies in it.

        A board that is in already has to come out, whatever the machine says of it: after a power cut it believes its
        pockets to be empty, and a good board would be dealt into once more.
        """
        try:
            self.slot.look(await self.machine.snapshot())
            await self.machine.abort(0)
        except LinkLost:
            await self.reconnect(None)
        self.slot.inserted = None
        self.slot.must_go = self.slot.board_in

    async def reconnect(self, item: BoardCopy | None, watch: BoardWatch | None = None) -> bool:
        """Wait for the machine to come back, end what it was doing, and see what lies in it.

        watch: the attempt over which the line was lost. True when the machine has started anew meanwhile.
        Raises DeviceError when it stays away for longer than ``reconnect_s``.
        """
        self.losses += 1
        limit = self._options.reconnect_s
        self.report(LineDown("the machine does not answer"))
        cards = say.where_cards_are(watch.cards, sure=False) if watch is not None else ""
        await self.tell(say.link_down(item.key if item else None, self.copies, limit, cards), (Reason.LINK_LOST,))
        end = self._clock.monotonic() + limit
        while True:
            event = await self.mail.get(max(0.0, end - self._clock.monotonic()))
            if event is None:
                place = f", {item.key}" if item is not None else ""
                raise DeviceError(
                    "The machine was lost and did not come back.",
                    where=f"{self.machine.url}{place}",
                    next_step="Check cable and power, then start again with the same data directory: it goes on where "
                    "it was.",
                    code="machine-lost",
                )
            self.slot.note(event)
            if not isinstance(event, Connected):
                continue
            try:
                self.slot.look(await self.machine.snapshot())
                await self.machine.abort(0)
            except LinkLost:
                continue
            self.shown = None
            self.report(LineUp(event.restarted))
            return event.restarted

    async def old_board_out(self, item: BoardCopy) -> None:
        """Wait until the board that has been dealt, or does not belong here, is out of the machine.

        After a stop its cards may be taken out of it where it lies; then the operator is told what is still missing.
        """
        reminded = False
        while self.slot.must_go:
            waits = self.slot.collecting and not reminded
            event = await self.mail.get(self._options.grace_s if waits else None)
            if event is not None:
                self.slot.note(event)
            if waits and (event is None or (isinstance(event, HopperChanged) and event.hopper == HopperState.LOADED)):
                reminded = True
                await self.tell(say.board_still_in(item.key, self.copies))
            if not isinstance(event, Disconnected | Connected):
                continue
            if isinstance(event, Connected):
                if not event.restarted:
                    continue
                self.mail.put_back(event)
            asked = self.shown
            await self.reconnect(item)
            # Whatever the machine believes after a power cut: the board that was to go out is no empty one.
            self.slot.must_go = self.slot.board_in
            self.slot.inserted = None
            if self.slot.must_go and asked is not None:
                await self.tell(asked)

    # --- the operator --------------------------------------------------------------------------------------------

    async def tell(self, instruction: Instruction, stop: tuple[Reason, ...] = ()) -> None:
        """Show an instruction, once, on the machine and through ``on_progress``; ``stop``: why work stands still."""
        if instruction == self.shown:
            return
        self.shown = instruction
        self.report(Stopped(instruction, stop) if stop else Told(instruction))
        identity = self.machine.identity
        if identity is None or Capability.DISPLAY not in identity.capabilities:
            return
        # A display that does not answer must not end the job: the next command or event tells that the line is gone.
        with contextlib.suppress(LinkLost, DeviceError):
            await self.machine.display(
                instruction.action, instruction.board, instruction.copy, instruction.sound, short(instruction.text)
            )

    def report(self, event: ProgressEvent) -> None:
        if self._on_progress is not None:
            self._on_progress(event)
