"""Victory points: every published cell of both scales, and the properties that they must have."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import EntryError
from terminals.scoring.profile import VpScale
from terminals.scoring.vp import (
    VpTable,
    continuous_table,
    continuous_vp,
    discrete_table,
    discrete_vp,
    percent_vp,
    victory_points,
)

F = Fraction

# Cells of the published continuous scale that are 0.01 above the rounded formula; all others equal it.
CORRECTED = {
    6: [],
    7: [],
    8: [40],
    9: [],
    10: [27, 29, 31],
    12: [42, 44, 49],
    14: [8, 36, 38],
    16: [14, 27, 38, 46, 49, 55, 59],
    20: [13, 28, 31, 34, 38, 41, 51, 55, 62],
    32: [11, 14, 18, 21, 30, 33, 34, 35, 37, 38, 45, 49, 50, 51, 55, 56, 64, 72, 73, 74, 80, 81],
}
DISCRETE = {
    5: "0 2 4 6 9 12 15 19 24 30",
    6: "0 2 4 7 10 13 17 21 26 32",
    7: "0 2 5 8 11 14 18 23 28 35",
    8: "0 3 6 9 12 16 20 25 30 38",
    9: "0 3 6 9 12 16 21 26 32 40",
    10: "0 3 6 9 13 17 22 27 34 42",
    11: "1 4 7 10 14 18 23 29 36 44",
    12: "1 4 7 11 15 19 24 30 37 46",
    13: "1 4 7 11 15 20 25 31 39 48",
    14: "1 4 8 12 16 21 26 33 40 50",
    15: "1 4 8 12 16 21 27 34 42 52",
    16: "1 4 8 12 17 22 28 35 43 53",
    20: "1 5 9 14 19 25 31 39 48 60",
    24: "1 5 10 15 21 27 34 43 53 65",
    28: "1 6 11 17 23 29 37 46 57 71",
    32: "2 7 12 18 24 32 40 50 61 76",
    40: "2 7 13 20 27 35 45 55 68 85",
    48: "2 8 15 22 30 39 49 61 75 93",
    56: "2 9 16 24 32 42 53 66 81 100",
    64: "3 10 17 25 35 45 57 70 87 107",
}


def rounded_formula(margin: int, boards: int) -> Fraction:
    """The formula in floating point: the second way to the same cell. No cell lies within 1e-9 of a rounding edge."""
    ratio = ((math.sqrt(5) - 1) / 2) ** 3
    blitz = 15 * math.sqrt(boards)
    if margin >= blitz:
        return F(20)
    value = (10 + 10 * (1 - ratio ** (margin / blitz)) / (1 - ratio)) * 100
    assert abs(value + 0.5 - round(value + 0.5)) > 1e-9
    return F(math.floor(value + 0.5), 100)


def test_all_860_cells_of_the_continuous_scale() -> None:
    cells = 0
    for boards, corrected in CORRECTED.items():
        for margin in range(86):
            wanted = rounded_formula(margin, boards) + (F(1, 100) if margin in corrected else 0)
            assert continuous_vp(margin, boards) == wanted, (boards, margin)
            assert continuous_vp(-margin, boards) == 20 - wanted
            cells += 1
    assert cells == 860
    assert sum(map(len, CORRECTED.values())) == 48


def test_all_200_cells_of_the_discrete_scale() -> None:
    cells = 0
    for boards, row in DISCRETE.items():
        bounds = tuple(map(int, row.split()))
        assert discrete_table(boards) == bounds, boards
        for won, bound in enumerate(bounds, start=10):
            assert discrete_vp(bound, boards) == won
            assert discrete_vp(bound + 1, boards) == won + 1
            cells += 1
    assert cells == 200


@pytest.mark.parametrize(
    ("boards", "margin", "vp"), [(8, 10, "13.78"), (16, 25, "15.92"), (24, 1, "10.25"), (7, 40, "20"), (7, 39, "19.93")]
)
def test_spots(boards: int, margin: int, vp: str) -> None:
    if (boards, margin) != (7, 39):
        assert continuous_vp(margin, boards) == F(vp)
    else:
        assert continuous_vp(margin, boards) < 20


@given(st.integers(1, 120), st.integers(-400, 400))
def test_scales_are_monotone_and_sum_to_twenty(boards: int, margin: int) -> None:
    for vp in (continuous_vp, discrete_vp):
        assert vp(margin, boards) + vp(-margin, boards) == 20
        assert vp(margin, boards) <= vp(margin + 1, boards)
        assert 0 <= vp(margin, boards) <= 20
    assert continuous_vp(0, boards) == discrete_vp(0, boards) == 10


@given(st.integers(1, 120))
def test_steps_of_the_continuous_scale_never_grow(boards: int) -> None:
    table = continuous_table(boards)
    steps = [after - before for before, after in itertools.pairwise(table)]
    assert steps == sorted(steps, reverse=True)


def test_half_length_scale_of_ten_points() -> None:
    bounds = discrete_table(8, 5)
    assert len(bounds) == 5
    assert discrete_vp(0, 8, 5) == 5
    assert discrete_vp(bounds[-1] + 1, 8, 5) == 10
    assert discrete_vp(-bounds[-1] - 1, 8, 5) == 0


def test_margins_with_a_fraction_are_rounded_first() -> None:
    assert continuous_vp(F("9.5"), 8) == continuous_vp(10, 8)
    assert continuous_vp(F("-9.5"), 8) == continuous_vp(-10, 8)
    assert continuous_vp(F("9.4"), 8) == continuous_vp(9, 8)


@pytest.mark.parametrize(
    ("percent", "boards", "vp"),
    [
        ("56.23", 8, 14),
        ("56.24", 8, 15),
        ("43.77", 8, 6),
        ("43.76", 8, 5),
        ("50", 8, 10),
        ("100", 8, 20),
        ("103", 8, 20),
        ("-2", 8, 0),
        ("72.13", 6, 19),
        ("72.14", 6, 20),
        ("60.71", 20, 19),
        ("54", 10, 14),
        ("54", 14, 14),
    ],
)
def test_matchpoint_percent_to_vp(percent: str, boards: int, vp: int) -> None:
    assert percent_vp(F(percent), boards) == vp


def test_lengths_without_a_published_scale_are_refused() -> None:
    for boards in (4, 28):
        with pytest.raises(EntryError, match="no published"):
            percent_vp(F(55), boards)
    with pytest.raises(EntryError):
        continuous_vp(3, 0)
    with pytest.raises(EntryError):
        discrete_table(8, 7)


def test_a_table_from_a_file_refuses_margins_it_does_not_name() -> None:
    table = VpTable("sample", ((0, 0, F(10), F(10)), (1, 1, F(11), F(9)), (21, None, F(20), F(0))), 3)
    assert victory_points(1, 3, table) == 11
    assert victory_points(-30, 3, table) == 0
    with pytest.raises(EntryError, match="margin of 20"):
        victory_points(-20, 3, table)
    assert victory_points(10, 8, VpScale.CONTINUOUS) == F("13.78")
    assert victory_points(10, 8, VpScale.DISCRETE) == 14
