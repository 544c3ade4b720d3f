"""Matchpoints: worked examples, invariants, and a plain second way to every number."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import EntryError
from terminals.scoring.matchpoints import Unequal, Weighted, factor, matchpoints, plain, raw_matchpoints

F = Fraction


def scores(*values: int) -> list[Weighted | None]:
    return [plain(value) for value in values]


def pairwise(values: Sequence[Weighted | None]) -> list[F | None]:
    """Law 78A word by word: every line against every other, outcome by outcome."""
    out: list[F | None] = []
    for mine, value in enumerate(values):
        if value is None:
            out.append(None)
            continue
        total = F(0)
        for other, theirs in enumerate(values):
            if other == mine or theirs is None:
                continue
            for score, weight in value:
                for their_score, their_weight in theirs:
                    total += weight * their_weight * (2 if score > their_score else 1 if score == their_score else 0)
        out.append(total)
    return out


def test_ties() -> None:
    assert matchpoints(scores(620, 620, 170, 170, 140, -100)) == [9, 9, 5, 5, 2, 0]
    assert matchpoints(scores(-620, -620, -170, -170, -140, 100)) == [1, 1, 5, 5, 8, 10]


def test_neuberg_example_of_five_scores_in_seven() -> None:
    values = scores(170, 140, 140, 110, -50)
    assert matchpoints(values) == [8, 5, 5, 2, 0]
    assert matchpoints(values, 7) == [F("11.6"), F("7.4"), F("7.4"), F("3.2"), F("0.4")]


@pytest.mark.parametrize(
    ("values", "published"),
    [
        (range(7), ["17.571", "14.714", "11.857", "9.000", "6.143", "3.286", "0.429"]),
        (range(3), ["15.667", "9.000", "2.333"]),
    ],
)
def test_published_neuberg_table_of_a_field_of_ten(values: range, published: list[str]) -> None:
    points = matchpoints(scores(*reversed(values)), 10)
    assert [f"{float(value):.3f}" for value in points if value is not None] == published


def test_fouled_groups_of_nine_and_four_in_thirteen() -> None:
    nine = matchpoints(scores(*range(9)), 13)
    four = matchpoints(scores(4, 3, 2, 1), 13)
    assert [f"{float(value):.4f}" for value in (nine[-1], nine[0]) if value is not None] == ["23.5556", "0.4444"]
    assert four == [F("21.75"), F("15.25"), F("8.75"), F("2.25")]


def test_two_scores_in_a_field_of_five() -> None:
    assert matchpoints(scores(100, 200), 5) == [F("1.5"), F("6.5")]


def test_artificial_lines_leave_the_group_and_stay_in_e() -> None:
    top_of_nineteen = matchpoints([*scores(*range(19)), None, None], 21)[18]
    assert top_of_nineteen is not None
    assert f"{float((36 + 1) * F(21, 19) - 1):.4f}" == "39.8947"
    assert top_of_nineteen == F(37 * 21, 19) - 1


def test_weighted_ruling_enters_everyones_table() -> None:
    values: list[Weighted | None] = scores(650, 620, 620, 620, 170, -100, -100)
    values.append(((650, F(3, 10)), (-100, F(7, 10))))
    points = matchpoints(values)
    assert points == [F("13.7"), F("9.4"), F("9.4"), F("9.4"), F("5.4"), F("1.7"), F("1.7"), F("5.3")]
    assert sum(value for value in points if value is not None) == 8 * 7
    east_west = matchpoints([tuple((-score, weight) for score, weight in value) for value in values if value])
    assert east_west[-1] == F("8.7")


def test_raw_percent_and_ascherman() -> None:
    values = scores(170, 140, 140, 110, -50)
    assert matchpoints(values, 7, Unequal.RAW_PERCENT) == [12, F("7.5"), F("7.5"), 3, 0]
    assert matchpoints(values, 7, Unequal.ASCHERMAN) == [10, 7, 7, 4, 2]
    for method in (Unequal.NEUBERG, Unequal.RAW_PERCENT, Unequal.ASCHERMAN):
        assert matchpoints(scores(50), 7, method) == [6]
    assert matchpoints(values, 7, Unequal.OWN_TOP) == matchpoints(values)


def test_more_scores_than_expected_is_refused() -> None:
    with pytest.raises(EntryError, match="3 results where only 2"):
        factor(raw_matchpoints(scores(1, 2, 3)), 2)


score = st.integers(-20, 20).map(lambda value: value * 50)


@st.composite
def weighted(draw: st.DrawFn) -> Weighted:
    parts = draw(st.lists(st.integers(1, 9), min_size=1, max_size=5))
    return tuple((draw(score), F(part, sum(parts))) for part in parts)


fields = st.lists(st.one_of(st.none(), score.map(plain), weighted()), max_size=14)


@given(fields)
def test_equals_the_pairwise_definition(values: list[Weighted | None]) -> None:
    assert raw_matchpoints(values) == pairwise(values)


@given(fields, st.integers(0, 6))
def test_sums_and_symmetry(values: list[Weighted | None], missing: int) -> None:
    count = sum(value is not None for value in values)
    expected = max(1, count + missing)
    points = matchpoints(values, expected)
    mirrored = matchpoints(
        [None if value is None else tuple((-score, weight) for score, weight in value) for value in values], expected
    )
    genuine = [value for value in points if value is not None]
    assert sum(genuine) == count * (expected - 1)
    for one, other in zip(points, mirrored, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert one + other == 2 * (expected - 1)
            assert 0 <= one <= 2 * (expected - 1)


@given(fields, st.randoms(use_true_random=False))
def test_the_order_of_lines_does_not_matter(values: list[Weighted | None], random: object) -> None:
    order = list(range(len(values)))
    random.shuffle(order)  # type: ignore[attr-defined]
    points = raw_matchpoints(values)
    assert raw_matchpoints([values[index] for index in order]) == [points[index] for index in order]
