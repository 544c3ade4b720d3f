"""The home-built machine's own program: what it answers, when it may move, what it remembers (docs/protocol.md 20-38).

Sans-IO: messages, sensor changes, card reads and time go in; messages and motor settings come out. The journal is
written before anything is answered or moved. Motors stop when the cover opens, the board is pulled or the host is gone.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from drivers.api import CardRead
from drivers.gpio_machine.interlocks import PACK, Command, Situation, deal_digest, objection
from drivers.gpio_machine.introduction import hello_of, info_of
from drivers.gpio_machine.journal import JobRecord, Journal, Remembered
from drivers.gpio_machine.settings import MachineSettings
from drivers.gpio_machine.sorter import AtReader, Phase, Placed, ReadyForNext, Sorter, Trouble, TurnChecked
from firmware_bridge.wire.messages import (
    BY_CLASS,
    Abort,
    Arm,
    BoardEvent,
    CardEvent,
    CommandResult,
    Confirmed,
    Display,
    Done,
    FaultEvent,
    Hello,
    HopperEvent,
    MachineState,
    Message,
    Pause,
    ReadBoard,
    Report,
    ReportData,
    Resume,
    Snapshot,
    Start,
    encode,
)
from firmware_bridge.wire.numbers import (
    Action,
    CardCode,
    CommandReason,
    Fault,
    Hopper,
    MachineStateCode,
    Orientation,
    Outcome,
    Segment,
)

HAND = 13
UNKNOWN = 255
ACCEPTS = (Arm, Start, Pause, Resume, Abort, ReadBoard, Report, Snapshot, Display)

_ADVICE = {
    Fault.JAM: Action.CLEAR_JAM,
    Fault.MISFEED: Action.LOAD_PACK,
    Fault.HOPPER_EMPTY: Action.COLLECT_CARDS,
    Fault.FOREIGN_CARD: Action.REPLACE_PACK,
    Fault.BOARD_PULLED: Action.RETURN_BOARD,
    Fault.COVER_OPEN: Action.CLOSE_COVER,
    Fault.HOST_LOST: Action.NONE,
    Fault.STOPPED_BY_KEY: Action.NONE,
}


class Controller:
    """``send(message)`` hands a message to the link; it returns False while there is no host."""

    def __init__(
        self,
        settings: MachineSettings,
        journal: Journal,
        sorter: Sorter,
        senses: Callable[[str], bool],
        send: Callable[[Message], bool],
        boot_id: int,
        now: float,
    ) -> None:
        self._settings = settings
        self._journal = journal
        self._sorter = sorter
        self._senses = senses
        self._send = send
        self._boot_id = boot_id
        self._started = now
        self._has = frozenset(settings.inputs)
        self.state = MachineStateCode.IDLE
        self._armed: Arm | None = None
        self._resumable = False
        self._counts = [0, 0, 0, 0]
        self._reading: CardRead | None = None
        self._reads = 0
        self._stop_after: Fault | None = None
        self._unsent: FaultEvent | None = None
        self._shown = (0, 0)
        self._displays: deque[Display] = deque(maxlen=8)
        self.wants_reading = False
        journal.save(replace(journal.memory, boot_count=journal.memory.boot_count + 1))

    # --- the link ------------------------------------------------------------------------------------------------

    def hello(self, session: int, window: int, version: int) -> Hello:
        return hello_of(self._settings, self._journal.memory, self._boot_id, session, window, version)

    def host_came(self) -> None:
        self._send(info_of(self._settings))
        if self._unsent is not None and self._send(self._unsent):
            self._unsent = None

    def host_gone(self) -> None:
        """Nobody watches any more: stop after the card in flight."""
        if self.state is MachineStateCode.DEALING:
            self._stop_after_card(Fault.HOST_LOST)

    def next_display(self) -> Display | None:
        """What the operator should see next, for a display of the machine's own."""
        return self._displays.popleft() if self._displays else None

    def on_message(self, message: Message, now: float) -> None:
        match message:
            case Arm() | Start() | Pause() | Resume() | Abort() | ReadBoard():
                self._on_command(message, now)
            case Snapshot():
                self._send(self._snapshot())
            case Report():
                self._send(self._report(message.job_id))
            case Display():
                self._shown = (message.board, message.copy)
                self._displays.append(message)

    def _snapshot(self) -> MachineState:
        return MachineState(
            state=self.state,
            board_in=int(self._senses("board")),
            cover_closed=int(self._senses("cover")),
            hopper=self._hopper(),
            label=0,
            orientation=Orientation.UNKNOWN,
            counts=bytes(min(255, count) for count in self._counts),
            job_id=self._armed.job_id if self._armed else 0,
            boot_id=self._boot_id,
        )

    def _report(self, job_id: int) -> ReportData:
        job = self._journal.memory.job(job_id)
        if job is None:
            return ReportData(job_id, 0, MachineStateCode.IDLE, ())
        return ReportData(job_id, 1, job.state, tuple(card | pocket << 8 for card, pocket in job.placed))

    def _hopper(self) -> Hopper:
        # Without a sensor the hopper counts as loaded: the feeder finds out.
        return Hopper.LOADED if "hopper" not in self._has or self._senses("hopper") else Hopper.EMPTY

    # --- commands ------------------------------------------------------------------------------------------------

    def _on_command(self, message: Command, now: float) -> None:
        crc = zlib.crc32(bytes([BY_CLASS[type(message)].kind]) + encode(message)[8:])
        known = self._journal.memory.recall(message.command_id)
        if known is not None:
            if known.crc == crc:
                self._send(CommandResult(message.command_id, known.outcome, known.reason, 1))
            else:
                self._send(CommandResult(message.command_id, Outcome.REFUSED, CommandReason.ID_REUSED, 0))
            return
        reason = objection(message, self._situation())
        outcome = Outcome.DONE if reason is CommandReason.NONE else Outcome.REFUSED
        memory = self._journal.memory.with_command(Remembered(message.command_id, crc, outcome, reason))
        if outcome is Outcome.DONE and isinstance(message, Arm):
            memory = memory.with_job(JobRecord(message.job_id))
        self._journal.save(memory)
        self._send(CommandResult(message.command_id, outcome, reason, 0))
        if outcome is Outcome.DONE:
            self._do(message, now)

    def _situation(self) -> Situation:
        return Situation(
            state=self.state,
            armed=self._armed,
            boot_id=self._boot_id,
            board_in=self._senses("board"),
            cover_closed=self._senses("cover"),
            hopper_empty=self._hopper() is Hopper.EMPTY,
            pockets_empty=not any(self._counts),
            in_flight=self._sorter.in_flight,
            placed=len(self._placed()),
            stopping=self._stop_after is not None,
            resumable=self._resumable,
        )

    def _do(self, message: Command, now: float) -> None:
        match message:
            case Arm():
                self._armed = message
                self.state = MachineStateCode.ARMED
            case Start() | Resume():
                self._stop_after = None
                self._resumable = False
                self._set_state(MachineStateCode.DEALING)
                self._next_card(now)
            case Pause():
                self._stop_after = Fault.NONE
            case Abort():
                self._sorter.halt()
                self.wants_reading = False
                if self.state is not MachineStateCode.FINISHED:
                    self._set_state(MachineStateCode.STOPPED)
                self._armed = None
                self._stop_after = None
                self.state = MachineStateCode.IDLE

    # --- dealing -------------------------------------------------------------------------------------------------

    def on_sorter(self, now: float) -> None:
        """Take what the moving parts have to tell."""
        while self._sorter.events:
            event = self._sorter.events.popleft()
            match event:
                case AtReader():
                    self.wants_reading = True
                case Placed():
                    self._on_placed(event, now)
                case ReadyForNext():
                    self._next_card(now)
                case TurnChecked():
                    self._finish()
                case Trouble():
                    if event.fault in (Fault.MISFEED, Fault.JAM) and event.in_flight == 0:
                        self._stop(event.fault, event.segment, 0, resumable=event.fault is Fault.MISFEED)
                    else:
                        self._stop(event.fault, event.segment, event.in_flight, resumable=False)

    def on_reading(self, reading: CardRead, now: float) -> None:
        """What the reader saw of the card that lies there."""
        self.wants_reading = False
        if self._sorter.phase is not Phase.READING or self._armed is None:
            return
        doubtful = reading.best == CardCode.UNKNOWN or reading.margin < self._settings.margin_min
        if doubtful and reading.best != CardCode.JOKER and self._reads < self._settings.read_retries:
            self._reads += 1
            self._sorter.read_again(now)
            return
        fault = Fault.NONE
        if reading.best == CardCode.JOKER:
            fault = Fault.FOREIGN_CARD
        elif doubtful or reading.best >= PACK:
            fault = Fault.UNREADABLE
        elif any(card == reading.best for card, _ in self._placed()):
            fault = Fault.DUPLICATE_CARD
        elif sum(pocket == self._wanted(reading.best) for _, pocket in self._placed()) >= HAND:
            fault = Fault.POCKET_FULL
        if fault is not Fault.NONE:
            self._stop(fault, Segment.READER, 1, resumable=False)
            return
        self._reading = reading
        self._sorter.send_to(self._wanted(reading.best), now)

    def on_input(self, name: str, active: bool, now: float) -> None:
        """A switch or key changed."""
        if name == "cover" and not active and self._moving():
            self._stop(Fault.COVER_OPEN, Segment.NONE, self._sorter.in_flight, resumable=self._sorter.in_flight == 0)
        elif name == "board":
            if not active:
                if self._moving() or self.state is MachineStateCode.PAUSED:
                    self._stop(Fault.BOARD_PULLED, Segment.POCKET, self._sorter.in_flight, resumable=False)
                elif self.state in (MachineStateCode.ARMED, MachineStateCode.FINISHED):
                    # Pulling the board disarms: what comes next into the slot may be another board.
                    self._armed = None
                    self.state = MachineStateCode.IDLE
            self._counts = [0, 0, 0, 0]
            self._send(BoardEvent(int(active), 0, Orientation.UNKNOWN))
        elif name == "hopper":
            self._send(HopperEvent(self._hopper()))
        elif name == "stop_button" and active and self.state is MachineStateCode.DEALING:
            self._stop_after_card(Fault.STOPPED_BY_KEY)
        elif name == "key" and active:
            self._send(Confirmed(*self._shown))

    def emergency(self, fault: Fault = Fault.SENSOR) -> None:
        """Something failed that must not: everything off, whatever was going on."""
        if self._moving():
            self._stop(fault, Segment.NONE, self._sorter.in_flight, resumable=False)
        else:
            self._sorter.halt()

    def _moving(self) -> bool:
        return self.state is MachineStateCode.DEALING

    def _placed(self) -> tuple[tuple[int, int], ...]:
        job = self._journal.memory.job(self._armed.job_id) if self._armed else None
        return job.placed if job is not None else ()

    def _wanted(self, card: int) -> int:
        assert self._armed is not None
        return self._armed.routing[card // 4] >> 2 * (card % 4) & 3

    def _set_state(self, state: MachineStateCode) -> None:
        self.state = state
        if self._armed is not None:
            job = self._journal.memory.job(self._armed.job_id)
            if job is not None and job.state != state:
                self._journal.save(self._journal.memory.with_job(replace(job, state=state)))

    def _next_card(self, now: float) -> None:
        if self.state is not MachineStateCode.DEALING:
            return
        if self._stop_after is not None:
            fault, self._stop_after = self._stop_after, None
            if fault is Fault.NONE:
                self._set_state(MachineStateCode.PAUSED)
            else:
                self._stop(fault, Segment.NONE, 0, resumable=True)
        elif len(self._placed()) < PACK:
            self._reads = 0
            self._sorter.feed(now)

    def _on_placed(self, event: Placed, now: float) -> None:
        reading, armed = self._reading, self._armed
        if reading is None or armed is None:
            return
        self._reading = None
        wanted = self._wanted(reading.best)
        pocket = event.seen if event.seen != UNKNOWN else wanted
        job = self._journal.memory.job(armed.job_id) or JobRecord(armed.job_id)
        index = len(job.placed)
        self._journal.save(self._journal.memory.with_job(replace(job, placed=(*job.placed, (reading.best, pocket)))))
        self._counts[pocket] += 1
        self._send(
            CardEvent(
                job_id=armed.job_id,
                index=index,
                raw=reading.raw & 0xFFFF,
                best=reading.best,
                runner_up=reading.runner_up,
                margin=reading.margin,
                wanted=wanted,
                confirmed=event.seen,
                beam_ms=_clamp(event.beam * 10_000),
                at_ms=int((event.fed_at - self._started) * 1000) & 0xFFFFFFFF,
                read_ms=_clamp((event.read_at - event.fed_at) * 1000),
                exit_ms=_clamp((event.exit_at - event.fed_at) * 1000),
            )
        )
        if pocket != wanted:
            self._stop(Fault.GATE, Segment.GATES, 0, resumable=False)
        elif index + 1 == PACK:
            self._last_card(now)

    def _last_card(self, now: float) -> None:
        if "hopper" in self._has and self._hopper() is not Hopper.EMPTY:
            self._stop(Fault.EXTRA_CARD, Segment.HOPPER, 0, resumable=False)
        elif self._sorter.places_unseen:
            self._sorter.check_turn(now)
        else:
            self._finish()

    def _finish(self) -> None:
        armed = self._armed
        if armed is None or self.state is not MachineStateCode.DEALING or len(self._placed()) != PACK:
            return
        self._sorter.halt()
        self._stop_after = None
        self._set_state(MachineStateCode.FINISHED)
        routing = bytearray(HAND)
        for card, pocket in self._placed():
            routing[card // 4] |= pocket << 2 * (card % 4)
        digest = deal_digest(armed.board, bytes(routing))
        self._send(Done(armed.job_id, armed.board, armed.copy, PACK, bytes(self._counts), digest))

    def _stop_after_card(self, fault: Fault) -> None:
        if self._stop_after is None:
            self._stop_after = fault

    def _stop(self, fault: Fault, segment: Segment, in_flight: int, *, resumable: bool) -> None:
        """Everything off; the host hears of it now or as soon as it is back."""
        self._sorter.halt()
        self._sorter.events.clear()
        self.wants_reading = False
        self._reading = None
        self._stop_after = None
        self._resumable = resumable
        self._set_state(MachineStateCode.STOPPED)
        action = _ADVICE.get(fault, Action.COLLECT_CARDS)
        job_id = self._armed.job_id if self._armed else 0
        event = FaultEvent(job_id, fault, segment, in_flight, int(resumable), action)
        if not self._send(event):
            self._unsent = event


def _clamp(value: float) -> int:
    return min(65535, max(0, int(value + 0.5)))
