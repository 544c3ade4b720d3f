"""The dealing machine's own program: what it believes, what it answers, how it deals (docs/protocol.md, 0x20 to 0x38).

It sees the world only through its sensors and knows only what they told it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

from hwsim import codec, messages
from hwsim.agenda import Agenda
from hwsim.machine.dealing import Dealing
from hwsim.machine.interlocks import CHECKS, PACK, RUNNING, check_board
from hwsim.machine.mechanics import Mechanics
from hwsim.machine.nonvolatile import Command, NonVolatile
from hwsim.machine.parts import Job, Panel, Sensors
from hwsim.machine.profile import Profile
from hwsim.messages import Fields
from hwsim.numbers import (
    UNKNOWN,
    Action,
    Capability,
    FaultCode,
    Hopper,
    Kind,
    Outcome,
    Reason,
    Role,
    Segment,
    State,
)

ACCEPTS = frozenset(CHECKS) | {Kind.REPORT, Kind.SNAPSHOT, Kind.DISPLAY}
FIRMWARE = "hwsim 1.0"


class Firmware(Dealing):
    """``send(kind, fields)`` queues a message for the host; it is lost without a session."""

    def __init__(
        self,
        nv: NonVolatile,
        profile: Profile,
        mechanics: Mechanics,
        sensors: Sensors,
        panel: Panel,
        agenda: Agenda,
        boot_id: int,
        send: Callable[[int, Fields], bool],
        may_feed: Callable[[], bool],
    ) -> None:
        super().__init__(nv, profile, mechanics, sensors, panel, agenda, boot_id, send, may_feed)
        panel.hopper_empty = self._hopper == Hopper.EMPTY
        mechanics.listener = self

    # -- link ---------------------------------------------------------------------------------------------------------

    def hello(self, session: int, window: int) -> Fields:
        return {
            "proto_min": codec.VERSION,
            "proto_max": codec.VERSION,
            "role": Role.MACHINE,
            "window": window,
            "max_frame": codec.MAX_FRAME,
            "device_id": self.nv.device_id,
            "boot_id": self.boot_id,
            "boot_count": self.nv.boot_count,
            "journal_id": 0,
            "oldest_unacked": 0,
            "next_seq": 0,
            "capabilities": self.profile.capabilities,
            "session": session,
            "model": self.profile.model,
            "firmware": FIRMWARE,
            "commands": [c.id for c in self.nv.commands],
        }

    def session_up(self) -> None:
        info = {
            "pocket_order": bytes(self.profile.pocket_order),
            "reader": self.profile.reader,
            "card_ms": max(1, round(self.profile.card_time * 1000)),
            "margin_min": self.profile.margin_min if self.profile.can(Capability.MARGIN) else 0,
        }
        self._send(Kind.MACHINE_INFO, info)
        if self.profile.can(Capability.PACK_COLOUR):
            self._send(Kind.PACK, {"colour": self.sensors.back()})
        if self._unsent_fault is not None and self._send(Kind.FAULT, self._unsent_fault):
            self._unsent_fault = None

    def session_down(self) -> None:
        if self.state in (State.DEALING, State.READING):
            self._stop(FaultCode.HOST_LOST, Segment.NONE, True, Action.NONE)

    def message(self, kind: int, fields: Fields) -> None:
        if kind in CHECKS:
            self._command(kind, fields)
        elif kind == Kind.SNAPSHOT:
            self._send(Kind.MACHINE_STATE, self._snapshot())
        elif kind == Kind.REPORT:
            past = self.nv.jobs.get(fields["job_id"])
            placed = [card | pocket << 8 for card, pocket in past.placed] if past else []
            state = past.state if past else State.IDLE
            report = {"job_id": fields["job_id"], "known": int(past is not None), "state": state, "placed": placed}
            self._send(Kind.REPORT_DATA, report)
        elif kind == Kind.DISPLAY:
            panel = self._panel
            panel.action, panel.board, panel.copy = fields["action"], fields["board"], fields["copy"]
            panel.text, panel.sound = fields["text"], fields["sound"]
            panel.changes += 1

    def _snapshot(self) -> Fields:
        return {
            "state": self.state,
            "board_in": int(self.sensors.seated()),
            "cover_closed": int(self.sensors.cover_closed()),
            "hopper": self.sensors.hopper(),
            "label": self.label(),
            "orientation": self.orientation(),
            "counts": bytes(self.counts),
            "job_id": self.job.id if self.job else 0,
            "boot_id": self.boot_id,
        }

    def label(self) -> int:
        return self.sensors.label() if self.profile.can(Capability.LABEL) else 0

    def orientation(self) -> int:
        seen = self.profile.can(Capability.ORIENTATION) and self.sensors.seated()
        return self.sensors.orientation() if seen else UNKNOWN

    # -- commands -----------------------------------------------------------------------------------------------------

    def _command(self, kind: int, fields: Fields) -> None:
        command_id = fields["command_id"]
        crc = zlib.crc32(bytes([kind]) + messages.encode(kind, fields)[8:])
        known = self.nv.recall(command_id)
        if known is not None:
            if known.crc == crc:
                self._result(command_id, known.outcome, known.reason, 1)
            else:
                self._result(command_id, Outcome.REFUSED, Reason.ID_REUSED, 0)
            return
        act = {
            Kind.ARM: self._arm,
            Kind.START: self._start,
            Kind.PAUSE: self._pause,
            Kind.RESUME: self._resume,
            Kind.ABORT: self._abort,
            Kind.READ_BOARD: self._read_board,
        }[Kind(kind)]
        reason = CHECKS[kind](self, fields)
        outcome = Outcome.DONE if reason == Reason.NONE else Outcome.REFUSED
        self.nv.remember(Command(command_id, crc, outcome, reason))
        self._result(command_id, outcome, reason, 0)
        if outcome == Outcome.DONE:
            act(fields)

    def _check_board(self, board: int) -> Reason:
        return check_board(self, board)

    def _result(self, command_id: int, outcome: int, reason: int, replayed: int) -> None:
        values = {"command_id": command_id, "outcome": outcome, "reason": reason, "replayed": replayed}
        self._send(Kind.COMMAND_RESULT, values)

    def _arm(self, f: Fields) -> None:
        routing = messages.unpack_routing(f["routing"])
        self.job = Job(f["job_id"], f["board"], f["copy"], routing, f["digest"])
        self.nv.begin_job(self.job.id, State.ARMED)
        self._set_state(State.ARMED)

    def _start(self, f: Fields) -> None:
        self.fault = None
        self._set_state(State.DEALING)
        self._mechanics.start()

    def _pause(self, f: Fields) -> None:
        self._mechanics.stop()
        self._pausing = True
        self._settle()

    def _resume(self, f: Fields) -> None:
        assert self.job is not None
        self.fault = None
        self._set_state(State.DEALING)
        if self.job.fed < PACK:
            self._mechanics.start()
        else:
            self._settle()

    def _abort(self, f: Fields) -> None:
        self._mechanics.stop()
        if self.job is not None and self.state != State.FINISHED:
            self.nv.set_state(self.job.id, State.STOPPED)
        self._drop_job()

    def _drop_job(self) -> None:
        self.job = None
        self.fault = None
        self._pausing = False
        self._set_state(State.IDLE)

    def _read_board(self, f: Fields) -> None:
        self.job = Job(f["job_id"], f["board"] or self.label(), f["copy"], [], b"")
        self.nv.begin_job(self.job.id, State.READING)
        self.counts = [0, 0, 0, 0]
        self.fault = None
        self._set_state(State.READING)
        self._mechanics.read_back()

    # -- what happens at the machine ----------------------------------------------------------------------------------

    def on_hopper(self) -> None:
        state = self.sensors.hopper()
        self._panel.hopper_empty = state == Hopper.EMPTY
        if state != self._hopper:
            self._hopper = state
            self._send(Kind.HOPPER, {"hopper": state})
        back = self.sensors.back()
        if self.profile.can(Capability.PACK_COLOUR) and back != self._back:
            self._back = back
            self._send(Kind.PACK, {"colour": back})

    def on_board(self) -> None:
        """The board switch has changed."""
        seated = self.sensors.seated()
        self._send(Kind.BOARD, {"seated": int(seated), "label": self.label(), "orientation": self.orientation()})
        if seated:
            return
        self.counts = [0, 0, 0, 0]
        if self.state in RUNNING:
            self._stop(FaultCode.BOARD_PULLED, Segment.POCKET, False, Action.COLLECT_CARDS)
        elif self.state != State.IDLE:
            self._drop_job()

    def on_cover(self) -> None:
        if self.sensors.cover_closed() or self.state not in RUNNING:
            return
        stuck = bool(self.flight)
        self._mechanics.freeze()
        self.flight.clear()
        self._stop(FaultCode.COVER_OPEN, Segment.NONE, not stuck, Action.CLOSE_COVER)

    def on_key(self) -> None:
        """The operator pressed the key that confirms the board on the display."""
        if self.profile.can(Capability.KEY):
            self._send(Kind.CONFIRMED, {"board": self._panel.board, "copy": self._panel.copy})
