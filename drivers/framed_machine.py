"""A dealing machine that speaks the Firmware Bridge protocol, over any carrier.

Commands carry a random id. When the link breaks before the answer, the same command goes out again with the same id
once the link is back, as long as the machine has not started anew: the machine answers a repeat from its memory. If
that is not possible the caller gets LinkLost and has to ask what happened; nothing is assumed here.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from drivers.api import (
    Action,
    Armed,
    Capability,
    CommandReason,
    CommandReply,
    Connected,
    Disconnected,
    JobReport,
    MachineEvent,
    MachineFault,
    MachineIdentity,
    MachineSnapshot,
    Outcome,
    Sound,
    StreamOpener,
)
from drivers.event_queue import EventQueue
from drivers.host import SYSTEM_RANDOM, HostIdentity
from drivers.machine_events import event_of, reply_of, report_of, snapshot_of
from drivers.meeting import Meeting
from drivers.port_task import PortDown, PortEvent, PortMessage, PortTask, PortUp
from drivers.port_words import not_introduced
from firmware_bridge.clock import Clock
from firmware_bridge.errors import DeviceError, LinkLost
from firmware_bridge.link.sender import QueueFull
from firmware_bridge.link.session import RandomBits
from firmware_bridge.wire.messages import (
    BY_CLASS,
    Abort,
    Arm,
    CommandResult,
    Display,
    Hello,
    MachineInfo,
    MachineState,
    Message,
    Nak,
    Pause,
    ReadBoard,
    Report,
    ReportData,
    Resume,
    Snapshot,
    Start,
    fit_text,
)
from firmware_bridge.wire.numbers import Role

ANSWER_TIMEOUT = 10.0
"""Seconds for an answer, a short loss of the link included."""

INFO_TIMEOUT = 5.0
"""Seconds between the greeting and MACHINE_INFO."""

EVENT_LIMIT = 4096
"""Events not yet fetched above which the port is no longer read; a board makes about 60."""


@dataclass(slots=True)
class _Waiting:
    """A request that has no answer yet. handed_over: to the present session, or to the next one."""

    message: Message
    answer: asyncio.Future[object]
    handed_over: bool = False


class FramedMachine:
    """The DealingMachine. All methods belong to one event loop; ``next_event`` has one caller at a time."""

    def __init__(
        self,
        opener: StreamOpener,
        host: HostIdentity,
        clock: Clock,
        *,
        rng: RandomBits = SYSTEM_RANDOM,
        answer_timeout: float = ANSWER_TIMEOUT,
        info_timeout: float = INFO_TIMEOUT,
    ) -> None:
        self._port = PortTask(opener, host, clock, role=Role.MACHINE, sink=self._take, rng=rng)
        self._rng = rng
        self._answer_timeout = answer_timeout
        self._info_timeout = info_timeout
        self._events: EventQueue[MachineEvent] = EventQueue(EVENT_LIMIT)
        self._identity: MachineIdentity | None = None
        self._hello: Hello | None = None
        self._introduced = False
        self._early: list[MachineEvent] = []
        self._info_alarm: asyncio.TimerHandle | None = None
        self._meeting: Meeting[MachineIdentity] = Meeting(self._port)
        self._commands: dict[int, _Waiting] = {}
        self._reports: deque[_Waiting] = deque()
        self._snapshots: deque[_Waiting] = deque()

    @property
    def url(self) -> str:
        return self._port.url

    def statistics(self) -> dict[str, float]:
        """How the line behaves: link_drops, frames_sent, _received, _repeated, _damaged, round_trip in seconds."""
        return self._port.statistics()

    @property
    def identity(self) -> MachineIdentity | None:
        return self._identity

    # --- the link ------------------------------------------------------------------------------------------------

    async def connect(self, timeout: float) -> MachineIdentity:
        """Open, shake hands, wait for MACHINE_INFO. Raises DeviceError, LinkLost or ProtocolMismatch.

        After a failure it may be tried again. Does nothing if the machine is connected.
        """
        if self._introduced and self._identity is not None:
            return self._identity
        return await self._meeting.wait(timeout)

    async def close(self) -> None:
        await self._port.close()
        self._fail_waiting(LinkLost("The connection was closed.", where=self.url))
        self._cancel_info_alarm()
        self._events.close(LinkLost("The connection was closed.", where=self.url))

    async def next_event(self) -> MachineEvent:
        """The next event; raises LinkLost only after ``close``."""
        return await self._events.get()

    async def _take(self, event: PortEvent) -> None:
        match event:
            case PortMessage(message=message):
                await self._on_message(message)
            case PortUp(hello=hello):
                self._on_up(hello)
            case PortDown(error=error, final=final):
                await self._on_down(error.what)
                if final:
                    self._meeting.failed(error)

    def _on_up(self, hello: Hello) -> None:
        self._hello = hello
        self._introduced = False
        self._early.clear()
        self._cancel_info_alarm()
        loop = asyncio.get_running_loop()
        self._info_alarm = loop.call_later(self._info_timeout, self._no_introduction)

    def _no_introduction(self) -> None:
        self._reject(not_introduced(self.url))

    def _reject(self, error: DeviceError) -> None:
        """The machine can't be used as it is: whoever connects hears of it, and later attempts begin anew."""
        self._meeting.failed(error)
        self._port.give_up(error)

    async def _on_down(self, reason: str) -> None:
        self._cancel_info_alarm()
        was_up, self._introduced = self._introduced, False
        self._early.clear()
        if was_up:
            await self._events.put(Disconnected(reason))

    async def _on_info(self, info: MachineInfo) -> None:
        hello = self._hello
        if hello is None or self._introduced:
            return
        self._cancel_info_alarm()
        before = self._identity
        order = tuple(info.pocket_order)
        if sorted(order) != [0, 1, 2, 3]:
            self._reject(
                DeviceError(
                    "The machine names its pockets in an order that can't be.",
                    where=self.url,
                    next_step="Check the pocket order in the machine's settings.",
                    code="bad-pocket-order",
                )
            )
            return
        self._identity = MachineIdentity(
            device_id=hello.device_id,
            model=hello.model,
            firmware=hello.firmware,
            boot_id=hello.boot_id,
            capabilities=Capability(hello.capabilities & _KNOWN_CAPABILITIES),
            pocket_order=(order[0], order[1], order[2], order[3]),
            card_ms=info.card_ms,
            margin_min=info.margin_min,
        )
        restarted = before is not None and (before.boot_id, before.device_id) != (hello.boot_id, hello.device_id)
        self._introduced = True
        if restarted:
            self._fail_waiting(
                LinkLost("The machine started anew before it answered.", where=self.url, next_step=_ASK_AGAIN)
            )
        await self._events.put(Connected(self._identity, restarted))
        early, self._early = self._early, []
        for event in early:
            await self._events.put(event)
        self._send_again()
        self._meeting.met(self._identity)

    def _send_again(self) -> None:
        for waiting in (*self._commands.values(), *self._reports, *self._snapshots):
            if not waiting.answer.done():
                waiting.handed_over = False
                self._hand_over(waiting)

    def _cancel_info_alarm(self) -> None:
        if self._info_alarm is not None:
            self._info_alarm.cancel()
            self._info_alarm = None

    # --- requests ------------------------------------------------------------------------------------------------

    async def arm(self, order: Armed) -> CommandReply:
        return await self._command(
            lambda number: Arm(number, order.job_id, order.board, order.copy, order.routing, order.digest)
        )

    async def start(self, order: Armed) -> CommandReply:
        """Deal the armed board. The machine refuses if it has started anew since this driver last greeted it."""
        boot = self._known().boot_id
        return await self._command(
            lambda number: Start(number, order.job_id, order.board, order.copy, boot, order.digest)
        )

    async def pause(self, job_id: int) -> CommandReply:
        return await self._command(lambda number: Pause(number, job_id))

    async def resume(self, job_id: int, next_index: int) -> CommandReply:
        return await self._command(lambda number: Resume(number, job_id, next_index))

    async def abort(self, job_id: int) -> CommandReply:
        return await self._command(lambda number: Abort(number, job_id))

    async def read_board(self, job_id: int, board: int, copy: int) -> CommandReply:
        return await self._command(lambda number: ReadBoard(number, job_id, board, copy))

    async def report(self, job_id: int) -> JobReport:
        waiting = self._waiting(Report(job_id))
        self._reports.append(waiting)
        try:
            answer = await self._ask(waiting)
        finally:
            _forget(self._reports, waiting)
        assert isinstance(answer, ReportData)
        return report_of(answer)

    async def snapshot(self) -> MachineSnapshot:
        waiting = self._waiting(Snapshot())
        self._snapshots.append(waiting)
        try:
            answer = await self._ask(waiting)
        finally:
            _forget(self._snapshots, waiting)
        assert isinstance(answer, MachineState)
        return snapshot_of(answer)

    async def display(self, action: Action, board: int, copy: int, sound: Sound, text: str) -> None:
        """Show ``text`` (at most 255 bytes of UTF-8, longer ones are cut) if the machine has a display."""
        if Capability.DISPLAY in self._known().capabilities:
            await self._port.send(Display(int(action), board, copy, int(sound), fit_text(text)))

    def _known(self) -> MachineIdentity:
        if self._identity is None or not self._introduced:
            raise self._port.not_connected()
        return self._identity

    def _waiting(self, message: Message) -> _Waiting:
        self._known()
        return _Waiting(message, asyncio.get_running_loop().create_future())

    async def _command(self, build: Callable[[int], Message]) -> CommandReply:
        number = self._rng.getrandbits(64) or 1
        waiting = self._waiting(build(number))
        self._commands[number] = waiting
        try:
            answer = await self._ask(waiting)
        finally:
            self._commands.pop(number, None)
        assert isinstance(answer, CommandReply)
        return answer

    async def _ask(self, waiting: _Waiting) -> object:
        """Send and wait. A loss of the link, or a full queue, is waited out within the time limit."""
        try:
            async with asyncio.timeout(self._answer_timeout):
                while not self._hand_over(waiting):
                    await self._port.room()
                return await waiting.answer
        except TimeoutError:
            name = BY_CLASS[type(waiting.message)].name
            if not self._introduced:
                raise LinkLost(
                    f"The link broke before the machine answered {name}.", where=self.url, next_step=_ASK_AGAIN
                ) from None
            raise DeviceError(
                f"The machine does not answer {name}.",
                where=self.url,
                next_step="Look at the machine's display; switch it off and on if it stands still.",
                code="no-answer",
            ) from None

    def _hand_over(self, waiting: _Waiting) -> bool:
        """False while the queue is full. Once is enough: what a session took is repeated until it is acknowledged."""
        if not waiting.handed_over:
            try:
                self._port.send_now(waiting.message)
            except QueueFull:
                return False
            except LinkLost:
                pass  # it stays among those that wait, and goes out with the next session
            waiting.handed_over = True
        return True

    def _fail_waiting(self, error: LinkLost) -> None:
        for waiting in (*self._commands.values(), *self._reports, *self._snapshots):
            if not waiting.answer.done():
                waiting.answer.set_exception(error)

    # --- messages ------------------------------------------------------------------------------------------------

    async def _on_message(self, message: Message) -> None:
        match message:
            case MachineInfo():
                await self._on_info(message)
            case CommandResult():
                waiting = self._commands.get(message.command_id)
                if waiting is not None and not waiting.answer.done():
                    waiting.answer.set_result(reply_of(message))
            case ReportData():
                _answer_first(self._reports, message, lambda asked: asked == Report(message.job_id))
            case MachineState():
                _answer_first(self._snapshots, message, lambda asked: True)
            case Nak():
                self._on_nak(message)
            case _:
                event = event_of(message)
                if event is None:
                    return
                if isinstance(event, MachineFault):
                    self._port.dump(f"the machine reports {event.fault.name}")
                if self._introduced:
                    await self._events.put(event)
                elif len(self._early) < EVENT_LIMIT:
                    self._early.append(event)

    def _on_nak(self, nak: Nak) -> None:
        """The machine does not know this kind: a command counts as refused, a question can't be answered."""
        for waiting in (*self._commands.values(), *self._reports, *self._snapshots):
            kind = BY_CLASS[type(waiting.message)].kind
            if kind != nak.kind or waiting.answer.done():
                continue
            if kind in (BY_CLASS[Report].kind, BY_CLASS[Snapshot].kind):
                waiting.answer.set_exception(
                    DeviceError(
                        f"The machine's firmware does not know {BY_CLASS[type(waiting.message)].name}.",
                        where=self.url,
                        next_step="Update its firmware.",
                        code="unsupported",
                    )
                )
            else:
                waiting.answer.set_result(CommandReply(Outcome.REFUSED, CommandReason.UNSUPPORTED, replayed=False))
            return


_ASK_AGAIN = "What the machine did is not known; ask it before going on."

_KNOWN_CAPABILITIES = sum(int(member) for member in Capability)


def _forget(queue: deque[_Waiting], waiting: _Waiting) -> None:
    if waiting in queue:
        queue.remove(waiting)


def _answer_first(queue: deque[_Waiting], answer: Message, fits: Callable[[Message], bool]) -> None:
    for waiting in queue:
        if not waiting.answer.done() and fits(waiting.message):
            waiting.answer.set_result(answer)
            return
