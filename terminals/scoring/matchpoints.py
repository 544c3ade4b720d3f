"""Matchpoints of one board in one field, each direction on its own: Law 78A (2007), with exact rationals.

A direction's *values* are one entry per line of the field: a tuple of ``(score, weight)`` seen from that direction
(a table result is one score of weight 1; a weighted ruling up to five, Law 12C1(c)), or None for a line that has no
genuine score in this direction (artificial, not played, not entered). East-West is never derived from North-South.
All points are on the scale 2 for a score beaten, 1 for an equal one.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction
from math import lcm

from firmware_bridge.errors import EntryError

Weighted = tuple[tuple[int, Fraction], ...]
"""Outcomes of one line from one direction: (score, weight) with weights that sum to 1."""

ONE = Fraction(1)


class Unequal(StrEnum):
    """How a group with fewer scores than expected is brought to the full top. Regulation, not law (Law 78D, 87B)."""

    NEUBERG = "neuberg"
    RAW_PERCENT = "raw_percent"
    ASCHERMAN = "ascherman"
    OWN_TOP = "own_top"  # nothing is factored; each board counts with the top of the scores that it has


def plain(score: int) -> Weighted:
    """The value of an unweighted score."""
    return ((score, ONE),)


def raw_matchpoints(values: Sequence[Weighted | None]) -> list[Fraction | None]:
    """Points 2/1/0 within the group, before any factoring; top is 2(A-1) for A scores. Law 78A.

    A weighted value enters everyone's frequency table with its weights; the sum over the group is A(A-1).
    """
    scale = 1
    for value in values:
        if value is not None and len(value) > 1:
            scale = lcm(scale, *(weight.denominator for _, weight in value))
    frequency: dict[int, int] = {}
    for value in values:
        if value is None:
            continue
        if len(value) == 1:
            score = value[0][0]
            frequency[score] = frequency.get(score, 0) + scale
        else:
            for score, weight in value:
                frequency[score] = frequency.get(score, 0) + weight.numerator * (scale // weight.denominator)
    points: dict[int, Fraction] = {}
    below = 0
    for score in sorted(frequency):
        count = frequency[score]
        # A line compared with itself always yields 1, whatever its weights; it is taken out here.
        points[score] = Fraction(2 * below + count - scale, scale)
        below += count
    out: list[Fraction | None] = []
    for value in values:
        if value is None:
            out.append(None)
        elif len(value) == 1:
            out.append(points[value[0][0]])
        else:
            out.append(sum((weight * points[score] for score, weight in value), Fraction(0)))
    return out


def neuberg(raw: Fraction, scores: int, expected: int) -> Fraction:
    """``(M + 1) * E / A - 1`` for A = scores and E = expected."""
    return (raw + 1) * expected / scores - 1


def factor(raw: Sequence[Fraction | None], expected: int, method: Unequal = Unequal.NEUBERG) -> list[Fraction | None]:
    """Bring a group's raw points to the top ``2(E-1)``.

    raw: from ``raw_matchpoints``. expected: E, the number of scores that a normal board of the field should have, by
    the movement. Ascherman gives a tie for every score of another group and every score that is missing.

    A single score can't be compared: raw percent has no answer for it, so it gets half of the top there; the two other
    methods give the same half by themselves. Raises EntryError when a group has more scores than are expected.
    """
    scores = sum(1 for value in raw if value is not None)
    if scores > expected:
        raise EntryError(
            f"A board has {scores} results where only {expected} are expected.",
            next_step="Correct the expected number of results, or remove the line that does not belong here.",
            code="too-many-results",
        )
    if scores in (0, expected) or method is Unequal.OWN_TOP:
        return list(raw)
    cache: dict[Fraction, Fraction] = {}
    out: list[Fraction | None] = []
    for value in raw:
        if value is None:
            out.append(None)
            continue
        found = cache.get(value)
        if found is None:
            found = cache[value] = _factored(value, scores, expected, method)
        out.append(found)
    return out


def _factored(value: Fraction, scores: int, expected: int, method: Unequal) -> Fraction:
    if method is Unequal.NEUBERG:
        return neuberg(value, scores, expected)
    if method is Unequal.RAW_PERCENT:
        if scores == 1:
            return Fraction(expected - 1)
        return value * (expected - 1) / (scores - 1)
    return value + (expected - scores)


def matchpoints(
    values: Sequence[Weighted | None], expected: int | None = None, method: Unequal = Unequal.NEUBERG
) -> list[Fraction | None]:
    """Points of one group in one direction on the scale 2/1/0, top ``2(E-1)``; None where there is no genuine score.

    expected: E; default: the number of genuine scores.
    """
    raw = raw_matchpoints(values)
    return raw if expected is None else factor(raw, expected, method)
