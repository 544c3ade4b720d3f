"""The sorting assistant: a club without a dealing machine makes boards by hand, checked like a machine's.

A reader (camera, barcode scanner, or somebody typing) names one card after the other; the assistant says which pile it
goes on, a human puts it there. It offers the interface of a machine, so that journal, checks, copies and resumption are
those of the dealing job. It can't see where a card is put, so a board is good only as far as the human obeyed; the
number of the board is confirmed at the host's keyboard.

Blind as far as the reader allows: who types a card has seen it; with a camera or a scanner only the pile is said.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from dealer.cards import HAND_SIZE, PACK_SIZE, Seat, card_from_name
from drivers.api import (
    UNKNOWN,
    Action,
    Armed,
    BoardInserted,
    BoardPulled,
    Capability,
    CardPassed,
    CardRead,
    CommandReason,
    CommandReply,
    Connected,
    Disconnected,
    Fault,
    HopperChanged,
    HopperState,
    JobDone,
    JobReport,
    MachineEvent,
    MachineFault,
    MachineIdentity,
    MachineSnapshot,
    MachineStateCode,
    Orientation,
    Outcome,
    Segment,
    Sound,
)
from firmware_bridge.clock import Clock

CAPABILITIES = Capability.ROUTES | Capability.DISPLAY
SURE = 100


@dataclass(frozen=True, slots=True)
class Pile:
    """Said to the human: the card just read goes on this pile. ``number`` counts the cards of the board from 1."""

    seat: Seat
    number: int


@dataclass(frozen=True, slots=True)
class Undo:
    """Said by the human: the last card could not be placed, or a wrong one was read; the board is begun again."""


@dataclass(frozen=True, slots=True)
class Ready:
    """Said by the human: the empty board and a whole pack lie before me."""


@dataclass(frozen=True, slots=True)
class Away:
    """Said by the human: the board is full, or emptied, and put away."""


Input = CardRead | Ready | Away | Undo

TellPile = Callable[[Pile], None]
TellAction = Callable[[Action, int, int, str], None]


def typed_card(text: str) -> CardRead | None:
    """A card as somebody types it ("S10", "hq"), None when it is none."""
    try:
        card = card_from_name(text)
    except ValueError:
        return None
    return CardRead(card, card, UNKNOWN, SURE)


class SortingAssistant:
    """A ``DealingMachine`` made of a reader and a human.

    inputs: what reader and human say, in order. tell_pile: called once a card. tell_action: what the job asks for.
    margin_min: reads with a smaller margin are doubtful, where the reader gives one. Give the job a ``silence_s`` of
    some minutes: people pause.
    """

    url = "assistant://"

    def __init__(
        self,
        inputs: AsyncIterator[Input],
        tell_pile: TellPile,
        tell_action: TellAction,
        clock: Clock,
        *,
        margin_min: int = 0,
        device_id: int = 0,
    ) -> None:
        self._inputs = inputs
        self._tell_pile = tell_pile
        self._tell_action = tell_action
        self._clock = clock
        capabilities = CAPABILITIES | (Capability.MARGIN if margin_min else Capability(0))
        self._me = MachineIdentity(device_id, "sorting assistant", "", 1, capabilities, (0, 1, 2, 3), 2000, margin_min)
        self._identity: MachineIdentity | None = None
        self._events: asyncio.Queue[MachineEvent] = asyncio.Queue()
        self._listening: asyncio.Task[None] | None = None
        self._state = MachineStateCode.IDLE
        self._board_in = False
        self._order: Armed | None = None
        self._placed: list[tuple[int, int]] = []

    @property
    def identity(self) -> MachineIdentity | None:
        return self._identity

    async def connect(self, timeout: float) -> MachineIdentity:
        self._identity = self._me
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen(), name="sorting assistant")
        await self._events.put(Connected(self._me, restarted=False))
        return self._me

    async def arm(self, order: Armed) -> CommandReply:
        if self._state == MachineStateCode.DEALING:
            return _reply(CommandReason.WRONG_STATE)
        self._order = order
        self._state = MachineStateCode.ARMED
        return _reply()

    async def start(self, order: Armed) -> CommandReply:
        if self._state != MachineStateCode.ARMED or order != self._order:
            return _reply(CommandReason.WRONG_STATE)
        if not self._board_in:
            return _reply(CommandReason.NO_BOARD)
        self._placed.clear()
        self._state = MachineStateCode.DEALING
        return _reply()

    async def pause(self, job_id: int) -> CommandReply:
        return _reply(CommandReason.UNSUPPORTED)

    async def resume(self, job_id: int, next_index: int) -> CommandReply:
        return _reply(CommandReason.UNSUPPORTED)

    async def abort(self, job_id: int) -> CommandReply:
        self._state = MachineStateCode.IDLE
        self._order = None
        return _reply()

    async def read_board(self, job_id: int, board: int, copy: int) -> CommandReply:
        return _reply(CommandReason.UNSUPPORTED)

    async def report(self, job_id: int) -> JobReport:
        known = self._order is not None and self._order.job_id == job_id
        return JobReport(job_id, known, self._state, tuple(self._placed) if known else ())

    async def snapshot(self) -> MachineSnapshot:
        counts = [sum(pocket == seat for _, pocket in self._placed) for seat in range(4)]
        north, east, south, west = counts if self._state == MachineStateCode.DEALING else (0, 0, 0, 0)
        order = self._order.job_id if self._order is not None else 0
        return MachineSnapshot(
            self._state,
            self._board_in,
            True,
            HopperState.LOADED,
            0,
            Orientation.UNKNOWN,
            (north, east, south, west),
            order,
            self._me.boot_id,
        )

    async def display(self, action: Action, board: int, copy: int, sound: Sound, text: str) -> None:
        self._tell_action(action, board, copy, text)

    async def next_event(self) -> MachineEvent:
        return await self._events.get()

    async def close(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.wait({self._listening})
            self._listening = None

    # --- reader and human ----------------------------------------------------------------------------------------

    async def _listen(self) -> None:
        async for said in self._inputs:
            match said:
                case Ready() if not self._board_in:
                    self._board_in = True
                    self._events.put_nowait(BoardInserted(0, Orientation.UNKNOWN))
                case Away() if self._board_in:
                    self._board_in = False
                    if self._state == MachineStateCode.ARMED:
                        self._state = MachineStateCode.IDLE
                    self._events.put_nowait(BoardPulled())
                    self._events.put_nowait(HopperChanged(HopperState.LOADED))
                case Undo() if self._state == MachineStateCode.DEALING:
                    self._stop(Fault.STOPPED_BY_KEY)
                case CardRead() if self._state == MachineStateCode.DEALING:
                    self._card(said)
                case _:
                    pass  # said at a time at which it means nothing
        self._events.put_nowait(Disconnected("Nobody reads cards any more."))

    def _card(self, read: CardRead) -> None:
        order = self._order
        assert order is not None
        index = len(self._placed)
        known = 0 <= read.best < PACK_SIZE
        pocket = order.routing[read.best // 4] >> 2 * (read.best % 4) & 3 if known else UNKNOWN
        fits = known and read.margin >= self._me.margin_min and read.best not in {card for card, _ in self._placed}
        self._placed.append((read.best, pocket))
        now = int(self._clock.monotonic() * 1000) & 0xFFFFFFFF
        self._events.put_nowait(
            CardPassed(
                order.job_id,
                index,
                read.raw,
                read.best,
                read.runner_up,
                read.margin,
                pocket,
                UNKNOWN,
                0.0,
                now,
                0,
                0,
            )
        )
        if fits:
            # Only now: a doubtful card is said nothing of, it must not get onto any pile.
            self._tell_pile(Pile(Seat(pocket), index + 1))
        if index + 1 == PACK_SIZE:
            self._done(order)

    def _done(self, order: Armed) -> None:
        pockets = dict(self._placed)
        counts = [sum(pocket == seat for _, pocket in self._placed) for seat in range(4)]
        digest = bytes(8)
        if len(pockets) == PACK_SIZE and counts == [HAND_SIZE] * 4:
            owners = [pockets[card] for card in range(PACK_SIZE)]
            routing = bytes(sum(owners[4 * i + k] << 2 * k for k in range(4)) for i in range(PACK_SIZE // 4))
            digest = hashlib.sha256(order.board.to_bytes(2, "little") + routing).digest()[:8]
        self._state = MachineStateCode.FINISHED
        north, east, south, west = counts
        self._events.put_nowait(
            JobDone(order.job_id, order.board, order.copy, len(self._placed), (north, east, south, west), digest)
        )

    def _stop(self, fault: Fault) -> None:
        assert self._order is not None
        self._state = MachineStateCode.STOPPED
        self._events.put_nowait(MachineFault(self._order.job_id, fault, Segment.NONE, 0, False, Action.COLLECT_CARDS))


def _reply(reason: CommandReason = CommandReason.NONE) -> CommandReply:
    return CommandReply(Outcome.DONE if reason == CommandReason.NONE else Outcome.REFUSED, reason, False)
