"""A card reader of photo-detectors: one per module of the card's code, all sampled while a strobe lights them.

The card does not move while it is read. Each look is a vote over several strobes; the code nearest to what was seen
wins, and the margin tells how far the next one is away. The 52 codes come from the machine's file, or are the default
set: ten modules, any two cards differing in at least three, so that one damaged module never makes another card.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from drivers.api import CardRead, CardReader, Pins
from firmware_bridge.errors import ConfigError
from firmware_bridge.wire.numbers import CardCode

MODULES = 10
MARGIN_PER_MODULE = 64
REACH = 2
"""A code seen is still taken for the nearest card when it differs in so many modules, with a small margin."""


def default_codes(count: int = 53) -> tuple[int, ...]:
    """The first ``count`` words of ten modules that differ in three from every one before; neither blank nor black."""
    words: list[int] = []
    for word in range(1 << MODULES):
        if 2 <= word.bit_count() <= 8 and all((word ^ other).bit_count() >= 3 for other in words):
            words.append(word)
    return tuple(words[:count])


def judge(votes: Sequence[float], codes: Sequence[int]) -> CardRead:
    """What was seen: ``votes`` is the share of dark looks of each module, 0 to 1. Code 52, if given, is the joker."""
    raw = sum(1 << place for place, share in enumerate(votes) if share > 0.5)
    # A module that was dark in half of the looks counts half for either side.
    ranked = sorted(
        (sum(abs(share - (code >> place & 1)) for place, share in enumerate(votes)), index)
        for index, code in enumerate(codes)
    )
    (near, best), (far, second) = ranked[0], ranked[1]
    if near > REACH or far - near < 1e-9:
        return CardRead(raw, CardCode.UNKNOWN, CardCode.UNKNOWN, 0)
    margin = max(1, min(255, int(MARGIN_PER_MODULE * (far - near))))
    return CardRead(raw, _card(best), _card(second), margin)


def _card(index: int) -> int:
    return index if index < 52 else int(CardCode.JOKER)


@dataclass(frozen=True, slots=True)
class _Wiring:
    strobe: int
    detectors: tuple[int, ...]
    dark_is_high: bool
    light: float
    looks: int


def make(pins: Pins, options: dict[str, Any], sleep: Callable[[float], None] = time.sleep) -> CardReader:
    """The reader for ``[reader]`` of the machine's file.

    strobe: pin of the light. detectors: pins, first module first. dark: "high" or "low", the level of a dark module.
    light_us: how long the light needs, default 300. looks: default 5. codes: 52 or 53 whole numbers, the 53rd is the
    joker. Raises ConfigError.
    """
    wiring, codes = _parse(options)
    pins.setup(wiring.strobe, pins.OUT, initial=pins.LOW)
    for detector in wiring.detectors:
        pins.setup(detector, pins.IN)

    def look() -> CardRead:
        dark = [0] * len(wiring.detectors)
        for _ in range(wiring.looks):
            pins.output(wiring.strobe, pins.HIGH)
            try:
                sleep(wiring.light)
                levels = [bool(pins.input(detector)) for detector in wiring.detectors]
            finally:
                pins.output(wiring.strobe, pins.LOW)
            for place, level in enumerate(levels):
                dark[place] += level is wiring.dark_is_high
        return judge([count / wiring.looks for count in dark], codes)

    return look


def _parse(options: dict[str, Any]) -> tuple[_Wiring, tuple[int, ...]]:
    rest = dict(options)
    strobe = rest.pop("strobe", None)
    detectors = rest.pop("detectors", None)
    dark = rest.pop("dark", "high")
    light = rest.pop("light_us", 300)
    looks = rest.pop("looks", 5)
    codes = rest.pop("codes", None)
    if rest:
        raise _wrong(f"holds names that mean nothing here: {', '.join(sorted(rest))}")
    if not _whole(strobe, 0, 1000):
        raise _wrong("strobe must be a pin number")
    if (
        not isinstance(detectors, list)
        or not 2 <= len(detectors) <= 16
        or not all(_whole(d, 0, 1000) for d in detectors)
    ):
        raise _wrong("detectors must be a list of 2 to 16 pin numbers")
    if len({strobe, *detectors}) != 1 + len(detectors):
        raise _wrong("gives one pin to two things")
    if dark not in ("high", "low") or not _whole(light, 0, 1_000_000) or not _whole(looks, 1, 100):
        raise _wrong("dark must be high or low, light_us up to 1000000, looks 1 to 100")
    if codes is None:
        if len(detectors) != MODULES:
            raise _wrong(f"needs codes, because there are not {MODULES} detectors")
        codes = list(default_codes())
    top = (1 << len(detectors)) - 1
    if not isinstance(codes, list) or len(codes) not in (52, 53) or not all(_whole(code, 0, top) for code in codes):
        raise _wrong(f"codes must be 52 or 53 whole numbers up to {top}")
    if any(one == other for one, other in combinations(codes, 2)):
        raise _wrong("codes holds the same code twice")
    return _Wiring(strobe, tuple(detectors), dark == "high", light / 1_000_000, looks), tuple(codes)


def _whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _wrong(what: str) -> ConfigError:
    return ConfigError(
        f"[reader] {what}.",
        where="the machine's file",
        next_step="See docs/home-built-machine.md.",
        code="machine-file",
    )
