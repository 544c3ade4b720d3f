"""Scores that a board can have: everything that some contract gives there, and nothing else (Law 77)."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dealer.board import Vulnerability
from firmware_bridge.errors import EntryError
from terminals.result import Assigned, Outcome
from terminals.scoring.lines import Contestant
from terminals.scoring.possible import possible_scores, scores_of_side
from terminals.scoring.profile import PLAIN
from terminals.scoring.rulings import Ruling, check_ruling


def test_scores_that_everybody_knows() -> None:
    assert {420, 400, 430, 50 * -3, 1660, 2220 - 700, -3500, 0} <= possible_scores(Vulnerability.NONE)
    assert {620, 600, 630, -200, 2980, -7600} <= scores_of_side(True)
    assert 620 not in possible_scores(Vulnerability.NONE)
    assert {620, -420} <= possible_scores(Vulnerability.NS)
    assert -620 not in possible_scores(Vulnerability.NS)
    for never in (10, -107, 55, 480 + 5, 7601):
        assert never not in possible_scores()
    for one in Vulnerability:
        turned = {Vulnerability.NS: Vulnerability.EW, Vulnerability.EW: Vulnerability.NS}.get(one, one)
        assert possible_scores(one) == {-score for score in possible_scores(turned)}


def test_a_ruling_of_points_that_no_contract_gives_is_refused() -> None:
    def ruled(board: int, *points: int) -> list[str]:
        side = tuple(Outcome(one, Fraction(1, len(points))) for one in points)
        line = (board, "A", Contestant("A", 1), Contestant("A", 6), 1)
        one = Ruling("1", "12C1(c)", "slip", "Anna", line=line, result=Assigned(side, side))
        return check_ruling(one, None, PLAIN)

    with pytest.raises(EntryError, match="No contract gives -107"):
        ruled(1, 420, -107)
    assert ruled(1, 420, -100) == []
    (note,) = ruled(1, 620, -100)
    assert "+620 can't be scored on board 1" in note
    assert ruled(2, 620, -100) == []
