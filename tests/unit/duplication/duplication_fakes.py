"""A scripted dealing machine in memory, with an operator who does what the display says.

Truth first: where each card lies. What the machine reports is made from it by a ``Script``, which a test may bend.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from drivers.api import (
    Action,
    Armed,
    BoardConfirmed,
    BoardInserted,
    BoardPulled,
    Capability,
    CardPassed,
    CommandReason,
    CommandReply,
    Connected,
    Disconnected,
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
    Sound,
)
from firmware_bridge.errors import LinkLost

FULL = (
    Capability.ROUTES
    | Capability.LABEL
    | Capability.ORIENTATION
    | Capability.EXIT
    | Capability.DISPLAY
    | Capability.KEY
    | Capability.MARGIN
    | Capability.BEAM
)
UNKNOWN = 255


@dataclass(slots=True)
class Run:
    """One deal as it is going to happen: the events to send, and the true cards of each pocket (seats as printed)."""

    order: Armed
    events: list[MachineEvent]
    pockets: list[list[int]]

    def cards(self) -> list[int]:
        """Positions of the card events."""
        return [i for i, event in enumerate(self.events) if isinstance(event, CardPassed)]

    def change(self, position: int, /, **fields: int | float) -> None:
        """Bend the report of the card at ``position``."""
        self.events[position] = replace(self.events[position], **fields)

    def change_done(self, **fields: object) -> None:
        self.events[-1] = replace(self.events[-1], **fields)

    def move(self, card: int, pocket: int) -> None:
        """The card truly lies in ``pocket``, whatever was reported."""
        for cards in self.pockets:
            if card in cards:
                cards.remove(card)
        self.pockets[pocket].append(card)


Script = Callable[[Run], None]
"""Changes a run that would go well."""


def honest(run: Run) -> None:
    """Nothing goes wrong."""


def owners_of(routing: bytes) -> list[int]:
    return [routing[card // 4] >> 2 * (card % 4) & 3 for card in range(52)]


@dataclass(slots=True)
class Habits:
    """How the operator behaves. Times in seconds."""

    fetch_s: float = 2.0
    presses_key: bool = True
    obeys: bool = True
    label: Callable[[int], int] = lambda board: board
    orientation: Callable[[int], int] = lambda board: int(Orientation.NORTH)


@dataclass
class FakeMachine:
    """``scripts``: one per START, in order; the rest go well. ``truth``: what is in each board, by (board, copy)."""

    capabilities: Capability = FULL
    scripts: list[Script] = field(default_factory=list)
    habits: Habits = field(default_factory=Habits)
    seed: int = 0
    card_s: float = 0.1
    url: str = "fake://machine"
    identity: MachineIdentity | None = None
    truth: dict[tuple[int, int], list[list[int]]] = field(default_factory=dict)
    shown: list[tuple[Action, int, int, Sound, str]] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    refuse: dict[str, list[CommandReason]] = field(default_factory=dict)
    lose: dict[str, int] = field(default_factory=dict)
    board_in: bool = False
    hopper: HopperState = HopperState.LOADED
    state: MachineStateCode = MachineStateCode.IDLE
    counts: tuple[int, int, int, int] = (0, 0, 0, 0)
    boot_id: int = 1
    down: bool = False
    two_packs: bool = True
    armed: Armed | None = None
    wanted: tuple[int, int] = (0, 0)
    _events: asyncio.Queue[MachineEvent] = field(default_factory=asyncio.Queue)
    _running: int = 0
    _passed: int = 0
    _rest: list[MachineEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    # --- the interface of a machine ------------------------------------------------------------------------------

    async def connect(self, timeout: float) -> MachineIdentity:
        self.identity = self._identify()
        self.emit(Connected(self.identity, restarted=False))
        return self.identity

    def _identify(self) -> MachineIdentity:
        return MachineIdentity(77, "fake", "1", self.boot_id, self.capabilities, (0, 1, 3, 2), 100, 40)

    async def _command(self, name: str) -> CommandReason:
        self.commands.append(name)
        await asyncio.sleep(0.005)
        if self.lose.get(name):
            self.lose[name] -= 1
            self.unplug(0.5)
            raise LinkLost("gone")
        if self.down:
            raise LinkLost("gone")
        waiting = self.refuse.get(name)
        return waiting.pop(0) if waiting else CommandReason.NONE

    @staticmethod
    def _reply(reason: CommandReason) -> CommandReply:
        return CommandReply(Outcome.REFUSED if reason else Outcome.DONE, reason, False)

    async def arm(self, order: Armed) -> CommandReply:
        reason = await self._command("arm")
        if not reason and self.state in (MachineStateCode.DEALING, MachineStateCode.READING):
            reason = CommandReason.WRONG_STATE
        if not reason:
            self.armed = order
            self.state = MachineStateCode.ARMED
        return self._reply(reason)

    async def start(self, order: Armed) -> CommandReply:
        reason = await self._command("start")
        if not reason:
            if self.armed != order or self.state != MachineStateCode.ARMED:
                reason = CommandReason.WRONG_STATE
            elif not self.board_in:
                reason = CommandReason.NO_BOARD
            elif self._label() not in (0, order.board):
                reason = CommandReason.WRONG_BOARD
            elif self.hopper == HopperState.EMPTY:
                reason = CommandReason.HOPPER_EMPTY
        if not reason:
            self._deal(order)
        return self._reply(reason)

    async def pause(self, job_id: int) -> CommandReply:
        return self._reply(await self._command("pause"))

    async def resume(self, job_id: int, next_index: int) -> CommandReply:
        reason = await self._command("resume")
        if not reason and (self.state != MachineStateCode.STOPPED or next_index != self._passed):
            reason = CommandReason.WRONG_STATE
        if not reason:
            self.state = MachineStateCode.DEALING
            self._play(self._rest)
        return self._reply(reason)

    async def abort(self, job_id: int) -> CommandReply:
        reason = await self._command("abort")
        self._running += 1
        self.armed = None
        self.state = MachineStateCode.IDLE
        return self._reply(reason)

    async def read_board(self, job_id: int, board: int, copy: int) -> CommandReply:
        reason = await self._command("read")
        if not reason and not self.board_in:
            reason = CommandReason.NO_BOARD
        if not reason:
            self._read(job_id, board, copy)
        return self._reply(reason)

    async def report(self, job_id: int) -> JobReport:
        await self._command("report")
        return JobReport(job_id, False, self.state, ())

    async def snapshot(self) -> MachineSnapshot:
        await self._command("snapshot")
        return MachineSnapshot(
            self.state, self.board_in, True, self.hopper, self._label(), 0, self.counts, 0, self.boot_id
        )

    def _label(self) -> int:
        seen = self.board_in and Capability.LABEL in self.capabilities
        return self.habits.label(self.wanted[0]) if seen else 0

    async def display(self, action: Action, board: int, copy: int, sound: Sound, text: str) -> None:
        if self.down:
            raise LinkLost("gone")
        self.shown.append((action, board, copy, sound, text))
        if self.habits.obeys:
            self.later(self.habits.fetch_s, lambda: self.act(action, board, copy, len(self.shown)))

    async def next_event(self) -> MachineEvent:
        return await self._events.get()

    async def close(self) -> None:
        self._running += 1

    # --- what happens at it --------------------------------------------------------------------------------------

    def emit(self, event: MachineEvent) -> None:
        if not self.down or isinstance(event, Disconnected | Connected):
            self._events.put_nowait(event)

    @staticmethod
    def later(delay: float, what: Callable[[], object]) -> None:
        asyncio.get_running_loop().call_later(delay, what)

    def act(self, action: Action, board: int, copy: int, number: int) -> None:
        """The operator does what the display says."""
        if action == Action.INSERT_BOARD and not self.board_in:
            self.insert(board, copy)
        elif action in (Action.TURN_BOARD, Action.SWAP_BOARD):
            self.pull()
            self.later(1.0, lambda: self.insert(board, copy))
        elif action == Action.REMOVE_BOARD:
            self.pull()
            if self.hopper == HopperState.EMPTY and self.two_packs:
                self.load()
        elif action == Action.LOAD_PACK:
            self.load()
        elif action == Action.CONFIRM_BOARD and self.habits.presses_key:
            self.emit(BoardConfirmed(board, copy))
        elif action in (Action.COLLECT_CARDS, Action.REPLACE_PACK):
            # Who has no board in the machine empties the one that is named.
            self.truth.pop(self.wanted if self.board_in else (board, copy), None)
            self.pull()
            self.set_hopper(HopperState.EMPTY)
            self.later(1.0, self.load)
        elif action == Action.RETURN_BOARD and (self.wanted != (board, copy) or not self.board_in):
            self.pull()
            self.insert(board, copy)

    def insert(self, board: int, copy: int) -> None:
        if self.board_in:
            return
        self.board_in = True
        self.wanted = (board, copy)
        label = self.habits.label(board) if Capability.LABEL in self.capabilities else 0
        seen = self.habits.orientation(board) if Capability.ORIENTATION in self.capabilities else UNKNOWN
        self.emit(BoardInserted(label, seen))

    def pull(self) -> None:
        if not self.board_in:
            return
        self.board_in = False
        self.counts = (0, 0, 0, 0)
        self.armed = None
        self._running += 1
        self.state = MachineStateCode.IDLE
        self.emit(BoardPulled())

    def load(self) -> None:
        self.set_hopper(HopperState.LOADED)

    def set_hopper(self, hopper: HopperState) -> None:
        if hopper != self.hopper:
            self.hopper = hopper
            self.emit(HopperChanged(hopper))

    def unplug(self, seconds: float, *, restart: bool = False) -> None:
        """The line is gone for a while; a dealing machine stops."""
        if self.down:
            return
        self.down = True
        self._running += 1
        self.emit(Disconnected("unplugged"))
        self.later(seconds, lambda: self._plug(restart))

    def _plug(self, restart: bool) -> None:
        self.down = False
        if restart:
            self.boot_id += 1
            self.state = MachineStateCode.IDLE
            self.counts = (0, 0, 0, 0)
        self.identity = self._identify()
        self.emit(Connected(self.identity, restarted=restart))

    # --- dealing -------------------------------------------------------------------------------------------------

    def plan_run(self, order: Armed) -> Run:
        """A deal that goes well."""
        owners = owners_of(order.routing)
        pack = list(range(52))
        self._random.shuffle(pack)
        pockets: list[list[int]] = [[], [], [], []]
        events: list[MachineEvent] = []
        for index, card in enumerate(pack):
            pockets[owners[card]].append(card)
            events.append(self.card(order.job_id, index, card, owners[card]))
        events.append(JobDone(order.job_id, order.board, order.copy, 52, (13, 13, 13, 13), order.digest))
        return Run(order, events, pockets)

    def card(self, job_id: int, index: int, card: int, pocket: int) -> CardPassed:
        confirmed = pocket if Capability.EXIT in self.capabilities else UNKNOWN
        beam = 40.0 * self._random.uniform(0.97, 1.03)
        return CardPassed(
            job_id=job_id,
            index=index,
            raw=card * 7,
            best=card,
            runner_up=(card + 1) % 52,
            margin=120 if Capability.MARGIN in self.capabilities else 0,
            wanted=pocket,
            confirmed=confirmed,
            beam_ms=beam if Capability.BEAM in self.capabilities else 0.0,
            at_ms=index * 100,
            read_ms=45,
            exit_ms=120,
        )

    def _deal(self, order: Armed) -> None:
        self.state = MachineStateCode.DEALING
        self._passed = 0
        run = self.plan_run(order)
        (self.scripts.pop(0) if self.scripts else honest)(run)
        self.truth[self.wanted] = run.pockets
        self._play(run.events)

    def _read(self, job_id: int, board: int, copy: int) -> None:
        self.state = MachineStateCode.READING
        events: list[MachineEvent] = []
        pockets = self.truth.get(self.wanted, [[], [], [], []])
        for pocket, cards in enumerate(pockets):
            events += [self.card(job_id, len(events) + i, card, pocket) for i, card in enumerate(cards)]
        counts = tuple(len(cards) for cards in pockets)
        events.append(JobDone(job_id, board, copy, len(events), counts, self.digest_of(board, pockets)))
        run = Run(Armed(job_id, board, copy, b"", b""), events, pockets)
        (self.scripts.pop(0) if self.scripts else honest)(run)
        self._play(run.events)

    @staticmethod
    def digest_of(board: int, pockets: list[list[int]]) -> bytes:
        import hashlib

        owners = [0] * 52
        for pocket, cards in enumerate(pockets):
            for card in cards:
                if card < 52:
                    owners[card] = pocket
        if sorted(card for cards in pockets for card in cards) != list(range(52)):
            return bytes(8)
        routing = bytes(sum(owners[4 * i + k] << 2 * k for k in range(4)) for i in range(13))
        return hashlib.sha256(board.to_bytes(2, "little") + routing).digest()[:8]

    def _play(self, events: list[MachineEvent]) -> None:
        self._running += 1
        self._step(self._running, list(events))

    def _step(self, running: int, events: list[MachineEvent]) -> None:
        if running != self._running or not events:
            return
        event = events.pop(0)
        self._passed += isinstance(event, CardPassed)
        if isinstance(event, JobDone):
            self.state = MachineStateCode.FINISHED
            self.counts = event.counts
            self.set_hopper(HopperState.EMPTY)
        elif isinstance(event, MachineFault):
            self.state = MachineStateCode.STOPPED
            if event.recoverable:
                self._rest, events = events, []
        elif isinstance(event, BoardPulled):
            self.board_in = False
        elif isinstance(event, BoardInserted):
            self.board_in = True
        self.emit(event)
        self.later(self.card_s, lambda: self._step(running, events))
