"""How the machine's firmware deals: card by card by what its sensors tell, until DONE or the first fault.

It knows nothing of the world but its sensors. What the host asks for is in ``firmware``.
"""

from __future__ import annotations

from collections.abc import Callable

from hwsim import messages
from hwsim.agenda import Agenda
from hwsim.machine.interlocks import PACK, RUNNING
from hwsim.machine.mechanics import Mechanics, Transit
from hwsim.machine.nonvolatile import NonVolatile
from hwsim.machine.parts import Job, Panel, Sensors
from hwsim.machine.profile import Profile
from hwsim.messages import Fields
from hwsim.numbers import JOKER, UNKNOWN, Action, Capability, FaultCode, Hopper, Kind, Segment, State

HAND = 13


class Dealing:
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
        self.nv = nv
        self.profile = profile
        self._mechanics = mechanics
        self.sensors = sensors
        self._panel = panel
        self._agenda = agenda
        self.boot_id = boot_id
        self._send = send
        self.may_feed = may_feed
        self._started = agenda.now
        self.state = State.IDLE
        self.job: Job | None = None
        self.counts = [0, 0, 0, 0]
        self.flight: list[Transit] = []
        self.fault: Fields | None = None
        self._pausing = False
        self._unsent_fault: Fields | None = None
        self._hopper = sensors.hopper()
        self._back = sensors.back()

    def _set_state(self, state: State) -> None:
        self.state = state
        running = state in (State.DEALING, State.READING)
        self._panel.runs += running and not self._panel.running
        self._panel.running = running
        self._panel.armed = state == State.ARMED
        if self.job is not None:
            self.nv.set_state(self.job.id, state)

    def on_fed(self, transit: Transit) -> None:
        if self.job is not None:
            self.job.fed += 1
            self.flight.append(transit)
            if self.job.fed >= PACK:
                self._mechanics.stop()

    def on_read(self, transit: Transit) -> int:
        job = self.job
        if job is None:
            return UNKNOWN
        card = transit.reading.best
        margin = self.profile.can(Capability.MARGIN)
        beam = round(4000 * self._mechanics.true_card_time)
        if self.profile.can(Capability.BEAM) and transit.beam > 1.4 * beam:
            self._stop(FaultCode.DOUBLE_FEED, Segment.READER, False, Action.COLLECT_CARDS)
        if card == JOKER:
            self._stop(FaultCode.FOREIGN_CARD, Segment.READER, False, Action.REPLACE_PACK)
            return UNKNOWN
        if card == UNKNOWN:
            self._stop(FaultCode.UNREADABLE, Segment.READER, False, Action.COLLECT_CARDS)
            return UNKNOWN
        if margin and transit.reading.margin < self.profile.margin_min:
            self._stop(FaultCode.UNREADABLE, Segment.READER, False, Action.COLLECT_CARDS)
        if card in job.seen:
            self._stop(FaultCode.DUPLICATE_CARD, Segment.READER, False, Action.COLLECT_CARDS)
        job.seen.add(card)
        pocket = job.routing[card]
        job.routed[pocket] += 1
        if job.routed[pocket] > HAND:
            self._stop(FaultCode.POCKET_FULL, Segment.POCKET, False, Action.COLLECT_CARDS)
        return pocket

    def on_exit(self, transit: Transit) -> None:
        exits = self.profile.can(Capability.EXIT)
        # Without an exit sensor the machine believes its deflectors: where none is lifted a card runs to the end.
        sent = transit.wanted if transit.wanted < 4 else self.profile.pocket_order[3]
        pocket = transit.seen if transit.seen < 4 else sent
        if self.sensors.seated():
            self.counts[pocket] += 1
        if self.job is None:
            # One that overtook it may have been waiting to be told after it.
            self.flight = [other for other in self.flight if not other.gone]
            return
        if exits and transit.wanted < 4 and transit.seen != transit.wanted:
            self._stop(FaultCode.GATE, Segment.GATES, False, Action.COLLECT_CARDS)
        while self.flight and self.flight[0].gone:
            self._report_card(self.flight.pop(0))
        self._settle()

    def _report_card(self, transit: Transit) -> None:
        job = self.job
        assert job is not None
        reading = transit.reading
        pocket = transit.seen if transit.seen < 4 else transit.wanted
        job.placed.append((reading.best, pocket))
        self.nv.place(job.id, reading.best, pocket)
        ms = 1000
        card = {
            "job_id": job.id,
            "index": job.reported & 0xFF,
            "raw": reading.raw,
            "best": reading.best,
            "runner_up": reading.runner_up,
            "margin": reading.margin,
            "wanted": transit.wanted,
            "confirmed": transit.seen,
            "beam_ms": transit.beam if self.profile.can(Capability.BEAM) else 0,
            "at_ms": int((transit.fed_at - self._started) * ms) & 0xFFFFFFFF,
            "read_ms": min(0xFFFF, round((transit.read_at - transit.fed_at) * ms)),
            "exit_ms": min(0xFFFF, round((transit.exit_at - transit.fed_at) * ms)),
        }
        job.reported += 1
        self._send(Kind.CARD, card)

    def on_jam(self, transit: Transit) -> None:
        self.flight.remove(transit)  # it moves no more, whether or not the job is still wanted
        job = self.job
        if job is None:
            return
        job.fed -= 1
        self._stop(FaultCode.JAM, Segment.READER, True, Action.CLEAR_JAM)
        self._settle()

    def on_no_card(self, slipped: bool) -> None:
        if self.job is None:
            return
        if slipped:
            self._stop(FaultCode.MISFEED, Segment.HOPPER, True, Action.LOAD_PACK)
        else:
            self._stop(FaultCode.HOPPER_EMPTY, Segment.HOPPER, False, Action.COLLECT_CARDS)
        self._settle()

    def on_read_back(self, transit: Transit) -> None:
        if self.job is None or self.state != State.READING:
            return
        self.job.fed += 1
        self.counts[transit.seen] += 1
        self._report_card(transit)

    def on_read_back_end(self) -> None:
        if self.job is not None and self.state == State.READING:
            self._done()

    def _stop(self, fault: FaultCode, segment: Segment, recoverable: bool, action: Action) -> None:
        """Stop the feeder; FAULT follows when all is at rest. The first cause counts, unless it could be cured."""
        self._mechanics.stop()
        if self.job is None:
            return
        if self.fault is None or (self.fault["recoverable"] and not recoverable):
            self.fault = {
                "job_id": self.job.id,
                "fault": fault,
                "segment": segment,
                "in_flight": 0,
                "recoverable": int(recoverable),
                "action": action,
            }
        if self.state == State.READING or fault in (FaultCode.BOARD_PULLED, FaultCode.COVER_OPEN, FaultCode.HOST_LOST):
            self._settle()

    def _settle(self) -> None:
        """Called when something may have come to rest."""
        job = self.job
        if job is None or self.flight:
            return
        if self.fault is not None and self.state in RUNNING:
            self._pausing = False
            fault = self.fault
            fault["in_flight"] = min(255, self.sensors.on_belt())
            job.resumable = bool(fault["recoverable"]) and self.state != State.READING
            fault["recoverable"] = int(job.resumable)
            self._set_state(State.STOPPED)
            if not self._send(Kind.FAULT, fault):
                self._unsent_fault = fault
        elif self._pausing:
            self._pausing = False
            if job.fed >= PACK:
                self._finish()
            else:
                self._set_state(State.PAUSED)
        elif self.state == State.DEALING and job.fed >= PACK:
            self._finish()

    def _finish(self) -> None:
        if self.sensors.hopper() == Hopper.LOADED:
            self._stop(FaultCode.EXTRA_CARD, Segment.HOPPER, False, Action.COLLECT_CARDS)
            self._settle()
        else:
            self._done()

    def _done(self) -> None:
        job = self.job
        assert job is not None
        pockets = dict(job.placed)
        digest = bytes(8)
        if len(job.placed) == PACK and all(card in pockets and pockets[card] < 4 for card in range(PACK)):
            digest = messages.deal_digest(job.board, messages.pack_routing([pockets[c] for c in range(PACK)]))
        self._set_state(State.FINISHED)
        done = {
            "job_id": job.id,
            "board": job.board,
            "copy": job.copy,
            "cards": min(255, len(job.placed)),
            "counts": bytes(min(255, n) for n in self.counts),
            "digest": digest,
        }
        self._send(Kind.DONE, done)
