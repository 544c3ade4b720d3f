"""Pairs events scored by IMPs or total points, and individual events."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.errors import EntryError
from terminals.result import Artificial, Assigned, Average, FixedPercent, Outcome
from terminals.scoring.boards import Method, score_lines
from terminals.scoring.lines import (
    Contestant,
    PenaltyUnit,
    ResultLine,
    SessionAdjustment,
    one_winner,
    two_winners,
)
from terminals.scoring.profile import PLAIN, CrossImpMode, ImpRanking
from terminals.scoring.session import score_session

F = Fraction


def exact(board: int, ns: int, ew: int, score: int, form: str = "") -> ResultLine:
    side = (Outcome(score),)
    return ResultLine(board, Contestant("A", ns, "NS"), Contestant("A", ew, "EW"), Assigned(side, side), "A", form)


def traveller(scores: list[int], board: int = 1) -> list[ResultLine]:
    return [exact(board, i + 1, i + 1, score) for i, score in enumerate(scores)]


EXAMPLE = traveller([420, -450, 100, 200, -400, -590])


def test_cross_imps_average_and_total() -> None:
    average = score_lines(EXAMPLE, 6, PLAIN, Method.CROSS_IMPS)
    assert [s.ns.points for s in average if s.ns] == [F("10.8"), F("-6.8"), F("4.6"), F("6.8"), F("-5.8"), F("-9.6")]
    assert [s.ew.points for s in average if s.ew] == [-s.ns.points for s in average if s.ns]
    total = score_lines(EXAMPLE, 6, replace(PLAIN, cross_imp_mode=CrossImpMode.TOTAL), Method.CROSS_IMPS)
    assert [s.ns.points for s in total if s.ns] == [54, -34, 23, 34, -29, -48]


def test_butler_with_an_average_outside_the_datum() -> None:
    lines = traveller([430, 430, 400, 400, -50, 630, 0])
    lines[6] = replace(lines[6], result=Artificial(Average.EVEN, Average.EVEN))
    scores = score_lines(lines, 7, PLAIN, Method.BUTLER)
    assert [s.ns.points for s in scores if s.ns] == [0, 0, -1, -1, -10, 5, 0]
    assert [s.ew.points for s in scores if s.ew] == [0, 0, 1, 1, 10, -5, 0]


def test_artificial_imps_and_the_equivalent_of_the_session_rule() -> None:
    lines = traveller([3000, 0, 0], board=1) + traveller([3000, 0, 0], board=2)
    lines[3] = replace(lines[3], result=Artificial(Average.PLUS, Average.MINUS))
    score = score_session(
        lines, expected={1: 3, 2: 3}, groups=two_winners(lines), method=Method.CROSS_IMPS, profile=PLAIN
    )
    best = score.row(Contestant("A", 1, "NS"))
    worst = score.row(Contestant("A", 1, "EW"))
    assert best is not None
    assert worst is not None
    assert best.value == 44  # 22 on the other board is more than +3
    assert worst.value == -44
    flat = score_session(
        lines,
        expected={1: 3, 2: 3},
        groups=two_winners(lines),
        method=Method.CROSS_IMPS,
        profile=replace(PLAIN, session_percentage=False),
    ).row(Contestant("A", 1, "NS"))
    assert flat is not None
    assert flat.value == 25


def test_a_typed_percentage_needs_its_imps() -> None:
    lines = traveller([100, 0])
    for value, wanted in ((FixedPercent(F(60)), 3), (FixedPercent(F(55), F(3, 2)), F(3, 2)), (FixedPercent(F(40)), -3)):
        lines[0] = replace(lines[0], result=Artificial(value, Average.EVEN))
        side = score_lines(lines, 2, PLAIN, Method.BUTLER)[0].ns
        assert side is not None
        assert side.points == wanted
    lines[0] = replace(lines[0], result=Artificial(FixedPercent(F(55)), Average.EVEN))
    with pytest.raises(EntryError, match="55% has no fixed value in IMPs"):
        score_lines(lines, 2, PLAIN, Method.BUTLER)


@pytest.mark.parametrize(
    ("ranking", "wanted"), [(ImpRanking.TOTAL, 6), (ImpRanking.MEAN, 6), (ImpRanking.FACTORED, 12)]
)
def test_unequal_numbers_of_boards(ranking: ImpRanking, wanted: int) -> None:
    lines = [*traveller([240, 0]), exact(2, 2, 3, 0), exact(2, 3, 2, 0)]
    score = score_session(
        lines,
        expected={1: 2, 2: 2},
        groups=two_winners(lines),
        method=Method.CROSS_IMPS,
        profile=replace(PLAIN, imp_ranking=ranking),
    )
    row = score.row(Contestant("A", 1, "NS"))
    assert row is not None
    assert row.value == wanted
    assert row.boards == 1


def test_total_points_and_penalties_in_the_unit_of_the_event() -> None:
    lines = traveller([100, -50])
    fine = SessionAdjustment(Contestant("A", 1, "NS"), F(-30), PenaltyUnit.POINTS, "slow")
    score = score_session(
        lines, expected={1: 2}, groups=two_winners(lines), method=Method.AGGREGATE, adjustments=[fine]
    )
    assert [(row.contestant.number, row.value) for row in score.rankings[0]] == [(1, 70), (2, -50)]
    for method, unit in (
        (Method.AGGREGATE, PenaltyUnit.IMPS),
        (Method.BUTLER, PenaltyUnit.POINTS),
        (Method.MATCHPOINTS, PenaltyUnit.IMPS),
    ):
        with pytest.raises(EntryError, match="does not fit"):
            score_session(
                lines,
                expected={1: 2},
                groups=two_winners(lines),
                method=method,
                adjustments=[replace(fine, unit=unit)],
            )
    lines[0] = replace(lines[0], result=Artificial(Average.EVEN, Average.EVEN))
    with pytest.raises(EntryError, match="no value in total points"):
        score_session(lines, expected={1: 2}, groups=two_winners(lines), method=Method.AGGREGATE)


def test_forms_of_a_fouled_board_are_compared_apart() -> None:
    lines = [*traveller([100, 0, 0]), exact(1, 4, 4, 900, "B")]
    scores = score_lines(lines, 4, PLAIN, Method.CROSS_IMPS)
    assert [s.ns.points for s in scores if s.ns] == [3, F(-3, 2), F(-3, 2), 3]
    assert scores[3].ew is not None
    assert scores[3].ew.points == 3


def test_too_many_results_are_refused_by_every_method() -> None:
    for method in Method:
        with pytest.raises(EntryError, match="only 5 are expected"):
            score_lines(EXAMPLE, 5, PLAIN, method)


def test_individual_events_credit_every_player() -> None:
    def player(number: int) -> Contestant:
        return Contestant("A", number)

    def line(board: int, north: int, south: int, east: int, west: int, score: int) -> ResultLine:
        side = (Outcome(score),)
        return ResultLine(
            board,
            Contestant("A", north, "NS"),
            Contestant("A", east, "EW"),
            Assigned(side, side),
            "A",
            ns_players=(player(north), player(south)),
            ew_players=(player(east), player(west)),
        )

    lines = [line(1, 1, 2, 3, 4, 100), line(1, 5, 6, 7, 8, 0), line(2, 1, 3, 2, 4, 0), line(2, 5, 7, 6, 8, 50)]
    score = score_session(lines, expected={1: 2, 2: 2}, groups=one_winner(lines))
    percents = {row.contestant.number: row.percent for row in score.rankings[0]}
    assert percents == {1: 50, 2: 100, 3: 0, 4: 50, 5: 50, 6: 0, 7: 100, 8: 50}
    with pytest.raises(EntryError, match="two seats"):
        line(1, 1, 1, 2, 3, 0)


score_values = st.integers(-30, 30).map(lambda value: value * 50)


@settings(max_examples=50)
@given(st.lists(st.lists(score_values, min_size=5, max_size=5), min_size=1, max_size=4))
def test_cross_imp_sessions_sum_to_zero(boards: list[list[int]]) -> None:
    lines = [line for number, scores in enumerate(boards, 1) for line in traveller(scores, number)]
    expected = dict.fromkeys(range(1, len(boards) + 1), 5)
    score = score_session(lines, expected=expected, groups=two_winners(lines), method=Method.CROSS_IMPS)
    for ranking in score.rankings:
        assert sum(row.value for row in ranking) == 0
