"""Is the dealing uniform? Tests that are all named before the first deal is drawn, each giving a p-value.

The exact tables (shapes, points) are counted here, not copied. Cards of one deal are dependent, so each test says what
it counts: one hand a deal for shape and points; 51/52 of the plain sum for card by seat, because 13 cards in every
hand make that table more even than independent cards would.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from dealer.bulk import BulkDeals, random_indices, unrank, west_masks
from dealer.constraints import facts_of
from dealer.deal import N_DEALS
from dealer.generate import RandBytes

Counts = npt.NDArray[np.int64]
Source = Callable[[int], BulkDeals]
"""Gives that many consecutive deals."""

BATCH = 65_536
MIN_EXPECTED = 5.0
INDEX_BINS = 4096
PRIMES = (3, 5, 7, 11, 13, 17, 19, 23)

TESTS = (
    "index",
    "index mod primes",
    "index top bits",
    "shape",
    "points",
    "card by seat",
    "aces",
    "serial",
    "stays",
)
"""Every test of a run, in the order of the table."""


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the table. statistic is chi-square with ``df`` degrees, or a normal deviate where df is 0."""

    name: str
    statistic: float
    df: int
    p: float
    note: str = ""


def shape_table() -> dict[int, int]:
    """Hands of each shape among the C(52,13); key: lengths as digits pairs, longest first, as in ``facts_of``."""
    table: dict[int, int] = {}
    for shape in combinations_with_replacement(range(13, -1, -1), 4):
        if sum(shape) != 13:
            continue
        ways = len(set(permutations(shape)))
        for length in shape:
            ways *= comb(13, length)
        key = ((shape[0] * 100 + shape[1]) * 100 + shape[2]) * 100 + shape[3]
        table[key] = ways
    return table


def points_table() -> list[int]:
    """Hands with 0..37 high-card points among the C(52,13)."""
    table = [0] * 41
    for aces in range(5):
        for kings in range(5):
            for queens in range(5):
                for jacks in range(5):
                    honours = aces + kings + queens + jacks
                    if honours <= 13:
                        ways = comb(4, aces) * comb(4, kings) * comb(4, queens) * comb(4, jacks)
                        table[4 * aces + 3 * kings + 2 * queens + jacks] += ways * comb(36, 13 - honours)
    return table[:38]


def ace_table() -> list[float]:
    """Probability of each of the 256 ways the aces can lie, four seats in base 4, spade ace first."""
    table = []
    for value in range(256):
        held = [0, 0, 0, 0]
        chance, left = 1.0, 52
        for digit in (value >> 6 & 3, value >> 4 & 3, value >> 2 & 3, value & 3):
            chance *= (13 - held[digit]) / left
            held[digit] += 1
            left -= 1
        table.append(chance)
    return table


class Suite:
    """Counts of everything that the tests need, gathered batch by batch."""

    def __init__(self) -> None:
        self.deals = 0
        self.bins = np.zeros(INDEX_BINS, dtype=np.int64)
        self.residues = {prime: np.zeros(prime, dtype=np.int64) for prime in PRIMES}
        self.tops: list[npt.NDArray[np.uint64]] = []
        self.shapes: dict[int, int] = dict.fromkeys(shape_table(), 0)
        self.points = np.zeros(41, dtype=np.int64)
        self.cards = np.zeros((52, 4), dtype=np.int64)
        self.aces = np.zeros(256, dtype=np.int64)
        self.serial = np.zeros((52, 16), dtype=np.int64)
        self._last: npt.NDArray[np.uint8] | None = None

    def add(self, deals: BulkDeals) -> None:
        """Count a batch; batches follow each other without a gap, which the serial test needs."""
        self.deals += len(deals)
        self._add_indices(deals.index)
        facts = facts_of(deals)
        keys, numbers = np.unique(facts.shape[0], return_counts=True)
        for key, number in zip(keys.tolist(), numbers.tolist(), strict=True):
            self.shapes[key] += number
        self.points += np.bincount(facts.points[0], minlength=41)
        owners = owners_of(deals)
        for seat in range(4):
            self.cards[:, seat] += (owners == seat).sum(axis=1)
        aces = owners[0].astype(np.int64) << 6 | owners[13].astype(np.int64) << 4 | owners[26] << 2 | owners[39]
        self.aces += np.bincount(aces, minlength=256)
        before = owners[:, :-1] if self._last is None else np.concatenate([self._last, owners[:, :-1]], axis=1)
        after = owners[:, 1:] if self._last is None else owners
        pairs = (before << 2 | after).astype(np.int64)
        for card in range(52):
            self.serial[card] += np.bincount(pairs[card], minlength=16)
        self._last = owners[:, -1:].copy()

    def _add_indices(self, index: npt.NDArray[np.uint32]) -> None:
        high, middle, low = (index[:, column].astype(np.uint64) for column in range(3))
        fraction = (high * 2.0**64 + middle * 2.0**32 + low) / float(N_DEALS)
        self.bins += np.bincount(np.minimum((fraction * INDEX_BINS).astype(np.int64), INDEX_BINS - 1), minlength=4096)
        for prime in PRIMES:
            rest = (high * ((1 << 64) % prime) + middle * ((1 << 32) % prime) + low) % prime
            self.residues[prime] += np.bincount(rest.astype(np.int64), minlength=prime)
        self.tops.append((fraction * 2.0**40).astype(np.uint64))

    def results(self) -> list[Result]:
        """The table, in the order of TESTS."""
        n = self.deals
        even = np.full(INDEX_BINS, n / INDEX_BINS)
        results = [chi_square("index", self.bins, even, note=f"{INDEX_BINS} equal ranges")]
        parts = [chi_square("", count, np.full(prime, n / prime)) for prime, count in self.residues.items()]
        statistic, df = sum(part.statistic for part in parts), sum(part.df for part in parts)
        results.append(Result("index mod primes", statistic, df, chi_p(statistic, df), "3 to 23"))
        results.append(self._collisions())
        total = comb(52, 13)
        shapes = shape_table()
        observed = np.array([self.shapes[key] for key in shapes], dtype=np.int64)
        results.append(chi_square("shape", observed, np.array([ways * n / total for ways in shapes.values()]), "North"))
        points = np.array([ways * n / total for ways in points_table()])
        results.append(chi_square("points", self.points[:38], points, "North"))
        plain = float(((self.cards - n / 4) ** 2 / (n / 4)).sum()) * 51 / 52
        results.append(Result("card by seat", plain, 153, chi_p(plain, 153), "times 51/52"))
        results.append(chi_square("aces", self.aces, np.array(ace_table()) * n, "joint"))
        results += self._serial()
        return results

    def _collisions(self) -> Result:
        tops = np.sort(np.concatenate(self.tops)) if self.tops else np.zeros(0, dtype=np.uint64)
        seen = int(np.count_nonzero(tops[1:] == tops[:-1]))
        expected = self.deals * (self.deals - 1) / 2.0 / 2.0**40
        low, high = poisson_tails(seen, expected)
        return Result("index top bits", seen, 0, min(1.0, 2 * min(low, high)), f"collisions, {expected:.2f} expected")

    def _serial(self) -> Iterator[Result]:
        """Seats of each card in one deal and in the next.

        With its row and column sums taken out, a card's table has nine degrees. Two cards' tables correlate by 1/51^2
        only, so that the sum over the 52 cards is chi-square with 468 degrees to within a thousandth.
        """
        pairs = int(self.serial[0].sum())
        if pairs < 1:
            return
        table = self.serial.reshape(52, 4, 4).astype(np.float64)
        expected = pairs / 16
        rows = table.sum(axis=2, keepdims=True) / 4
        columns = table.sum(axis=1, keepdims=True) / 4
        statistic = float(((table - rows - columns + expected) ** 2).sum() / expected)
        yield Result("serial", statistic, 468, chi_p(statistic, 468), "each card, next deal")
        stays = float(table[:, range(4), range(4)].sum())
        deviate = (stays - 13.0 * pairs) / math.sqrt(pairs * stays_variance())
        note = f"{stays / pairs / 52:.5f} of cards, 0.25 expected"
        yield Result("stays", deviate, 0, math.erfc(abs(deviate) / math.sqrt(2)), note)


def stays_variance() -> float:
    """Variance of how many of the 52 cards lie in the same seat in two independent deals."""
    same_seat = 12 / 51  # of two cards of one hand in the first deal, both stay: (1/4)(12/51)
    both = 52 * 12 * 0.25 * same_seat + 52 * 39 * 0.25 * (13 / 51)
    return 13.0 + both - 13.0**2


def owners_of(deals: BulkDeals) -> npt.NDArray[np.uint8]:
    """(52, n) uint8: the seat of each card."""
    west = west_masks(deals)
    owners = np.empty((52, len(deals)), dtype=np.uint8)
    for suit in range(4):
        low = deals.masks[1, suit] | west[suit]
        high = deals.masks[2, suit] | west[suit]
        for rank in range(13):
            owners[13 * suit + rank] = (low >> (12 - rank) & 1) | (high >> (12 - rank) & 1) << 1
    return owners


def chi_square(name: str, observed: Counts, expected: npt.NDArray[Any], note: str = "") -> Result:
    """Pearson's statistic; cells expected fewer than five times are put together."""
    order = np.argsort(expected, kind="stable")
    seen, wanted = observed[order].astype(np.float64), expected[order].astype(np.float64)
    small = int(np.count_nonzero(wanted < MIN_EXPECTED))
    if small:
        last = small
        while last < len(wanted) and wanted[:last].sum() < MIN_EXPECTED:
            last += 1
        seen = np.concatenate([[seen[:last].sum()], seen[last:]])
        wanted = np.concatenate([[wanted[:last].sum()], wanted[last:]])
    df = len(wanted) - 1
    if df < 1:
        return Result(name, 0.0, 0, 1.0, "too few deals")
    statistic = float(((seen - wanted) ** 2 / wanted).sum())
    return Result(name, statistic, df, chi_p(statistic, df), note)


def chi_p(statistic: float, df: float) -> float:
    """Chance of a chi-square value as large or larger: the upper regularised gamma function, by series or fraction."""
    if statistic <= 0:
        return 1.0
    a, x = df / 2.0, statistic / 2.0
    front = math.exp(-x + a * math.log(x) - math.lgamma(a)) if x else 0.0
    if x < a + 1:
        term = total = 1.0 / a
        n = a
        while abs(term) > abs(total) * 1e-15:
            n += 1
            term *= x / n
            total += term
        return max(0.0, 1.0 - total * front)
    tiny = 1e-300
    b = x + 1 - a
    c, d = 1 / tiny, 1 / b
    h = d
    for i in range(1, 100_000):
        an = -i * (i - a)
        b += 2
        d = an * d + b
        d = 1 / (d if abs(d) > tiny else tiny)
        c = b + an / c
        c = c if abs(c) > tiny else tiny
        delta = d * c
        h *= delta
        if abs(delta - 1) < 1e-15:
            break
    return min(1.0, h * front)


def poisson_tails(seen: int, expected: float) -> tuple[float, float]:
    """Chance of at most, and of at least, ``seen`` events where ``expected`` are expected."""
    if expected <= 0:
        return 1.0, 1.0 if seen == 0 else 0.0
    upto = [math.exp(k * math.log(expected) - expected - math.lgamma(k + 1)) for k in range(seen + 1)]
    return min(1.0, sum(upto)), min(1.0, 1.0 - sum(upto[:-1]))


def run_suite(
    deals: int,
    source: Source | None = None,
    *,
    randbytes: RandBytes = os.urandom,
    progress: Callable[[int], None] = lambda _: None,
) -> list[Result]:
    """All tests over ``deals`` deals of ``source``; without one, of our own generator fed with ``randbytes``."""
    draw: Source = source or (lambda count: unrank(random_indices(count, randbytes)))
    suite = Suite()
    while suite.deals < deals:
        suite.add(draw(min(BATCH, deals - suite.deals)))
        progress(suite.deals)
    return suite.results()


def first_deals(runs: int, fresh: Callable[[], Source]) -> Result:
    """Card by seat over the first deal of many fresh runs: where a generator that starts badly shows."""
    parts = [fresh()(1) for _ in range(runs)]
    deals = BulkDeals(
        np.concatenate([part.index for part in parts]), np.concatenate([part.masks for part in parts], axis=2)
    )
    owners = owners_of(deals)
    table = np.stack([(owners == seat).sum(axis=1) for seat in range(4)], axis=1)
    statistic = float(((table - runs / 4) ** 2 / (runs / 4)).sum()) * 51 / 52
    return Result("first deal", statistic, 153, chi_p(statistic, 153), f"{runs} fresh runs")


def table_text(results: Sequence[Result]) -> str:
    """The table for people."""
    lines = [f"{'test':<18}{'statistic':>12}{'df':>7}{'p':>12}  remarks"]
    for result in results:
        df = str(result.df) if result.df else "-"
        lines.append(f"{result.name:<18}{result.statistic:>12.2f}{df:>7}{result.p:>12.3g}  {result.note}")
    return "\n".join(lines)
