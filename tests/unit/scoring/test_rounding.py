"""Rounding against the decimal module, which is a second way to every printed number."""

from __future__ import annotations

import decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terminals.scoring.rounding import Rounding, decimal_text, round_around, round_to

F = Fraction
exact = st.decimals(-(10**6), 10**6, allow_nan=False, allow_infinity=False, places=5)


@given(exact, st.integers(0, 4))
def test_halves_away_from_zero(value: decimal.Decimal, places: int) -> None:
    wanted = value.quantize(decimal.Decimal(1).scaleb(-places), decimal.ROUND_HALF_UP)
    text = decimal_text(F(value), places, Rounding.HALF_AWAY)
    assert decimal.Decimal(text) == wanted
    assert text == f"{wanted + 0:.{places}f}" or wanted == 0
    assert round_to(F(value), F(1, 10**places), Rounding.HALF_AWAY) == F(wanted)


@given(exact, st.integers(0, 4))
def test_halves_up(value: decimal.Decimal, places: int) -> None:
    unit = F(1, 10**places)
    found = round_to(F(value), unit)
    assert found == F(decimal_text(F(value), places))
    assert -unit / 2 < found - F(value) <= unit / 2


@pytest.mark.parametrize(
    ("value", "away", "towards"),
    [("7.00005", "7.0001", "7"), ("4.99995", "4.9999", "5"), ("6.00001", "6", "6"), ("3.00009", "3.0001", "3.0001")],
)
def test_halves_by_the_average_of_a_board(value: str, away: str, towards: str) -> None:
    unit = F(1, 10000)
    assert round_around(F(value), F(6), unit, away=True) == F(away)
    assert round_around(F(value), F(6), unit, away=False) == F(towards)


def test_no_minus_before_zero_and_no_bankers_rounding() -> None:
    assert decimal_text(F(-1, 1000)) == "0.00"
    assert [decimal_text(F(n, 2), 0) for n in (1, 3, 5)] == ["1", "2", "3"]
    assert decimal_text(F(2, 3), 0) == "1"
