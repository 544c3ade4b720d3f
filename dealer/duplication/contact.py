"""The job's contact with machine and operator: who the machine is, what lies in it, one instruction at a time, and the
line back when it was lost."""

from __future__ import annotations

import contextlib

from dealer.duplication import instructions as say
from dealer.duplication.instructions import Instruction, short
from dealer.duplication.mailbox import Mailbox
from dealer.duplication.options import JobOptions
from dealer.duplication.plan import BoardCopy, BoardKey
from dealer.duplication.progress import LineDown, LineUp, OnProgress, ProgressEvent, Stopped, Told
from dealer.duplication.slot import Slot
from dealer.duplication.verdict import BoardState, Reason, Verdict
from drivers.api import Capability, Connected, DealingMachine, MachineIdentity
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

    async def look(self, first: BoardKey | None, interrupted: BoardKey | None, *, reading: bool) -> None:
        """Before the first board: end whatever the machine is doing, and see what lies in it.

        A board that is in already has to come out, whatever the machine says of it: after a power cut it believes its
        pockets to be empty, and a good board would be dealt into once more. ``reading``: the interrupted board is
        going to be asked for and read, nothing is said yet.
        """
        try:
            self.slot.look(await self.machine.snapshot())
            await self.machine.abort(0)
        except LinkLost:
            await self.reconnect(None)
        self.slot.inserted = None
        self.slot.must_go = self.slot.board_in
        if first is None:
            return
        if reading:
            self.slot.must_go = False  # it may be the very board that is to be read
            return
        another = self.slot.board_in and interrupted is not None and self.slot.label not in (0, interrupted.board)
        if interrupted is not None and not another:
            self.slot.stopped()
            lost = Verdict(BoardState.UNKNOWN, (Reason.INTERRUPTED,))
            await self.tell(say.collect(interrupted, self.copies, lost, None), lost.reasons)
        elif self.slot.board_in:
            # It may be a good one that only waits to be taken out: nobody is told to empty it.
            await self.tell(say.remove_first(first, self.copies))

    async def reconnect(self, item: BoardCopy | None) -> None:
        """Wait for the machine to come back, end what it was doing, and see what lies in it.

        Raises DeviceError when it stays away for longer than ``reconnect_s``.
        """
        self.losses += 1
        limit = self._options.reconnect_s
        self.report(LineDown("the machine does not answer"))
        await self.tell(say.link_down(item.key if item else None, self.copies, limit), (Reason.LINK_LOST,))
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
            return

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
