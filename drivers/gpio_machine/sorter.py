"""The moving parts of a home-built machine, card by card: a sans-IO state machine over motors and beams.

One card at a time: the feeder brings it under the reader and stops; when its pocket is known the gates (or the rotor)
take aim; the transport carries it there; a beam at the pocket sees it pass. Every phase that runs a motor has a time
limit, so that no motor runs against a jammed card. ``outputs`` is what should be switched on right now.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from drivers.gpio_machine.settings import EXITS, GATES, MachineSettings
from firmware_bridge.wire.numbers import Fault, Segment

UNKNOWN = 255

MOST_STEPS = 8
"""Places that may pass in one move: up to four until home is seen, three more to the pocket; more is a dead sensor."""

MOTORS = ("feeder", "transport", "rotor", *GATES)


class Phase(Enum):
    IDLE = "idle"
    FEEDING = "feeding"
    SLIPPED = "slipped"
    SETTLING = "settling"
    READING = "reading"
    AIMING = "aiming"
    MOVING = "moving"
    EXITING = "exiting"
    CLEARING = "clearing"
    PACING = "pacing"
    CHECKING = "checking"


_CARD_ON_THE_WAY = (Phase.SETTLING, Phase.READING, Phase.AIMING, Phase.MOVING, Phase.EXITING, Phase.CLEARING)


@dataclass(frozen=True, slots=True)
class AtReader:
    """A card lies under the reader and does not move: look at it, then call ``send_to``."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The card is in a pocket. seen: by the exit beam, 255 without one. Times in seconds; beam of the card's length."""

    seen: int
    fed_at: float
    read_at: float
    exit_at: float
    beam: float


@dataclass(frozen=True, slots=True)
class ReadyForNext:
    """The next card may be fed."""


@dataclass(frozen=True, slots=True)
class TurnChecked:
    """The rotor came home as counted: every card fell where it was believed to fall."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """All motors are off. in_flight: cards between hopper and pockets."""

    fault: Fault
    segment: Segment
    in_flight: int


SorterEvent = AtReader | Placed | ReadyForNext | TurnChecked | Trouble


class Sorter:
    """``senses(name)`` is the present, debounced state of an input; ``changed`` is called when one changes.

    drive: switches the outputs it is given. It is called here for a halt only, which must not wait for anything.
    """

    def __init__(
        self,
        settings: MachineSettings,
        senses: Callable[[str], bool],
        drive: Callable[[Mapping[str, bool]], None] = lambda outputs: None,
    ) -> None:
        self._drive = drive
        self._settings = settings
        self._times = settings.timings
        self._senses = senses
        self._has_transport = "transport" in settings.outputs
        self._has_hopper = "hopper" in settings.inputs
        self.events: deque[SorterEvent] = deque()
        self.outputs = {name: False for name in MOTORS if name in settings.outputs}
        self.phase = Phase.IDLE
        self._until: float | None = None
        self._tries = 0
        self._pocket = UNKNOWN
        self._rotor_at: int | None = None
        self._steps = 0
        self._exit_seen: tuple[int, float] | None = None
        self._fed_at = self._read_at = self._moved_at = self._beam = 0.0

    @property
    def in_flight(self) -> int:
        """Cards between hopper and pockets, as far as the beams tell."""
        return int(self.phase in _CARD_ON_THE_WAY or self._senses("reader_beam"))

    @property
    def running(self) -> bool:
        """Some motor is on."""
        return any(self.outputs.values())

    # --- what the controller asks --------------------------------------------------------------------------------

    def feed(self, now: float) -> None:
        """Bring the next card under the reader."""
        self._tries = 0
        self._fed_at = now
        self._start_feeding(now)

    def read_again(self, now: float) -> None:
        """The card lies there still; say AtReader again after it has settled once more."""
        self._enter(Phase.SETTLING, now + self._times.settle)

    def send_to(self, pocket: int, now: float) -> None:
        """The card under the reader belongs into ``pocket`` (0-3: N, E, S, W)."""
        self._pocket = pocket
        self._read_at = now
        if self._settings.sorter == "rotor":
            self._aim_rotor(now)
            return
        place = self._settings.pocket_order.index(pocket)
        for number, gate in enumerate(GATES):
            self.outputs[gate] = number == place
        self._enter(Phase.AIMING, now + self._times.aim)

    @property
    def places_unseen(self) -> bool:
        """The places of the rotor are only counted: ``check_turn`` is needed before anything is called done."""
        return self._settings.sorter == "rotor" and not self._settings.sees_exits

    def check_turn(self, now: float) -> None:
        """Turn the rotor home; says TurnChecked, or Trouble if it comes home sooner or later than counted."""
        self.outputs["rotor"] = True
        self._steps = 0
        self._enter(Phase.CHECKING, now + self._times.rotor_step)

    def halt(self) -> None:
        """Everything off, at once, wherever the card is."""
        for name in self.outputs:
            self.outputs[name] = False
        self._drive(self.outputs)
        self._enter(Phase.IDLE, None)
        self._rotor_at = None

    # --- time and sensors ----------------------------------------------------------------------------------------

    def next_deadline(self) -> float | None:
        return self._until

    def tick(self, now: float) -> None:
        while self._until is not None and now >= self._until:
            due, self._until = self._until, None
            self._time_is_up(due, now)

    def changed(self, name: str, active: bool, at: float) -> None:
        """An input changed at ``at``."""
        if name == "reader_beam":
            if active and self.phase is Phase.FEEDING:
                self._off("feeder")
                self._enter(Phase.SETTLING, at + self._times.settle)
            elif not active and self.phase is Phase.MOVING:
                self._beam = at - self._moved_at
                self._after_beam(at)
        elif name in EXITS:
            self._on_exit(EXITS.index(name), active, at)
        elif name == "rotor_index" and active and self.outputs.get("rotor"):
            self._on_rotor_index(at)

    # --- phases --------------------------------------------------------------------------------------------------

    def _enter(self, phase: Phase, until: float | None) -> None:
        self.phase = phase
        self._until = until

    def _off(self, *names: str) -> None:
        for name in names:
            if name in self.outputs:
                self.outputs[name] = False

    def _start_feeding(self, now: float) -> None:
        self._exit_seen = None
        if self._senses("reader_beam"):
            # A card lies under the reader already: it was read before a stop, or put there by hand.
            self._enter(Phase.SETTLING, now + self._times.settle)
            return
        self.outputs["feeder"] = True
        self._enter(Phase.FEEDING, now + self._times.feed_limit)

    def _time_is_up(self, due: float, now: float) -> None:
        match self.phase:
            case Phase.FEEDING:
                self._off("feeder")
                self._tries += 1
                empty = self._has_hopper and not self._senses("hopper")
                if empty or self._tries > self._settings.feed_retries:
                    self._trouble(Fault.HOPPER_EMPTY if empty else Fault.MISFEED, Segment.HOPPER)
                else:
                    self._enter(Phase.SLIPPED, due + self._times.settle)
            case Phase.SLIPPED:
                self._start_feeding(now)
            case Phase.SETTLING:
                self._enter(Phase.READING, now + self._times.read_limit)
                self.events.append(AtReader())
            case Phase.READING:
                self._trouble(Fault.SENSOR, Segment.READER)
            case Phase.AIMING:
                if self._settings.sorter == "rotor" and self.outputs.get("rotor"):
                    self._trouble(Fault.GATE, Segment.GATES)
                else:
                    self._start_moving(now)
            case Phase.MOVING:
                # Two cards, or one that is stuck: the beam can't tell, and neither may go on to the gates.
                double = self._settings.double_feed and self._double_at() <= due + 1e-9
                self._trouble(Fault.DOUBLE_FEED if double else Fault.JAM, Segment.READER)
            case Phase.EXITING:
                if self._settings.sees_exits:
                    self._trouble(Fault.JAM, Segment.GATES)
                else:
                    self._arrived(UNKNOWN, due, now=due)
            case Phase.CLEARING:
                if self._exit_seen is not None and not self._senses(EXITS[self._exit_seen[0]]):
                    self._arrived(*self._exit_seen, now=now)
                else:
                    self._trouble(Fault.JAM, Segment.POCKET)
            case Phase.CHECKING:
                self._trouble(Fault.GATE, Segment.GATES)
            case Phase.PACING:
                self._enter(Phase.IDLE, None)
                self.events.append(ReadyForNext())
            case Phase.IDLE:
                return

    def _double_at(self) -> float:
        """When a beam that is still covered means two cards."""
        return self._moved_at + self._times.beam * self._settings.double_feed

    def _start_moving(self, now: float) -> None:
        self.outputs["transport" if self._has_transport else "feeder"] = True
        self._moved_at = now
        self._beam = 0.0
        limit = now + self._times.beam_limit
        if self._settings.double_feed and self._times.beam:
            limit = min(limit, self._double_at())
        self._enter(Phase.MOVING, limit)

    def _after_beam(self, at: float) -> None:
        """The card's end has passed the reader."""
        if self._exit_seen is not None:
            self._at_exit(*self._exit_seen)
        elif self._settings.sees_exits:
            self._enter(Phase.EXITING, at + self._times.exit_limit)
        else:
            self._enter(Phase.EXITING, at + self._times.travel)

    def _on_exit(self, pocket: int, active: bool, at: float) -> None:
        if active and self.phase is Phase.EXITING:
            self._at_exit(pocket, at)
        elif active and self.phase is Phase.MOVING:
            self._exit_seen = (pocket, at)
        elif not active and self.phase is Phase.CLEARING and self._exit_seen is not None:
            # Only now does the card lie in its pocket; a motor that stops sooner leaves it hanging in the beam.
            self._arrived(*self._exit_seen, now=at)

    def _at_exit(self, pocket: int, at: float) -> None:
        """The card's front has reached the beam of a pocket."""
        self._exit_seen = (pocket, at)
        if self._senses(EXITS[pocket]):
            self._enter(Phase.CLEARING, at + self._times.exit_limit)
        else:
            # It came and went between two looks; its end is among the changes that follow, or already behind.
            self._enter(Phase.CLEARING, at)

    def _arrived(self, pocket: int, at: float, now: float) -> None:
        self.events.append(Placed(pocket, self._fed_at, self._read_at, at, self._beam))
        self._rest(now)

    def _rest(self, at: float) -> None:
        self._off(*MOTORS)
        self._enter(Phase.PACING, max(at, self._fed_at + self._times.card))

    def _trouble(self, fault: Fault, segment: Segment) -> None:
        in_flight = self.in_flight
        self.halt()
        self.events.append(Trouble(fault, segment, in_flight))

    # --- the rotor -----------------------------------------------------------------------------------------------

    def _aim_rotor(self, now: float) -> None:
        if self._aimed():
            self._enter(Phase.AIMING, now)
            return
        self.outputs["rotor"] = True
        self._steps = 0
        self._enter(Phase.AIMING, now + self._times.rotor_step)

    def _on_rotor_index(self, at: float) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            self._trouble(Fault.SENSOR, Segment.GATES)
            return
        home = self._senses("rotor_home")
        if home:
            if self._rotor_at not in (None, 3):
                # A stop was missed, or counted twice: where the rotor stands was not what was believed.
                self._trouble(Fault.GATE, Segment.GATES)
                return
            self._rotor_at = 0
        elif self._rotor_at is not None:
            self._rotor_at += 1
            if self._rotor_at > 3:
                self._trouble(Fault.GATE, Segment.GATES)
                return
        if self.phase is Phase.CHECKING and home:
            self._off("rotor")
            self._enter(Phase.IDLE, None)
            self.events.append(TurnChecked())
        elif self.phase is Phase.AIMING and self._aimed():
            self._off("rotor")
            self._enter(Phase.AIMING, at + self._times.aim)
        else:
            # A place that takes longer than one step was missed by its beam.
            self._until = at + self._times.rotor_step

    def _aimed(self) -> bool:
        return self._rotor_at is not None and self._settings.pocket_order[self._rotor_at] == self._pocket
