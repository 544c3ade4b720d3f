"""What light does in the machine: what the reader sees of a card that lies there, and what the exit sensors see of one
that falls. Worn and scuffed cards, dirt, fingerprints and sunlight are things of the world and stay until somebody
does something about them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from hwsim.machine.faults import Fault, FaultPlan
from hwsim.machine.pack import CODE_BOOKS, Reading, face
from hwsim.machine.profile import Profile
from hwsim.machine.world import World
from hwsim.numbers import Capability

SMEAR = 90
"""Margin that a fingerprint on the glass takes."""

SUN = 25
"""Margin that sunlight takes; one look in eight is blinded altogether."""

SPELL = 40
"""Cards for which the sun shines in."""

Strike = Callable[..., Fault | None]


@dataclass(frozen=True, slots=True)
class Sight:
    """One look through the glass. raw: what is there to be seen. unsure: modules that are neither dark nor light.

    dull: margin that is lost to dirt, wear and sunlight.
    """

    raw: int
    unsure: int = 0
    dull: int = 0


class Light:
    """``strike(number, *kinds)`` says whether a fault strikes at this card."""

    def __init__(self, world: World, profile: Profile, faults: FaultPlan, strike: Strike) -> None:
        self._world = world
        self._profile = profile
        self._faults = faults
        self._strike = strike
        self.book = CODE_BOOKS[profile.code]

    def sight(self, card: int, number: int, noise: random.Random) -> Sight:
        """The card that is the ``number``-th to be fed, as the reader sees it."""
        if self._strike(number, "scuff"):
            self._scuff(card, noise)
        if self._strike(number, "dirty-optics"):
            self._world.do("smear")
        if fault := self._strike(number, "sunlight"):
            self._world.do("sun", number + int(fault.option("for", SPELL)))
        plain = self.standing(card, noise)
        raw, unsure = plain.raw, 0
        if self._strike(number, "misread"):
            raw = noise.choice([word for word in self.book.words[:52] if word != raw])
        elif self._strike(number, "smudge"):
            unsure = 1 << noise.randrange(self.book.modules)
        elif self._strike(number, "unreadable"):
            raw = 0
        return Sight(raw, unsure, plain.dull)

    def _scuff(self, card: int, noise: random.Random) -> None:
        """Dirt on one card and a scratch on another: with a weak code each may become the other."""
        mine = face(card)
        near = [a + b - mine for a, b in self.book.neighbours() if mine in (a, b)]
        other = noise.choice(near) if near else noise.randrange(52)
        module = (self.book.word(mine) ^ self.book.word(other)).bit_length() - 1 if near else None
        for damaged in dict.fromkeys((card, card - mine + other)):
            self._world.do("scuff", damaged, noise.randrange(self.book.modules) if module is None else module)

    def standing(self, card: int, noise: random.Random) -> Sight:
        """The card as it looks at any time, without what strikes once."""
        world = self._world
        raw = self.book.word(face(card)) ^ world.scuffs(card)
        dull = int(self._faults.dirt * (world.fed - world.cleaned_at) / 1000)
        if self._faults.worn(card, noise):
            dull += 2 * SMEAR
        if world.smeared:
            dull += SMEAR
        if world.fed < world.sun_until:
            dull += SUN
            if noise.random() < 0.125:
                raw = 0
        return Sight(raw, 0, dull)

    def read(self, seen: Sight, noise: random.Random) -> Reading:
        """What a reader makes of it that judges a whole look at once."""
        raw = seen.raw ^ seen.unsure
        reading = self.book.read(raw, noise.randrange(-12, 13))
        if seen.dull and reading.margin:
            reading = Reading(raw, reading.best, reading.runner_up, max(1, reading.margin - seen.dull))
        if not self._profile.can(Capability.MARGIN):
            reading = Reading(reading.raw, reading.best, 255, 0)
        return reading

    def exit(self, pocket: int, number: int, noise: random.Random) -> int:
        """The pocket that the exit sensors say, 255 for none."""
        if not self._profile.can(Capability.EXIT):
            return 255
        if self._strike(number, "exit-noise"):
            return noise.choice([255, *(other for other in range(4) if other != pocket)])
        blinded = self._world.fed < self._world.sun_until and noise.random() < 0.01
        return 255 if blinded else pocket
