"""Cards as printed things, and what a reader makes of their code.

A physical card is an int: pack number * 64 + face, face 0-51 (52 is a joker, 53 a stop card). Packs with an even number
have red backs, those with an odd number blue ones.

Two codes can be printed on cards. ``strong`` has ten modules, dark or light; any two words differ in at least three
modules (a shortened Hamming code), so that one damaged module never makes another card of it. ``weak`` is the code of
printed cards as it is publicly known: nine modules, no two words alike and that is all; one damaged module makes
another card in one case of five, and no reader can tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

from hwsim.numbers import JOKER, UNKNOWN, BackColour

JOKER_FACE = 52
STOP_FACE = 53
STOP_CARD = 0xFFFF << 6 | STOP_FACE
"""The card that lies between two packs in the hopper; one is as good as another."""

_CHECKS = (0b0011, 0b0101, 0b0110, 0b0111, 0b1001, 0b1010)  # parity of each data module, no two alike, none of weight 1

# Dark modules of each card among 3-11 (A = 10, B = 11), ace to two.
_WEAK = {
    "S": "357A 368A 3568A 4579A 3479A 468A 358A 458A 3478A 478A 479A 367A 467A",
    "H": "47A 35689B 3589B 3689B 4689B 4589B 3489B 3569B 569B 369B 469B 489B 5689B",
    "D": "347A 3579B 4579B 3479B 479B 3568B 568B 368B 468B 3578B 478B 357AB 47AB",
    "C": "457A 4578B 3569A 356AB 3478B 367AB 467AB 457AB 347AB 569A 3579A 469A 369A",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader reports: raw code, likeliest card, next likely, and how far the first is ahead (0-255)."""

    raw: int
    best: int
    runner_up: int
    margin: int


NOT_READ = Reading(0, UNKNOWN, UNKNOWN, 0)


@dataclass(frozen=True)
class CodeBook:
    """words: of faces 0-51, and of the joker if it has one. reach: modules in which a word seen may be damaged."""

    name: str
    modules: int
    words: tuple[int, ...]
    reach: int

    def word(self, face: int) -> int:
        """What is printed on a card; a card without a code is blank."""
        return self.words[face] if face < len(self.words) else 0

    def read(self, raw: int, jitter: int = 0) -> Reading:
        """Nearest code word and runner-up. ``jitter``: noise of the analogue part, added to the margin."""
        (near, best), (far, second) = _nearest(self.words, raw)
        if near == far or near > self.reach:
            return Reading(raw, UNKNOWN, UNKNOWN, 0)
        ahead = 64 * (far - near) if self.reach else 192  # without redundancy every word looks as good as another
        return Reading(raw, _name(best), _name(second), max(1, min(255, ahead + jitter)))

    def neighbours(self) -> list[tuple[int, int]]:
        """Pairs of cards that differ in a single module."""
        pairs = combinations(range(52), 2)
        return [(a, b) for a, b in pairs if (self.words[a] ^ self.words[b]).bit_count() == 1]


def _name(index: int) -> int:
    return JOKER if index == JOKER_FACE else index


@cache
def _nearest(words: tuple[int, ...], raw: int) -> tuple[tuple[int, int], tuple[int, int]]:
    ranked = sorted(((raw ^ word).bit_count(), index) for index, word in enumerate(words))
    return ranked[0], ranked[1]


def _strong_words() -> tuple[int, ...]:
    words = []
    for data in range(1 << 6):
        parity = 0
        for bit, check in enumerate(_CHECKS):
            if data >> bit & 1:
                parity ^= check
        words.append(data << 4 | parity)
    # A blank and a black strip must not be cards.
    return tuple(w for w in words if 2 <= w.bit_count() <= 8)[: JOKER_FACE + 1]


def _weak_words() -> tuple[int, ...]:
    names = [name for suit in "SHDC" for name in _WEAK[suit].split()]
    return tuple(sum(1 << int(module, 12) - 3 for module in name) for name in names)


STRONG = CodeBook("strong", 10, _strong_words(), 2)
WEAK = CodeBook("weak", 9, _weak_words(), 0)
CODE_BOOKS = {"strong": STRONG, "weak": WEAK}

MODULES = STRONG.modules
CODE = STRONG.words
assert all((a ^ b).bit_count() >= 3 for a, b in combinations(CODE, 2))


def read_code(raw: int, jitter: int = 0) -> Reading:
    """As a reader of the strong code."""
    return STRONG.read(raw, jitter)


def face(card: int) -> int:
    return card & 63


def pack_of(card: int) -> int:
    return card >> 6


def back_of(card: int) -> BackColour:
    """What the sensor over the hopper sees of a card that lies on top."""
    if card == STOP_CARD:
        return BackColour.NONE
    return BackColour.BLUE if pack_of(card) & 1 else BackColour.RED


def new_pack(number: int) -> list[int]:
    return [number << 6 | f for f in range(52)]
