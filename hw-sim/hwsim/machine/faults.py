"""Faults that are put into the physical world of the dealing machine on purpose.

A fault is written ``KIND@CARD[,NAME=VALUE...]``: it strikes at the CARD-th card that the machine ever feeds (1 is the
first), counted in the state folder, so it strikes once whatever the timing and however often the process restarts.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from hwsim.machine.profile import Profile
from hwsim.numbers import Capability

KINDS = {
    "gate-stuck": "deflectors do not lift for `for` cards (default 1): they go on to the last pocket",
    "misread": "the reader sees another card's code without any doubt",
    "smudge": "one module of the code is unreadable: a doubtful read",
    "unreadable": "the code can't be read at all",
    "jam": "the card stops before the reader",
    "double-feed": "two cards are fed as one",
    "misfeed": "the roller slips and no card comes",
    "cover": "somebody opens the cover",
    "pull": "somebody pulls the board out",
    "scuff": "one module of the card, and of one that differs in it, is damaged for good",
    "dirty-optics": "a fingerprint on the glass, until somebody cleans it",
    "sunlight": "sunlight falls in for `for` cards (default 40)",
    "exit-noise": "an exit sensor sees nothing, or a card where none is",
    "unplug": "the line is unplugged for `for` seconds (default 1)",
    "power-cut": "the machine loses its supply for `for` seconds (default 0.3), `after` seconds after the feed",
    "torn-write": "the supply fails `after` bytes into what the machine stores next, for `for` seconds",
    "turned": "the next board is put in the wrong way round",
    "wrong-board": "the board after the wanted one is put in instead of it",
    "pack-short": "the next pack has 51 cards",
    "pack-joker": "a joker took the place of a card of the next pack",
    "firmware-restart": "the machine's program starts anew, power and line stay",
}


_SEEN_WITH = {
    "gate-stuck": Capability.EXIT,
    "turned": Capability.ORIENTATION,
    "wrong-board": Capability.LABEL,
}


class FaultError(ValueError):
    """A fault that is not written as it must be."""


@dataclass(frozen=True, slots=True)
class Fault:
    """card: the count at which it strikes (of cards fed; at a base station of records keyed in)."""

    kind: str
    card: int
    options: dict[str, float] = field(default_factory=dict)

    def option(self, name: str, default: float) -> float:
        return self.options.get(name, default)


def detectable(kind: str, profile: Profile) -> bool:
    """Whether a machine of this profile, together with a host that checks everything, can notice such a fault."""
    needed = _SEEN_WITH.get(kind)
    return needed is None or profile.can(needed)


def parse_fault(text: str, kinds: Mapping[str, str] = KINDS) -> Fault:
    """A fault of one of these kinds. Raises FaultError with a sentence that says what is wrong."""
    kind, _, rest = text.partition("@")
    first, *more = rest.split(",")
    if kind not in kinds:
        raise FaultError(f"unknown fault {kind!r}; there are {', '.join(kinds)}")
    try:
        card = int(first.removeprefix("card="))
        options = {name: float(value) for name, value in (item.split("=", 1) for item in more)}
    except ValueError:
        raise FaultError(f"a fault is written KIND@N or KIND@N,for=NUMBER, not {text!r}") from None
    if card < 1 or set(options) - {"for", "after"}:
        raise FaultError(f"a fault is written KIND@N or KIND@N,for=NUMBER with N from 1 on, not {text!r}")
    return Fault(kind, card, options)


class FaultPlan:
    """The faults still to come, in the order of their cards."""

    def __init__(self, faults: list[Fault], used: list[int]) -> None:
        self._faults = faults
        self._used = set(used)

    dirt = 0.0
    """Margin that dirt takes for every 1000 cards since the last cleaning; rollers become slower with it."""

    def worn(self, card: int, noise: random.Random) -> bool:
        """Whether this look at this card suffers from wear."""
        return False

    def due(self, card: int, *kinds: str) -> tuple[int, Fault] | None:
        """The next unused fault of these kinds whose time has come with the ``card``-th card, and its number."""
        for number, fault in enumerate(self._faults):
            if number not in self._used and fault.kind in kinds and fault.card <= card:
                return number, fault
        return None

    def mark(self, number: int) -> None:
        self._used.add(number)
