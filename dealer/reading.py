"""Reads boards on a machine, one after the other: to learn hand-dealt ones, or to see what play has done to them.

The operator puts boards in; each is read, its number bound to it by label, key or the order asked for. Nothing is
compared here (``dealer.readback`` does that) and nothing is kept: whoever asked gets the cards, and may send a board
back ("North has 12 cards") to have it read once more.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from dealer.cards import PACK_SIZE
from dealer.duplication import instructions as say
from dealer.duplication.contact import Contact
from dealer.duplication.options import JobOptions
from dealer.duplication.picture import found_in
from dealer.duplication.plan import BoardKey
from dealer.duplication.progress import CardCounted, OnProgress
from dealer.duplication.verdict import Reason
from dealer.readback import NOT_READ
from drivers.api import (
    Action,
    BoardConfirmed,
    BoardInserted,
    BoardPulled,
    Capability,
    CardPassed,
    CommandReason,
    Connected,
    DealingMachine,
    Disconnected,
    JobDone,
    MachineFault,
    Orientation,
    Sound,
)
from firmware_bridge.clock import Clock
from firmware_bridge.errors import DeviceError, LinkLost


@dataclass(frozen=True, slots=True)
class BoardContent:
    """What was found in one board: hands N, E, S, W; ``NOT_READ`` for a card that the reader was not sure of.

    number_seen: the number comes from a label or was confirmed; otherwise it is only the one that was asked for.
    """

    board: int
    hands: tuple[tuple[int, ...], ...] = field(repr=False)
    number_seen: bool
    complete: bool

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(len(hand) for hand in self.hands)


MAX_TRIES = 5
"""How often one board is read before the run ends: by then the machine or the board needs more than another try."""


class BoardReader:
    """Reads the boards with the numbers asked for, in that order. One reader per machine at a time."""

    def __init__(
        self,
        machine: DealingMachine,
        clock: Clock,
        *,
        on_progress: OnProgress | None = None,
        options: JobOptions | None = None,
    ) -> None:
        self._machine = machine
        self._options = options or JobOptions()
        self._desk = Contact(machine, clock, self._options, 1, on_progress)
        self._refused = ""
        self._before: BoardKey | None = None
        self._tries = 0

    def send_back(self, why: str) -> None:
        """The board just read is not accepted: the operator is told why, and it is read again."""
        self._refused = why

    async def read(self, numbers: Sequence[int]) -> AsyncIterator[BoardContent]:
        """Each board as soon as it is read.

        Raises DeviceError when the machine can't read boards, refuses for good or stays away.
        """
        if self._machine.identity is None:
            await self._machine.connect(self._options.connect_s)
        if Capability.READ_BACK not in self._desk.identity().capabilities:
            raise DeviceError(
                "This machine can't read the cards that are in a board.",
                where=self._machine.url,
                next_step="Choose a machine that can; devices lists what is connected.",
                code="machine-cannot-read",
            )
        try:
            self._desk.slot.look(await self._machine.snapshot())
            await self._machine.abort(0)
            self._desk.slot.must_go = False  # a board that is in may be just the one that is wanted, cards and all
            for number in numbers:
                key = BoardKey(number, 1)
                self._tries = 0
                while True:
                    self._refused = ""
                    yield await self._one(key)
                    if not self._refused:
                        break
                    await self._again(key, self._refused)
                self._before = key
            await self._desk.tell(all_read(len(numbers), board_in=self._desk.slot.board_in))
        finally:
            with contextlib.suppress(LinkLost, DeviceError):
                await self._machine.abort(0)
            self._desk.mail.close()

    async def _again(self, key: BoardKey, why: str) -> None:
        """The board has to come out and go in once more. Raises DeviceError after too many tries."""
        self._tries += 1
        if self._tries >= MAX_TRIES:
            raise DeviceError(
                f"Board {key.board} was read {self._tries} times in vain: {why}.",
                where=self._machine.url,
                next_step="Look at the board's cards and at the machine's reader, then read the rest.",
                code="board-unreadable",
            )
        self._desk.slot.must_go = self._desk.slot.board_in
        await self._desk.tell(read_again(key, why), (Reason.READ_BACK_DIFFERS,))

    async def _one(self, key: BoardKey) -> BoardContent:
        while True:
            try:
                seen = await self._board_in(key)
                content = await self._cards(key, seen)
            except LinkLost:
                read_already = self._desk.slot.must_go
                await self._desk.reconnect(None)
                # What lies in it is just what is wanted here, unless it is the board before.
                self._desk.slot.must_go = read_already and self._desk.slot.board_in
                continue
            if isinstance(content, BoardContent):
                self._desk.slot.must_go = True
                return content
            if content:
                await self._again(key, content)

    async def _board_in(self, key: BoardKey) -> bool:
        """Wait until the board is in and lies right; True when its number was seen. Raises LinkLost."""
        slot, capabilities = self._desk.slot, self._desk.identity().capabilities
        confirmed = False
        while True:
            label = slot.label if Capability.LABEL in capabilities else 0
            if slot.must_go and self._tries:
                pass  # why it has to come out has been told
            elif slot.must_go or not slot.board_in:
                await self._desk.tell(put_in(key, self._before if slot.must_go else None))
            elif label not in (0, key.board):
                await self._desk.tell(say.wrong_to_read(key, 1, label), (Reason.WRONG_BOARD,))
            elif slot.orientation not in (Orientation.NORTH, Orientation.UNKNOWN):
                await self._desk.tell(say.turned(key, 1), (Reason.TURNED,))
            elif label == key.board or confirmed:
                return True
            elif Capability.KEY not in capabilities:
                return False
            else:
                await self._desk.tell(say.confirm(key, 1))
            event = await self._desk.mail.get(None)
            assert event is not None
            slot.note(event)
            if isinstance(event, Disconnected) or (isinstance(event, Connected) and event.restarted):
                if isinstance(event, Connected):
                    self._desk.mail.put_back(event)
                raise LinkLost("The line was lost.", where=self._machine.url)
            if isinstance(event, BoardInserted | BoardPulled):
                confirmed = False
            if isinstance(event, BoardConfirmed):
                confirmed = slot.board_in and event.board == key.board

    async def _cards(self, key: BoardKey, number_seen: bool) -> BoardContent | str:
        """Read once. Words when it was in vain, "" when that has been told already.

        Raises LinkLost, and DeviceError when the machine refuses for good.
        """
        job_id = self._options.new_job_id()
        reply = await self._machine.read_board(job_id, key.board, key.copy)
        if not reply.ok:
            if reply.reason == CommandReason.COVER_OPEN:
                await self._desk.tell(say.refused(key, 1, reply.reason), (Reason.MACHINE_FAULT,))
                event = await self._desk.mail.get(1.0)
                if isinstance(event, Disconnected | Connected):
                    self._desk.mail.put_back(event)
                elif event is not None:
                    self._desk.slot.note(event)
                return ""
            if reply.reason in (CommandReason.NO_BOARD, CommandReason.WRONG_BOARD, CommandReason.TURNED):
                return say.why_refused(reply.reason)
            raise DeviceError(
                f"The machine refuses to read board {key.board}: {say.why_refused(reply.reason)}.",
                where=self._machine.url,
                next_step="Switch the machine off and on, then start again.",
                code="machine-refuses",
            )
        await self._desk.tell(say.reading(key, 1))
        identity = self._desk.identity()
        margin_min = identity.margin_min if Capability.MARGIN in identity.capabilities else 0
        hands: list[list[int]] = [[], [], [], []]
        cards = 0
        while True:
            event = await self._desk.mail.get(self._options.silence_s)
            if event is None:
                await self._machine.abort(job_id)
                return say.what_happened((Reason.SILENT,), None)
            self._desk.slot.note(event)
            match event:
                case CardPassed() if event.job_id == job_id and event.index != cards:
                    await self._machine.abort(job_id)
                    return say.what_happened((Reason.OUT_OF_SEQUENCE,), None)
                case CardPassed() if event.job_id == job_id:
                    pocket = found_in(event)
                    sure = event.best < PACK_SIZE and event.margin >= margin_min
                    if pocket < 4 and cards < 2 * PACK_SIZE:
                        hands[pocket].append(event.best if sure else NOT_READ)
                    cards += 1
                    north, east, south, west = (len(hand) for hand in hands)
                    self._desk.report(CardCounted(key.board, key.copy, cards, (north, east, south, west)))
                case JobDone() if event.job_id == job_id:
                    found = tuple(tuple(hand) for hand in hands)
                    return BoardContent(key.board, found, number_seen, complete=event.cards == cards)
                case MachineFault() | BoardPulled() | BoardInserted():
                    await self._machine.abort(job_id)
                    fault = event if isinstance(event, MachineFault) else None
                    return say.what_happened((Reason.PULLED,), fault)
                case Disconnected():
                    raise LinkLost("The line was lost.", where=self._machine.url)
                case _:
                    pass


def put_in(key: BoardKey, before: BoardKey | None = None) -> say.Instruction:
    """The instruction for the next board to be read. ``before``: the one that has been read and is still in."""
    if before is None:
        step = f"Put in board {key.board} with its cards: I'll read it."
        return say.Instruction(step, Action.RETURN_BOARD, Sound.NONE, key.board, key.copy)
    step = f"Take it out and put in board {key.board} with its cards: I'll read it."
    what = f"Board {before.board} is read."
    return say.Instruction(step, Action.RETURN_BOARD, Sound.DONE, key.board, key.copy, what=what)


def read_again(key: BoardKey, why: str) -> say.Instruction:
    """A board that was read in vain; ``why`` names no card."""
    return say.Instruction(
        "Take it out, put it right, and put it back: I'll read it.",
        Action.TURN_BOARD,
        Sound.STOP,
        key.board,
        key.copy,
        what=f"Board {key.board}: {why}.",
        cards="Cards: in the board.",
    )


def all_read(boards: int, *, board_in: bool) -> say.Instruction:
    """The end of the work."""
    what = "The board is read." if boards == 1 else f"All {boards} boards are read."
    return say.Instruction("Take the last one out." if board_in else "", Action.FINISHED, Sound.DONE, what=what)
