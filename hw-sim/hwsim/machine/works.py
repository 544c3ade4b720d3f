"""The moving parts of a home-built machine, worked by nothing but the levels of its motors: feeder, transport, gates.

One card at a time lies under the reader; while the transport runs it leaves the reader's beam, passes the gates, covers
the exit beam of its pocket and falls. ``advance`` moves the world on; nothing here knows what the program believes.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from hwsim.machine.faults import Fault, FaultPlan
from hwsim.machine.mechanics import Passage
from hwsim.machine.pack import STOP_CARD
from hwsim.machine.profile import Profile
from hwsim.machine.sight import Light, Sight
from hwsim.machine.world import World

FEED = 0.200
BEAM = 0.120
"""Seconds of transport until a card has left the reader's beam."""

PITCH = 0.050
EXIT = 0.060

NEVER = math.inf

DOUBLE = 1.8
"""How much longer two cards that hang together are."""


@dataclass(slots=True)
class _Load:
    """Cards that move as one. left: seconds of running motor until the next thing happens."""

    cards: tuple[int, ...]
    number: int
    noise: random.Random
    sight: Sight
    left: float
    place: int = 3
    stuck: bool = False
    taken: int = 255
    wanted: int = 255
    falling: bool = False
    lit: int | None = None  # pocket whose exit beam is covered, as the sensors say


@dataclass(slots=True)
class Works:
    """on: levels of ``feeder``, ``transport`` and ``gate_1`` to ``gate_3``. fed: called with the number of a card that
    has come out of the hopper. strike: whether a fault strikes at a card. believed: card and pocket that the program
    means, for the witness only.
    """

    world: World
    profile: Profile
    faults: FaultPlan
    seed: str
    strike: Callable[..., Fault | None]
    on: Callable[[], Mapping[str, bool]]
    fed: Callable[[int], None]
    witness: Callable[[Passage], None]
    believed: Callable[[], tuple[int, int]]
    light: Light = field(init=False)
    reader: _Load | None = None
    way: _Load | None = None
    _feed_left: float = FEED
    _feeding: bool = False
    _slips: int = 0
    _stuck_for: int = 0

    def __post_init__(self) -> None:
        self.light = Light(self.world, self.profile, self.faults, self.strike)

    def clear(self) -> None:
        """Hands have taken out whatever lay in the machine."""
        self.reader = self.way = None
        self._feed_left = FEED

    def covered(self) -> bool:
        """The reader's beam."""
        return self.reader is not None

    def lit_exit(self) -> int | None:
        return self.way.lit if self.way is not None else None

    def next_change(self) -> float:
        """Seconds until something happens if the motors stay as they are."""
        return min(self._feed_due(), self._transport_due())

    def _top(self) -> bool:
        return bool(self.world.hopper) and self.world.hopper[0] != STOP_CARD

    def _feed_due(self) -> float:
        feeding = self.on()["feeder"]
        if feeding and not self._feeding:
            self._begin_feeding()
        self._feeding = feeding
        return self._feed_left if feeding and self.reader is None and self._top() else NEVER

    def _begin_feeding(self) -> None:
        if not self._slips and (fault := self.strike(self.world.fed + 1, "misfeed")):
            self._slips = int(fault.option("for", 1))
        if self._slips:
            self._slips -= 1
            self._feed_left = NEVER
        elif self._feed_left == NEVER:
            self._feed_left = FEED * self._slower()

    def _slower(self) -> float:
        return 1.0 + 0.005 * self.faults.dirt * (self.world.fed - self.world.cleaned_at) / 1000

    def _transport_due(self) -> float:
        if not self.on()["transport"]:
            return NEVER
        if self.way is not None:
            return self.way.left
        return self.reader.left if self.reader is not None else NEVER

    def advance(self, seconds: float) -> None:
        """Let the motors run for so long; at most until the next change."""
        if self._feed_due() < NEVER:
            self._feed_left -= seconds
        moving = self.way or self.reader
        if self._transport_due() < NEVER and moving is not None:
            moving.left -= seconds
        if self._feed_due() <= 1e-9:
            self._feed()
        if self._transport_due() <= 1e-9:
            self._move()

    def _feed(self) -> None:
        world = self.world
        number = world.fed + 1
        double = self.strike(number, "double-feed") is not None and len(world.hopper) > 1
        double = double and world.hopper[1] != STOP_CARD
        cards = tuple(world.hopper[: 2 if double else 1])
        world.do("feed", len(cards))
        noise = random.Random(f"{self.seed}:works:{world.fed}")
        sight = self.light.sight(cards[0], number, noise)
        beam = BEAM * self._slower() * noise.gauss(1.0, 0.02) * (DOUBLE if double else 1.0)
        if self.strike(number, "jam") and noise.random() < 0.5:
            beam = NEVER
        self.reader = _Load(cards, number, noise, sight, beam)
        self._feed_left = FEED * self._slower()
        self.fed(world.fed)

    def _move(self) -> None:
        if self.way is None:
            self._leave_reader()
        elif not self.way.falling:
            self._reach_exit(self.way)
        else:
            self._fall(self.way)

    def _leave_reader(self) -> None:
        load, self.reader = self.reader, None
        assert load is not None
        on = self.on()
        lifted = next((place for place in range(3) if on[f"gate_{place + 1}"]), None)
        if lifted is not None:
            if fault := self.strike(load.number, "gate-stuck"):
                self._stuck_for = int(fault.option("for", 1))
            if self._stuck_for:
                self._stuck_for -= 1
                lifted, load.stuck = None, True
        load.place = 3 if lifted is None else lifted
        load.taken, load.wanted = self.believed()
        load.left = PITCH * (load.place + 1) * max(0.5, load.noise.gauss(1.0, self.profile.pitch_sigma))
        if self.strike(load.number, "jam"):
            load.left = NEVER
        self.way = load

    def _pocket(self, load: _Load) -> int:
        return self.profile.pocket_order[load.place]

    def _reach_exit(self, load: _Load) -> None:
        pocket = self._pocket(load)
        self.witness(Passage(load.cards, load.taken, load.wanted, pocket, load.stuck))
        seen = self.light.exit(pocket, load.number, load.noise)
        load.lit = seen if seen < 4 else None
        load.falling = True
        load.left = EXIT

    def _fall(self, load: _Load) -> None:
        for card in load.cards:
            if card in self.world.belt:
                self.world.do("drop", card, self.world.printed_seat(self._pocket(load)))
        self.way = None
