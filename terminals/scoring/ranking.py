"""Places: competition ranking on exact values, ties as ``5=``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TypeVar

from terminals.scoring.lines import Contestant

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RankRow:
    """A contestant's place in a winner group.

    value: what the ranking goes by, exact: percent for matchpoints, else IMPs, VPs or points. value_text: rounded once
    by the profile. points: sum over boards with artificial scores uplifted, without penalties; top: sum of tops, 0
    when the method has none. boards: boards credited. adjustment: penalties and bonuses, in the unit of ``points``.
    """

    place: int
    tied: bool
    contestant: Contestant
    value: Fraction
    value_text: str
    points: Fraction
    top: Fraction
    boards: int
    adjustment: Fraction = Fraction(0)

    @property
    def percent(self) -> Fraction:
        """Session percentage, exact (matchpoint events)."""
        return self.value

    @property
    def percent_text(self) -> str:
        return self.value_text

    @property
    def place_text(self) -> str:
        """``5`` or ``5=``."""
        return f"{self.place}=" if self.tied else str(self.place)


def places(items: Iterable[T], value: Callable[[T], Fraction]) -> list[tuple[int, bool, T]]:
    """Best value first, as (place, tied, item); equal values share a place and the next one is skipped.

    Items that tie stay in the order given. No floats: a tie is an equality of exact numbers.
    """
    found = list(items)
    values = [value(item) for item in found]
    common = _common_denominator(values)
    # Whole numbers over one denominator sort several times faster than fractions, and just as exactly.
    keys: list[int] | list[Fraction] = values
    if common is not None:
        keys = [one.numerator * (common // one.denominator) for one in values]
    order = sorted(range(len(found)), key=keys.__getitem__, reverse=True)
    out: list[tuple[int, bool, T]] = []
    index = 0
    while index < len(order):
        end = index + 1
        while end < len(order) and keys[order[end]] == keys[order[index]]:
            end += 1
        out.extend((index + 1, end - index > 1, found[one]) for one in order[index:end])
        index = end
    return out


def _common_denominator(values: list[Fraction], limit: int = 1 << 2048) -> int | None:
    """Least common denominator, or None when it would be so long that fractions are the better choice."""
    common = 1
    for denominator in {one.denominator for one in values}:
        common = lcm(common, denominator)
        if common > limit:
            return None
    return common
