"""Victory points: the continuous and the discrete scale of 20 points, scales from files, matchpoint percent for pairs.

Law 78D leaves victory points to regulations. Both scales are computed with 60 digits, rounded, and then passed over
until the steps never grow: that correction pass is part of the published scales. Margins are whole IMPs; a margin with
a fraction is rounded first, an exact half away from zero.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from firmware_bridge.errors import EntryError
from terminals.scoring.profile import VpScale
from terminals.scoring.rounding import Rounding, round_to

MAX_BOARDS = 1000
_DIGITS = 60


def _check_boards(boards: int) -> None:
    if not 1 <= boards <= MAX_BOARDS:
        raise EntryError(f"A match has from 1 to {MAX_BOARDS} boards, not {boards}.", code="bad-match")


def whole_margin(margin: int | Fraction) -> int:
    """The margin in whole IMPs, an exact half away from zero."""
    return int(round_to(Fraction(margin), Fraction(1), Rounding.HALF_AWAY))


@lru_cache(maxsize=256)
def continuous_table(boards: int) -> tuple[Fraction, ...]:
    """The winner's victory points for margins 0, 1, 2 ... up to the first that yields 20.

    ``10 + 10 (1 - R^(I/X)) / (1 - R)`` with R the cube of the golden section and X = 15 sqrt(boards), rounded half up
    to 0.01; then, until nothing changes, a step larger than the one before it is evened out by 0.01.
    """
    _check_boards(boards)
    with localcontext() as context:
        context.prec = _DIGITS
        ratio = ((Decimal(5).sqrt() - 1) / 2) ** 3
        blitz = 15 * Decimal(boards).sqrt()
        table: list[int] = []  # in hundredths
        margin = 0
        while margin < blitz:
            share = (1 - ratio ** (Decimal(margin) / blitz)) / (1 - ratio)
            table.append(int(((10 + 10 * share) * 100).quantize(Decimal(1), ROUND_HALF_UP)))
            margin += 1
    table.append(2000)
    changed = True
    while changed:
        changed = False
        for index in range(1, len(table) - 1):
            if table[index + 1] - table[index] > table[index] - table[index - 1]:
                table[index] += 1
                changed = True
    return tuple(Fraction(value, 100) for value in table)


@lru_cache(maxsize=256)
def discrete_table(boards: int, midpoint: int = 10) -> tuple[int, ...]:
    """Largest margins for midpoint, midpoint + 1 ... 2 midpoint - 1 victory points; a larger margin wins them all.

    The margin at which the continuous formula reaches a half point, rounded down, and the correction pass. A pool of
    10 points (midpoint 5) is the half-length scale: half as many boards are half the step.
    """
    _check_boards(boards)
    if midpoint not in (5, 10):
        raise EntryError(f"The discrete scale has a midpoint of 5 or 10, not {midpoint}.", code="bad-scale")
    with localcontext() as context:
        context.prec = _DIGITS
        ratio = ((Decimal(5).sqrt() - 1) / 2) ** 3
        blitz = 15 * Decimal(boards).sqrt()
        bounds = []
        for step in range(midpoint):
            share = (Decimal(step) + Decimal("0.5")) / midpoint
            margin = blitz * (1 - (1 - ratio) * share).ln() / ratio.ln()
            bounds.append(int(margin.to_integral_value(ROUND_FLOOR)))
    changed = True
    while changed:
        changed = False
        if bounds[1] - bounds[0] < 2 * bounds[0] + 1:
            bounds[0] -= 1
            changed = True
            continue
        for index in range(1, midpoint - 1):
            if bounds[index + 1] - bounds[index] < bounds[index] - bounds[index - 1]:
                bounds[index] -= 1
                changed = True
                break
    return tuple(bounds)


def continuous_vp(margin: int | Fraction, boards: int) -> Fraction:
    """Victory points of a side that won by ``margin`` IMPs (negative: lost); the two sides' points sum to 20."""
    whole = whole_margin(margin)
    table = continuous_table(boards)
    won = table[min(abs(whole), len(table) - 1)]
    return won if whole >= 0 else 20 - won


def discrete_vp(margin: int | Fraction, boards: int, midpoint: int = 10) -> Fraction:
    """Whole victory points of a side that won by ``margin`` IMPs; the two sides' points sum to twice the midpoint."""
    whole = whole_margin(margin)
    won = midpoint + bisect_left(discrete_table(boards, midpoint), abs(whole))
    return Fraction(won if whole >= 0 else 2 * midpoint - won)


@dataclass(frozen=True, slots=True)
class VpTable:
    """A scale from a file: rows of (smallest margin, largest margin or None for no limit, winner's VP, loser's VP)."""

    name: str
    rows: tuple[tuple[int, int | None, Fraction, Fraction], ...]
    boards: int | None = None

    def vp(self, margin: int | Fraction) -> Fraction:
        """Raises EntryError for a margin that the table does not name."""
        whole = whole_margin(margin)
        for low, high, winner, loser in self.rows:
            if low <= abs(whole) and (high is None or abs(whole) <= high):
                return winner if whole >= 0 else loser
        raise EntryError(
            f"The victory-point table {self.name} has no row for a margin of {abs(whole)}.",
            next_step="Complete the table file, or choose another scale.",
            code="vp-margin-unknown",
        )


def victory_points(margin: int | Fraction, boards: int, scale: VpScale | VpTable) -> Fraction:
    """Victory points by the scale of the profile or by a table from a file."""
    if isinstance(scale, VpTable):
        return scale.vp(margin)
    return continuous_vp(margin, boards) if scale is VpScale.CONTINUOUS else discrete_vp(margin, boards)


# Swiss pairs by matchpoints: largest percentage for 10, 11 ... 19 victory points (EBU), by boards of the match.
_PERCENT_BOUNDS: tuple[tuple[int, int, tuple[str, ...]], ...] = (
    (5, 6, ("50.78", "52.39", "54.02", "55.72", "57.51", "59.45", "61.62", "64.17", "67.37", "72.13")),
    (7, 9, ("50.65", "51.98", "53.33", "54.74", "56.23", "57.83", "59.64", "61.75", "64.40", "68.35")),
    (10, 13, ("50.54", "51.65", "52.78", "53.95", "55.19", "56.53", "58.04", "59.80", "62.01", "65.30")),
    (14, 19, ("50.45", "51.38", "52.32", "53.30", "54.34", "55.45", "56.71", "58.18", "60.03", "62.78")),
    (20, 27, ("50.38", "51.16", "51.94", "52.77", "53.63", "54.57", "55.62", "56.85", "58.40", "60.71")),
)


def percent_vp(percent: Fraction, boards: int) -> Fraction:
    """Victory points of a Swiss pairs match scored by matchpoints, from the pair's percentage in the match.

    A percentage equal to a bound stays in the lower band; below 50 the scale is mirrored. Each pair is scored on its
    own against the field, so two opponents need not sum to 20. A percentage outside 0-100 (an artificial score with a
    factored board) is clamped first. Raises EntryError for a length that no published scale covers.
    """
    bounds: Sequence[str] | None = next((row for low, high, row in _PERCENT_BOUNDS if low <= boards <= high), None)
    if bounds is None:
        raise EntryError(
            f"There is no published matchpoint scale for matches of {boards} boards; 5 to 27 are covered.",
            next_step="Choose another match length, score the boards by IMPs, or take the scale none.",
            code="vp-boards-unknown",
        )
    value = min(Fraction(100), max(Fraction(0), percent))
    distance = value if value >= 50 else 100 - value
    won = 10 + bisect_left([Fraction(bound) for bound in bounds], distance)
    return Fraction(won if value >= 50 else 20 - won)
