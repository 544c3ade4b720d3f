"""Rounding of exact rationals for display: once, at the end, never with Python's ``round`` (which is half-even)."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction


class Rounding(StrEnum):
    """What happens to a value between two steps.

    half_up: nearest, an exact half towards plus infinity. half_away: nearest, an exact half away from zero. Rounding
    that looks at the average of a board is done by ``round_around``.
    """

    HALF_UP = "half_up"
    HALF_AWAY = "half_away"


def round_to(value: Fraction, unit: Fraction, rounding: Rounding = Rounding.HALF_UP) -> Fraction:
    """The multiple of ``unit`` nearest to ``value``."""
    if rounding is Rounding.HALF_AWAY and value < 0:
        return -round_to(-value, unit)
    steps = (2 * value / unit + 1) // 2
    return steps * unit


def round_around(value: Fraction, centre: Fraction, unit: Fraction, *, away: bool) -> Fraction:
    """Round to a multiple of ``unit``, an exact half going away from ``centre`` or towards it."""
    low = value // unit * unit
    rest = value - low
    if rest == 0:
        return value
    if 2 * rest != unit:
        return low if 2 * rest < unit else low + unit
    upward = (value >= centre) if away else (value < centre)
    return low + unit if upward else low


def decimal_text(value: Fraction, places: int = 2, rounding: Rounding = Rounding.HALF_UP) -> str:
    """``value`` with exactly ``places`` decimals, rounded once; a point, never a comma; no minus before zero."""
    scaled, divisor = value.numerator * 10**places, value.denominator
    if rounding is Rounding.HALF_AWAY and scaled < 0:
        whole = -((-2 * scaled + divisor) // (2 * divisor))
    else:
        whole = (2 * scaled + divisor) // (2 * divisor)
    sign, digits = ("-" if whole < 0 else ""), str(abs(whole)).rjust(places + 1, "0")
    return sign + (digits if places == 0 else f"{digits[:-places]}.{digits[-places:]}")
