"""Places: competition ranking on exact values, ties as ``5=``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
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
    keyed = [(value(item), item) for item in items]
    keyed.sort(key=lambda pair: pair[0], reverse=True)
    out: list[tuple[int, bool, T]] = []
    index = 0
    while index < len(keyed):
        end = index + 1
        while end < len(keyed) and keyed[end][0] == keyed[index][0]:
            end += 1
        out.extend((index + 1, end - index > 1, item) for _, item in keyed[index:end])
        index = end
    return out
