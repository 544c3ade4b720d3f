"""Comparing a published number with an exact one: how much it was rounded, and how a difference is reported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from terminals.interop.exchange import ExchangeLine, Published
from terminals.result import PassedOut, Played
from terminals.scoring.rounding import decimal_text, round_to


def decimals_of(numbers: Iterable[Published]) -> int:
    """The decimals that a column of a file is printed with: the most of any number (zeros may have been cut off)."""
    return max((one.decimals for one in numbers), default=0)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Equal means: equal after rounding to ``decimals``, whichever way an exact half was rounded."""

    decimals: int

    def equal(self, published: Fraction, computed: Fraction) -> bool:
        return bool(abs(published - computed) * 2 * 10**self.decimals <= 1)

    def equal_total(self, published: Published, computed: Fraction, adjustment: Published | None) -> bool:
        """A total equals the computed one, with or without the adjustment, which was itself rounded for print."""
        if self.equal(published.value, computed):
            return True
        if adjustment is None or not adjustment.value:
            return False
        rest = abs(published.value - computed - adjustment.value)
        return bool(2 * rest <= Fraction(1, 10**self.decimals) + Fraction(1, 10**adjustment.decimals))


def json_number(value: Fraction | None, decimals: int = 2) -> int | float | None:
    """A number for JSON, rounded for display: whole numbers as integers."""
    if value is None:
        return None
    if value.denominator == 1:
        return int(value)
    return float(decimal_text(value, max(decimals, 2)))


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One published number that differs. computed: exact, None when there should be no number at all."""

    published: Fraction
    computed: Fraction | None
    board: int | None = None
    contestant: str = ""
    side: str = ""
    detail: str = ""
    decimals: int = 0
    round: int | None = None

    def as_dict(self) -> dict[str, object]:
        out: dict[str, object] = {}
        if self.round is not None:
            out["round"] = self.round
        if self.board is not None:
            out["board"] = self.board
        if self.contestant:
            out["contestant"] = self.contestant
        if self.side:
            out["side"] = self.side
        out["published"] = json_number(self.published, self.decimals)
        out["computed"] = json_number(self.computed, self.decimals)
        if self.detail:
            out["detail"] = self.detail
        return out

    @property
    def place(self) -> str:
        """Where it is, in words."""
        parts = []
        if self.round is not None:
            parts.append(f"round {self.round}")
        if self.board is not None:
            parts.append(f"board {self.board}")
        if self.contestant:
            parts.append(f"{self.contestant} {self.side}".rstrip())
        return ", ".join(parts)


def shared_by(one: ExchangeLine, scale: int) -> int:
    """E as a line shows it: half of the matchpoints that its sides share, and one; 0 where that is no whole number.

    scale: 2 for 2/1/0, 1 for half of that. Artificial and adjusted scores need not sum to the top and do not count.
    """
    if one.ns_points is None or one.ew_points is None or not isinstance(one.line.result, (Played, PassedOut)):
        return 0
    top = (one.ns_points.value + one.ew_points.value) * 2 / scale
    nearest = round_to(top, Fraction(2))
    return int(nearest) // 2 + 1 if abs(top - nearest) <= Fraction(1, 25) else 0
