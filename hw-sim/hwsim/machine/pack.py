"""Cards as printed things, and what a reader makes of their code.

A physical card is an int: pack number * 64 + face, face 0-51 (52 is a joker). Its code has ten modules, dark or light;
any two codes differ in at least three modules (a shortened Hamming code), so that one damaged module never makes
another card of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

from hwsim.numbers import JOKER, UNKNOWN

MODULES = 10
JOKER_FACE = 52
_CHECKS = (0b0011, 0b0101, 0b0110, 0b0111, 0b1001, 0b1010)  # parity of each data module, no two alike, none of weight 1


def _code_words() -> tuple[int, ...]:
    words = []
    for data in range(1 << 6):
        parity = 0
        for bit, check in enumerate(_CHECKS):
            if data >> bit & 1:
                parity ^= check
        words.append(data << 4 | parity)
    # A blank and a black strip must not be cards.
    return tuple(w for w in words if 2 <= w.bit_count() <= 8)[: JOKER_FACE + 1]


CODE = _code_words()
assert all((a ^ b).bit_count() >= 3 for a, b in combinations(CODE, 2))


def face(card: int) -> int:
    return card & 63


def pack_of(card: int) -> int:
    return card >> 6


def new_pack(number: int) -> list[int]:
    return [number << 6 | f for f in range(52)]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader reports: raw code, likeliest card, next likely, and how far the first is ahead (0-255)."""

    raw: int
    best: int
    runner_up: int
    margin: int


NOT_READ = Reading(0, UNKNOWN, UNKNOWN, 0)


def _name(index: int) -> int:
    return JOKER if index == JOKER_FACE else index


@cache
def _nearest(raw: int) -> tuple[tuple[int, int], tuple[int, int]]:
    ranked = sorted(((raw ^ word).bit_count(), index) for index, word in enumerate(CODE))
    return ranked[0], ranked[1]


def read_code(raw: int, jitter: int = 0) -> Reading:
    """Nearest code word and runner-up. ``jitter``: noise of the analogue part, added to the margin."""
    (near, best), (far, second) = _nearest(raw)
    if near == far or near > 2:
        return Reading(raw, UNKNOWN, UNKNOWN, 0)
    margin = max(1, min(255, 64 * (far - near) + jitter))
    return Reading(raw, _name(best), _name(second), margin)
