"""From one board to the next: old board out, pack in, machine armed, new board in and recognised, START.

``Slot`` remembers what the machine's switches say. ``Starter`` leads the operator with one instruction at a time and
sends START at the first moment at which nothing speaks against it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from dealer.duplication import instructions as tell
from dealer.duplication import pack_words
from dealer.duplication.checks import Placement
from dealer.duplication.instructions import Instruction
from dealer.duplication.mailbox import Mailbox
from dealer.duplication.options import PackRule
from dealer.duplication.plan import BoardCopy
from dealer.duplication.verdict import Reason
from drivers.api import (
    Armed,
    BackColour,
    BoardConfirmed,
    BoardInserted,
    BoardPulled,
    CommandReason,
    Connected,
    DealingMachine,
    Disconnected,
    HopperChanged,
    HopperState,
    MachineEvent,
    MachineSnapshot,
    MachineStateCode,
    Orientation,
    PackSeen,
)
from firmware_bridge.errors import DeviceError, LinkLost

_UNTOUCHED = (MachineStateCode.IDLE, MachineStateCode.ARMED)
"""States in which no card has been dealt since the board was put in."""

Tell = Callable[..., Awaitable[None]]

MAX_REFUSALS = 8
"""Refusals without any reason that an operator could remove, before the machine counts as failing."""

MAX_REINSERTS = 3
"""How often a board is asked for again because the machine did not see how it lies."""

POLL_S = 1.0
"""How often START is tried again while something is in the way that no event tells about (the cover)."""


class LineBroken(Exception):
    """The line or the machine's power was lost. ``started``: the machine may have been started."""

    def __init__(self, *, started: bool) -> None:
        super().__init__()
        self.started = started


class StartLimits(Protocol):
    @property
    def confirm_s(self) -> float | None: ...
    @property
    def confirm_rounds(self) -> int: ...
    @property
    def grace_s(self) -> float: ...
    @property
    def packs(self) -> PackRule: ...


class StartRecord(Protocol):
    started: bool


class Slot:
    """What is known of board slot and hopper.

    pack: the backs on top of the hopper (BackColour), None if the machine has not told. must_go: the board that is in
    has been dealt, or is not the one wanted; it has to come out first. collecting: after a stop, until the cards can be
    taken to be back in the hopper.
    """

    def __init__(self) -> None:
        self.board_in = False
        self.label = 0
        self.orientation: int = Orientation.UNKNOWN
        self.hopper: int | None = None
        self.pack: int | None = None
        self.must_go = False
        self.collecting = False
        self.inserted: BoardInserted | None = None
        self._refilled = False

    def note(self, event: MachineEvent) -> None:
        """Take in any event of the machine."""
        if isinstance(event, BoardInserted):
            self.board_in = True
            self.label, self.orientation = event.label, event.orientation
            self.must_go = False
            self.inserted = event
            self.collecting = False
        elif isinstance(event, BoardPulled):
            self.board_in = False
            self.must_go = False
            self.inserted = None
            if self.collecting and self._refilled:
                self.collecting = False
        elif isinstance(event, PackSeen):
            self.pack = event.colour
        elif isinstance(event, Connected):
            self.pack = None  # it is told anew
        elif isinstance(event, HopperChanged):
            self.hopper = event.hopper
            if event.hopper == HopperState.LOADED:
                self._refilled = True
                if not self.board_in:
                    self.collecting = False

    def look(self, snapshot: MachineSnapshot) -> bool:
        """Take in a snapshot. True when a board is in that may be dealt as it lies there: nothing was dealt into it."""
        self.board_in = snapshot.board_in
        self.label = snapshot.label
        self.orientation = snapshot.orientation
        self.hopper = snapshot.hopper
        self.inserted = None
        fresh = snapshot.board_in and snapshot.state in _UNTOUCHED and not any(snapshot.counts)
        self.must_go = snapshot.board_in and not fresh
        if fresh:
            self.inserted = BoardInserted(snapshot.label, snapshot.orientation)
        return fresh

    def stopped(self) -> None:
        """Cards lie in the machine: board out, everything back into one pack."""
        self.must_go = self.board_in
        self.collecting = True
        self._refilled = False
        self.inserted = None


class Starter:
    """Brings one attempt to the point where the machine deals. Used once."""

    def __init__(
        self,
        machine: DealingMachine,
        mail: Mailbox,
        slot: Slot,
        limits: StartLimits,
        tell_operator: Tell,
        copies: int,
    ) -> None:
        self._machine = machine
        self._mail = mail
        self._slot = slot
        self._limits = limits
        self._tell = tell_operator
        self._copies = copies
        self._armed = False
        self._refusals = 0
        self._reinserts = 0
        self._reloads = 0
        self._blocked: int = CommandReason.NONE
        self._unanswered = 0
        self._doubted = False

    async def start(self, order: Armed, item: BoardCopy, placement: Placement, record: StartRecord) -> None:
        """Returns when the machine has accepted START.

        Raises LineBroken when the line or power is lost, DeviceError when the machine refuses for good.
        """
        self._item = item
        placement.expect_pack(self._limits.packs, self._slot.pack)
        if self._slot.inserted is not None and not self._slot.must_go:
            placement.insert(self._slot.inserted)
        while True:
            if not self._armed and not self._slot.must_go:
                await self._arm(order)
            if await self._ready(placement):
                if await self._start(order, placement, record):
                    return
                continue
            event = await self._mail.get(self._patience(placement))
            if event is not None:
                self._take(event, placement)
            elif self._blocked != CommandReason.NONE:
                self._blocked = CommandReason.NONE  # try again what no event tells about
            elif placement.pack_unseen and placement.pack is None:
                placement.pack = BackColour.UNKNOWN
            elif self._slot.collecting and not self._slot.board_in:
                self._slot.collecting = False
            else:
                self._doubted = not self._doubted
                self._unanswered += 1

    def _take(self, event: MachineEvent, placement: Placement) -> None:
        if isinstance(event, Disconnected):
            raise LineBroken(started=False)
        if isinstance(event, Connected):
            if not event.restarted:
                return  # the first one of this session; a line that came back was announced as lost before
            self._mail.put_back(event)  # what the machine had armed is gone
            raise LineBroken(started=False)
        self._slot.note(event)
        if isinstance(event, BoardInserted):
            self._blocked = CommandReason.NONE
            self._doubted = False
            placement.insert(event)
            if placement.orientation_unseen:
                self._reinserts += 1
        elif isinstance(event, BoardPulled):
            placement.pull()
            self._armed = False  # the machine disarms itself
            self._blocked = CommandReason.NONE
        elif isinstance(event, BoardConfirmed):
            placement.confirm(event)
        elif isinstance(event, HopperChanged):
            self._blocked = CommandReason.NONE
            self._reloads += event.hopper == HopperState.LOADED and placement.pack_unseen
        elif isinstance(event, PackSeen):
            placement.pack = event.colour
            self._reloads += placement.pack_unseen

    def _asking(self, placement: Placement) -> bool:
        """The board is in and only the key is missing."""
        return placement.seated and placement.needs_key and self._blocked == CommandReason.NONE

    def _patience(self, placement: Placement) -> float | None:
        if self._blocked != CommandReason.NONE:
            return POLL_S
        if self._slot.collecting and not self._slot.board_in:
            return self._limits.grace_s
        if placement.seated and placement.pack_unseen and placement.pack is None:
            return POLL_S
        return self._limits.confirm_s if self._asking(placement) else None

    async def _ready(self, placement: Placement) -> bool:
        """True when START may be sent; else the operator has been told what is missing."""
        key, copies = self._item.key, self._copies
        if self._slot.must_go:
            return False  # the instruction that asks for it is on the display already
        fetching = self._slot.hopper in (HopperState.EMPTY, HopperState.STOP_CARD)
        if placement.wrong_pack and not fetching and not self._slot.collecting:
            await self._tell(pack_words.wrong_pack(key, copies, placement), (Reason.WRONG_PACK,))
            return False
        if not placement.seated:
            if self._slot.collecting:
                return False
            await self._tell(self._fetch(placement))
            return False
        if placement.wrong_board:
            await self._tell(tell.wrong_board(key, copies, placement.label), (Reason.WRONG_BOARD,))
            return False
        if placement.turned:
            await self._tell(tell.turned(key, copies), (Reason.TURNED,))
            return False
        if placement.orientation_unseen and self._reinserts < MAX_REINSERTS:
            await self._tell(tell.not_oriented(key, copies), (Reason.NOT_ORIENTED,))
            return False
        if self._slot.hopper in (HopperState.EMPTY, HopperState.STOP_CARD):
            await self._tell(self._fetch(placement))
            return False
        if placement.wrong_pack or (placement.pack_unseen and placement.pack is None):
            return False  # told already, or about to be told by the machine
        if placement.pack_unseen and self._reloads < MAX_REINSERTS:
            await self._tell(pack_words.pack_unseen(key, copies), (Reason.PACK_UNSEEN,))
            return False
        if self._blocked != CommandReason.NONE:
            return False
        if placement.needs_key and self._unanswered < self._limits.confirm_rounds:
            # A board that nobody confirms is likely to be another one, perhaps a good one: look at it again first.
            ask = tell.not_confirmed if self._doubted else tell.confirm
            await self._tell(ask(key, copies), *(((Reason.NOT_CONFIRMED,),) if self._doubted else ()))
            return False
        return True

    def _fetch(self, placement: Placement) -> Instruction:
        if self._slot.hopper == HopperState.STOP_CARD:
            return tell.take_stop_card(self._item.key, self._copies)
        if self._slot.hopper == HopperState.EMPTY:
            return pack_words.load_pack(self._item.key, self._copies, placement)
        return tell.insert(self._item.key, self._copies)

    async def _arm(self, order: Armed) -> int:
        """Arm the machine; the reason when it refuses, NONE when it is armed."""
        try:
            reply = await self._machine.arm(order)
            if not reply.ok and reply.reason == CommandReason.WRONG_STATE:
                # Something of before is left over in the machine.
                await self._machine.abort(0)
                reply = await self._machine.arm(order)
        except LinkLost:
            raise LineBroken(started=False) from None
        self._armed = reply.ok
        if reply.ok:
            return CommandReason.NONE
        if reply.reason == CommandReason.HOPPER_EMPTY:
            self._slot.hopper = HopperState.EMPTY
        elif reply.reason not in (CommandReason.NO_BOARD, CommandReason.POCKETS_NOT_EMPTY, CommandReason.COVER_OPEN):
            self._blocked = reply.reason  # cards may still be on their way: try again in a moment
            self._refuse(reply.reason)
        return reply.reason

    async def _start(self, order: Armed, placement: Placement, record: StartRecord) -> bool:
        if not self._armed:
            reason = await self._arm(order)
            if not self._armed:
                await self._refused(reason, placement)
                return False
        record.started = True
        try:
            reply = await self._machine.start(order)
        except LinkLost:
            raise LineBroken(started=True) from None
        if reply.ok:
            return True
        record.started = False
        await self._refused(reply.reason, placement)
        return False

    async def _refused(self, reason: int, placement: Placement) -> None:
        key, copies = self._item.key, self._copies
        if reason in (CommandReason.WRONG_BOARD, CommandReason.TURNED, CommandReason.POCKETS_NOT_EMPTY):
            self._slot.must_go = self._slot.board_in
            placement.pull()
            why = {
                CommandReason.WRONG_BOARD: Reason.WRONG_BOARD,
                CommandReason.TURNED: Reason.TURNED,
            }.get(CommandReason(reason), Reason.PULLED)
            await self._tell(tell.refused(key, copies, reason), (why,))
        elif reason == CommandReason.HOPPER_EMPTY:
            self._slot.hopper = HopperState.EMPTY
            await self._tell(pack_words.load_pack(key, copies, placement))
        elif reason == CommandReason.COVER_OPEN:
            self._blocked = reason
            await self._tell(tell.refused(key, copies, reason), (Reason.MACHINE_FAULT,))
        elif reason == CommandReason.NO_BOARD:
            self._slot.board_in = False
            placement.pull()
            await self._tell(tell.insert(key, copies))
        else:
            self._armed = False
            self._blocked = reason
            self._refuse(reason)

    def _refuse(self, reason: int) -> None:
        self._refusals += 1
        if self._refusals >= MAX_REFUSALS or reason == CommandReason.UNSUPPORTED:
            raise DeviceError(
                f"The machine refuses to deal board {self._item.board}: {tell.why_refused(reason)}.",
                where=self._machine.url,
                next_step="Switch the machine off and on, then start again with the same data directory.",
                code="machine-refuses",
            )
