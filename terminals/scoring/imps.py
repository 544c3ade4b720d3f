"""IMPs: the scale of Law 78B (2007), Butler, cross-IMPs. Pure, exact, weights converted before they are averaged.

Values are those of ``matchpoints``: one tuple of (score, weight) for each line, seen from one direction, or None.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

from terminals.scoring.matchpoints import Weighted
from terminals.scoring.profile import ButlerDatum
from terminals.scoring.rounding import Rounding, round_to

# Smallest difference in points that is worth 1, 2, 3 ... 24 IMPs.
IMP_BOUNDS = (
    *(20, 50, 90, 130, 170, 220, 270, 320, 370, 430, 500, 600),
    *(750, 900, 1100, 1300, 1500, 1750, 2000, 2250, 2500, 3000, 3500, 4000),
)


def imps(difference: int | Fraction) -> int:
    """IMPs for a difference in points, with its sign (Law 78B); a non-integer difference comes from a Butler datum."""
    if difference < 0:
        return -imps(-difference)
    return bisect_right(IMP_BOUNDS, math.floor(difference))


def compare(own: Weighted, other: Weighted) -> Fraction:
    """IMPs of one value against another, both seen from the same direction; every pair of outcomes is converted."""
    total = Fraction(0)
    for score, weight in own:
        for other_score, other_weight in other:
            total += weight * other_weight * imps(score - other_score)
    return total


def cross_imp_sums(values: Sequence[Weighted | None]) -> list[Fraction | None]:
    """Sum of IMPs against every other genuine score of the group; the sums of a group add up to 0."""
    frequency: dict[int, Fraction] = {}
    for value in values:
        for score, weight in value or ():
            frequency[score] = frequency.get(score, Fraction(0)) + weight
    table = sorted(frequency.items())
    whole = [(score, count.numerator) for score, count in table if count.denominator == 1]
    parts = [(score, count) for score, count in table if count.denominator != 1]
    cache: dict[int, Fraction] = {}

    def against_all(score: int) -> Fraction:
        found = cache.get(score)
        if found is None:
            total = Fraction(sum(count * imps(score - other) for other, count in whole))
            for other, part in parts:
                total += part * imps(score - other)
            found = cache[score] = total
        return found

    out: list[Fraction | None] = []
    for value in values:
        if value is None:
            out.append(None)
        elif len(value) == 1:
            out.append(against_all(value[0][0]))
        else:
            # Compared with itself a line gets 0 IMPs, so it need not be taken out of the table.
            out.append(sum((weight * against_all(score) for score, weight in value), Fraction(0)))
    return out


def cross_imps(values: Sequence[Weighted | None]) -> list[Fraction | None]:
    """Cross-IMPs averaged over the comparisons: the sums divided by A-1; a single score gets 0."""
    sums = cross_imp_sums(values)
    comparisons = max(1, sum(1 for value in values if value is not None) - 1)
    return [None if value is None else value / comparisons for value in sums]


def butler_datum(
    values: Sequence[Weighted | None],
    *,
    datum: ButlerDatum = ButlerDatum.MEAN,
    drop: int = 1,
    drop_min: int = 4,
    unit: int = 10,
) -> Fraction | None:
    """The datum of a board, seen from the direction of ``values``; None without a genuine score.

    mean: the ``drop`` highest and lowest scores are left out when there are at least ``drop_min``; median: the middle
    score, or the mean of the two in the middle. Rounded to ``unit``, an exact half away from zero; 0 leaves it exact.
    """
    frequency: dict[int, Fraction] = {}
    count = 0
    for value in values:
        if value is not None:
            count += 1
            for score, weight in value:
                frequency[score] = frequency.get(score, Fraction(0)) + weight
    if not count:
        return None
    table = sorted(frequency.items())
    if datum is ButlerDatum.MEDIAN:
        exact = _median(table, count)
    else:
        cut = drop if count >= drop_min and count > 2 * drop else 0
        exact = _mean(_trim(_trim(table, cut)[::-1], cut)) / (count - 2 * cut)
    return round_to(exact, Fraction(unit), Rounding.HALF_AWAY) if unit else exact


def _trim(table: list[tuple[int, Fraction]], cut: int) -> list[tuple[int, Fraction]]:
    """Take ``cut`` scores off the front of a frequency table; fractions of a weighted line go with it."""
    out = []
    left = Fraction(cut)
    for score, count in table:
        taken = min(left, count)
        left -= taken
        if count != taken:
            out.append((score, count - taken))
    return out


def _mean(table: list[tuple[int, Fraction]]) -> Fraction:
    return sum((score * count for score, count in table), Fraction(0))


def _median(table: list[tuple[int, Fraction]], count: int) -> Fraction:
    half = Fraction(count, 2)
    below = Fraction(0)
    for index, (score, weight) in enumerate(table):
        below += weight
        if below > half:
            return Fraction(score)
        if below == half:
            return Fraction(score + table[index + 1][0], 2)
    return Fraction(table[-1][0])


def butler(values: Sequence[Weighted | None], datum: Fraction | None) -> list[Fraction | None]:
    """IMPs of every value against the datum."""
    if datum is None:
        return [None] * len(values)
    return [
        None if value is None else sum((weight * imps(score - datum) for score, weight in value), Fraction(0))
        for value in values
    ]


def cross_imps_for_vp(sums: Sequence[tuple[Fraction, int]]) -> int:
    """A match's cross-IMPs in whole IMPs for a teams victory-point scale.

    sums: (sum of cross-IMPs, number of results r) for each board; each sum is divided by the square root of r(r-1)/2,
    the total is rounded to a whole IMP, halves away from zero.
    """
    exact = Fraction(0)
    with localcontext() as context:
        context.prec = 60
        irrational = Decimal(0)
        for total, results in sums:
            comparisons = results * (results - 1) // 2
            if not comparisons:
                continue
            root = math.isqrt(comparisons)
            if root * root == comparisons:
                exact += total / root
            else:
                part = Decimal(total.numerator) / Decimal(total.denominator)
                irrational += part / Decimal(comparisons).sqrt()
        value = exact + Fraction(irrational)
    return int(round_to(value, Fraction(1), Rounding.HALF_AWAY))
