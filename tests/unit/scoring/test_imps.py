"""IMPs, cross-IMPs and Butler: worked examples, invariants, a plain second way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terminals.scoring.imps import (
    butler,
    butler_datum,
    compare,
    cross_imp_sums,
    cross_imps,
    cross_imps_for_vp,
    imps,
)
from terminals.scoring.matchpoints import Weighted, plain
from terminals.scoring.profile import ButlerDatum

F = Fraction

# Law 78B as printed: smallest and largest difference for 1 to 24 IMPs.
SCALE = [
    *[(20, 40), (50, 80), (90, 120), (130, 160), (170, 210), (220, 260), (270, 310), (320, 360)],
    *[(370, 420), (430, 490), (500, 590), (600, 740), (750, 890), (900, 1090), (1100, 1290), (1300, 1490)],
    *[(1500, 1740), (1750, 1990), (2000, 2240), (2250, 2490), (2500, 2990), (3000, 3490), (3500, 3990)],
    (4000, 15200),
]


def scores(*values: int) -> list[Weighted | None]:
    return [plain(value) for value in values]


def test_every_difference_of_the_printed_scale() -> None:
    table = {0: 0, 10: 0}
    for worth, (low, high) in enumerate(SCALE, start=1):
        for difference in range(low, high + 10, 10):
            table[difference] = worth
    assert sorted(table) == list(range(0, 15210, 10))
    for difference, worth in table.items():
        assert imps(difference) == worth
        assert imps(-difference) == -worth


def test_cross_imps_example() -> None:
    values = scores(420, -450, 100, 200, -400, -590)
    assert cross_imp_sums(values) == [54, -34, 23, 34, -29, -48]
    assert cross_imps(values) == [F("10.8"), F("-6.8"), F("4.6"), F("6.8"), F("-5.8"), F("-9.6")]


def test_butler_examples() -> None:
    values = scores(430, 430, 400, 400, -50, 630)
    datum = butler_datum(values, drop=1)
    assert datum == 420
    assert butler(values, datum) == [0, 0, -1, -1, -10, 5]
    # -445 goes to -450, not to -440: away from zero.
    assert butler_datum(scores(-440, -450), drop=0) == -450
    assert butler_datum(scores(440, 450), drop=0) == 450
    assert butler_datum([None, None]) is None
    assert butler([None], None) == [None]


def test_butler_drops_only_in_a_field_large_enough() -> None:
    assert butler_datum(scores(0, 0, 300), drop=1, drop_min=4) == 100
    assert butler_datum(scores(0, 0, 0, 400), drop=1, drop_min=4) == 0
    assert butler_datum(scores(0, 0, 0, 400), drop=2, drop_min=4) == 100
    assert butler_datum(scores(1, 2), drop=0, unit=0) == F(3, 2)


def test_median_datum() -> None:
    assert butler_datum(scores(10, 90, 500), datum=ButlerDatum.MEDIAN) == 90
    assert butler_datum(scores(10, 90, 110, 500), datum=ButlerDatum.MEDIAN) == 100
    half: list[Weighted | None] = [((0, F(1, 2)), (100, F(1, 2))), plain(100), plain(-50)]
    assert butler_datum(half, datum=ButlerDatum.MEDIAN) == 50


def test_weights_are_converted_before_they_are_averaged() -> None:
    ruling = ((620, F(3, 5)), (-100, F(2, 5)))
    assert compare(ruling, plain(140)) == F("3.6")
    assert imps(F(3, 5) * 620 - F(2, 5) * 100 - 140) == 5  # what averaging the points first would have given


def pairwise(values: Sequence[Weighted | None]) -> list[F | None]:
    return [
        None
        if value is None
        else sum((compare(value, other) for j, other in enumerate(values) if other is not None and i != j), F(0))
        for i, value in enumerate(values)
    ]


score = st.integers(-40, 40).map(lambda value: value * 50)


@st.composite
def weighted(draw: st.DrawFn) -> Weighted:
    parts = draw(st.lists(st.integers(1, 9), min_size=2, max_size=5))
    return tuple((draw(score), F(part, sum(parts))) for part in parts)


@given(st.lists(st.one_of(st.none(), score.map(plain), weighted()), max_size=12))
def test_cross_imps_equal_the_pairwise_definition_and_sum_to_zero(values: list[Weighted | None]) -> None:
    sums = cross_imp_sums(values)
    assert sums == pairwise(values)
    assert sum(value for value in sums if value is not None) == 0
    mirrored = cross_imp_sums([v if v is None else tuple((-s, w) for s, w in v) for v in values])
    assert mirrored == [None if value is None else -value for value in sums]


@given(st.lists(st.one_of(score.map(plain), weighted()), min_size=1, max_size=12), st.integers(0, 2))
def test_butler_is_symmetric(values: list[Weighted | None], drop: int) -> None:
    mirrored: list[Weighted | None] = [v and tuple((-s, w) for s, w in v) for v in values]
    for datum in ButlerDatum:
        one = butler_datum(values, datum=datum, drop=drop)
        other = butler_datum(mirrored, datum=datum, drop=drop)
        assert one is not None
        assert other == -one
        assert butler(mirrored, other) == [None if v is None else -v for v in butler(values, one)]


@given(st.lists(score, min_size=1, max_size=15))
def test_trimmed_mean_equals_a_sorted_list(values: list[int]) -> None:
    cut = 1 if len(values) >= 4 else 0
    kept = sorted(values)[cut : len(values) - cut]
    assert butler_datum([plain(v) for v in values], drop=1, unit=0) == F(sum(kept), len(kept))


@given(st.lists(st.tuples(st.integers(-200, 200), st.integers(2, 20)), min_size=1, max_size=10))
def test_cross_imps_for_victory_points(boards: list[tuple[int, int]]) -> None:
    exact = sum(total / math.sqrt(results * (results - 1) / 2) for total, results in boards)
    if abs(abs(exact) % 1 - 0.5) > 1e-6:
        wanted = int(math.copysign(math.floor(abs(exact) + 0.5), exact))
        assert cross_imps_for_vp([(F(total), results) for total, results in boards]) == wanted


def test_cross_imps_for_victory_points_halves_go_away_from_zero() -> None:
    assert cross_imps_for_vp([(F(15), 9)]) == 3  # 15 / 6
    assert cross_imps_for_vp([(F(-15), 9)]) == -3
    assert cross_imps_for_vp([(F(5), 1)]) == 0


@pytest.mark.parametrize("values", [[], [None]])
def test_nothing_to_compare(values: list[Weighted | None]) -> None:
    assert cross_imps(values) == values
    assert cross_imps([*values, plain(50)])[-1] == 0
