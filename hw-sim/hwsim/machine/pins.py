"""A home-built dealing machine of bare pins, under the names of RPi.GPIO, and the cards and motors behind them.

``PinMachine`` is the bench without any program: whoever runs it sets outputs, reads inputs and gets callbacks for
edges, from another thread, as the real library gives them. Contacts bounce; without edge detection there is polling.
Wherever something happens by itself, ``next_change`` says when; time passes in ``advance`` only.
"""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hwsim.evidence import Evidence
from hwsim.machine.bench import Bench
from hwsim.machine.faults import Fault, FaultPlan
from hwsim.machine.mechanics import Passage
from hwsim.machine.profile import Profile
from hwsim.machine.works import NEVER, Works
from hwsim.memory import Media
from hwsim.speeds import Speed

BOUNCE = 0.002
KEY_DOWN = 0.3
DULLEST = 400
"""Margin lost at which every look at a module is a toss."""

BOUNCING = ("board", "key", "hopper", "cover")
EXITS = ("exit_north", "exit_east", "exit_south", "exit_west")


@dataclass(frozen=True, slots=True)
class Wiring:
    """Numbers of pins by name; inputs are active low. strobe lights the code, detectors see a module each."""

    outputs: dict[str, int]
    inputs: dict[str, int]
    strobe: int
    detectors: tuple[int, ...]


WIRING = Wiring(
    {"feeder": 17, "transport": 27, "gate_1": 5, "gate_2": 6, "gate_3": 13, "buzzer": 18, "lamp_stop": 15},
    {
        "reader_beam": 22,
        "exit_north": 23,
        "exit_east": 24,
        "exit_south": 25,
        "exit_west": 8,
        "board": 7,
        "cover": 12,
        "hopper": 16,
        "stop_button": 20,
        "key": 21,
    },
    26,
    (2, 3, 4, 9, 10, 11, 14, 19, 0, 1),
)


class SimulatedPins:
    """RPi.GPIO's names. ``edges`` False: edge detection fails, as on newer kernels."""

    BCM, IN, OUT, HIGH, LOW = 11, 1, 0, 1, 0
    PUD_UP, PUD_DOWN, RISING, FALLING, BOTH = 22, 21, 31, 32, 33

    def __init__(self, machine: PinMachine, *, edges: bool) -> None:
        self._machine = machine
        self._edges = edges
        self.levels: dict[int, int] = {}
        self.watched: dict[int, Callable[[int], None]] = {}
        self._mode: Any = None

    def setmode(self, mode: Any) -> None:
        self._mode = mode

    def setup(self, channel: int, direction: Any, **options: Any) -> None:
        if self._mode != self.BCM:
            raise RuntimeError("Please set pin numbering mode using GPIO.setmode(GPIO.BOARD) or GPIO.setmode(GPIO.BCM)")
        if direction == self.OUT:
            self.levels[channel] = options.get("initial", self.LOW)

    def output(self, channel: int, value: Any) -> None:
        self.levels[channel] = int(value)

    def input(self, channel: int) -> int:
        return self._machine.level(channel)

    def add_event_detect(self, channel: int, edge: Any, **options: Any) -> None:
        if not self._edges:
            raise RuntimeError("Failed to add edge detection")
        self.watched[channel] = options["callback"]

    def remove_event_detect(self, channel: int) -> None:
        self.watched.pop(channel, None)

    def cleanup(self, *channels: int) -> None:
        for channel in channels:
            self.levels.pop(channel, None)


class PinMachine(Bench):
    """believed: card and pocket that the program means for the card under the reader, for the witness only."""

    def __init__(
        self,
        media: Media,
        now: float,
        *,
        seed: int,
        speed: Speed,
        profile: Profile,
        evidence: Evidence | None,
        faults: FaultPlan,
        edges: bool,
        wiring: Wiring = WIRING,
    ) -> None:
        super().__init__(media, now, seed=seed, speed=speed, profile=profile, evidence=evidence, faults=faults)
        self.wiring = wiring
        self.pins = SimulatedPins(self, edges=edges)
        self.works = Works(
            self.world,
            profile,
            faults,
            self._seed,
            self._strikes,
            self._motors,
            self._after_card,
            self.witness,
            self.believed,
        )
        self._by_number = {number: name for name, number in wiring.inputs.items()}
        self._key_until = -1.0
        self._settles: dict[str, float] = {}
        self._was: dict[str, bool] = {name: self.senses(name) for name in wiring.inputs}
        self._toss = random.Random(f"{self._seed}:contacts")
        self._edges: deque[int] = deque()
        self._caller = _Caller()

    # -- to be filled in ----------------------------------------------------------------------------------------------

    def witness(self, passage: Passage) -> None:
        """What truly happened to cards that passed together."""

    def believed(self) -> tuple[int, int]:
        return 255, 255

    # -- levels -------------------------------------------------------------------------------------------------------

    def _strikes(self, number: int, *kinds: str) -> Fault | None:
        due = self._faults.due(number, *kinds)
        if due is None:
            return None
        place, fault = due
        self._faults.mark(place)
        self.world.do("fault", place)
        self._report_fault(fault)
        return fault

    def _motors(self) -> dict[str, bool]:
        return {name: bool(self.pins.levels.get(number)) for name, number in self.wiring.outputs.items()}

    def senses(self, name: str) -> bool:
        """What a sensor would say if contacts did not bounce."""
        if name in EXITS:
            return self.works.lit_exit() == EXITS.index(name)
        match name:
            case "reader_beam":
                return self.works.covered()
            case "board":
                return self.world.slot is not None
            case "cover":
                return self.world.cover_closed
            case "hopper":
                return bool(self.world.hopper)
            case "key":
                return self.agenda.now < self._key_until
        return False

    def level(self, channel: int) -> int:
        if channel in self.wiring.detectors:
            return self._module(self.wiring.detectors.index(channel))
        name = self._by_number[channel]
        if self.agenda.now < self._settles.get(name, -1.0):
            return self._toss.getrandbits(1)
        return 0 if self.senses(name) else 1

    def _module(self, place: int) -> int:
        load = self.works.reader
        if not self.pins.levels.get(self.wiring.strobe) or load is None:
            return 0
        seen = load.sight
        unsure = seen.unsure >> place & 1 and self._toss.getrandbits(1)
        wrong = seen.dull and self._toss.random() < min(0.5, seen.dull / DULLEST)
        return (seen.raw >> place & 1) ^ int(bool(unsure)) ^ int(bool(wrong))

    # -- time ---------------------------------------------------------------------------------------------------------

    def next_change(self) -> float | None:
        """When something happens by itself that a pin shows, None if nothing does."""
        due = self.works.next_change()
        times = [*self._settles.values(), *([self.agenda.now + due] if due < NEVER else [])]
        if self._key_until > self.agenda.now:
            times.append(self._key_until)
        return min((when for when in times if when > self.agenda.now), default=None)

    def advance(self, now: float) -> None:
        """Time passes up to ``now``: motors move cards, people act, contacts settle, edges call back."""
        while self.agenda.now < now:
            change, people = self.next_change(), self.agenda.next_time()
            until = min(when for when in (now, change, people) if when is not None)
            until = max(until, self.agenda.now)
            self.works.advance(until - self.agenda.now)
            self.agenda.run(until)
            self._settles = {name: when for name, when in self._settles.items() if when > until}
            self._notice()
        self.agenda.run(now)
        self._notice()

    def _changed(self, what: str) -> None:
        if what == "key":
            self._key_until = self.agenda.now + KEY_DOWN
        self._notice()

    def _notice(self) -> None:
        """Edges of everything that has changed, called back from another thread."""
        for name, before in self._was.items():
            if (active := self.senses(name)) != before:
                self._was[name] = active
                if name in BOUNCING:
                    self._settles[name] = self.agenda.now + BOUNCE
                    # A contact that bounces makes more than one edge.
                    self._edges.extend([self.wiring.inputs[name]] * self._toss.choice((1, 3, 5)))
                else:
                    self._edges.append(self.wiring.inputs[name])
        while self._edges:
            channel = self._edges.popleft()
            if (callback := self.pins.watched.get(channel)) is not None:
                self._caller.call(callback, channel)

    def dark(self) -> None:
        """Nothing drives the pins any more, and nobody listens to edges."""
        self.pins.levels.clear()
        self.pins.watched.clear()

    # -- hands --------------------------------------------------------------------------------------------------------

    def clear_belt(self) -> None:
        self.works.clear()
        super().clear_belt()

    def gather(self) -> None:
        self.works.clear()
        super().gather()

    def close(self) -> None:
        self._caller.close()
        super().close()


class _Caller:
    """Another thread that calls back; the caller waits, so that the order of things is the same every time."""

    def __init__(self) -> None:
        self._job: tuple[Callable[[int], None], int] | None = None
        self._go, self._done = threading.Semaphore(0), threading.Semaphore(0)
        self._thread: threading.Thread | None = None

    def call(self, callback: Callable[[int], None], channel: int) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="edges", daemon=True)
            self._thread.start()
        self._job = (callback, channel)
        self._go.release()
        self._done.acquire()

    def _run(self) -> None:
        while True:
            self._go.acquire()
            if self._job is None:
                return
            callback, channel = self._job
            callback(channel)
            self._done.release()

    def close(self) -> None:
        if self._thread is not None:
            self._job = None
            self._go.release()
            self._thread.join()
            self._thread = None
