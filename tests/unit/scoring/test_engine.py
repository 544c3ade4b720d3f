"""The running session gives what a full recalculation gives, after any sequence of changes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.errors import EntryError
from terminals.result import Artificial, Assigned, Average, BoardState, NotPlayed, Outcome, PassedOut
from terminals.scoring.boards import Method
from terminals.scoring.engine import SessionEngine
from terminals.scoring.lines import Contestant, PenaltyUnit, ResultLine, SessionAdjustment, WinnerGroup
from terminals.scoring.profile import PLAIN
from terminals.scoring.session import score_session

F = Fraction
PAIRS = [Contestant("A", number) for number in range(1, 9)]
GROUPS = [WinnerGroup("", tuple(PAIRS))]
EXPECTED = dict.fromkeys(range(1, 5), 12)

score = st.integers(-12, 12).map(lambda value: value * 50)
outcome = score.map(lambda value: Assigned((Outcome(value),), (Outcome(value),)))
weighted = st.tuples(score, score).map(
    lambda pair: Assigned((Outcome(pair[0], F(1, 3)), Outcome(pair[1], F(2, 3))), (Outcome(pair[1]),))
)
average = st.sampled_from(Average)
state: st.SearchStrategy[BoardState] = st.one_of(
    outcome, outcome, weighted, st.builds(Artificial, average, average), st.just(PassedOut()), st.just(NotPlayed())
)


@st.composite
def line(draw: st.DrawFn) -> ResultLine:
    ns, ew = draw(st.permutations(PAIRS))[:2]
    form = draw(st.sampled_from(["", "", "", "B"]))
    return ResultLine(draw(st.integers(1, 4)), ns, ew, draw(state), form=form)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(line(), st.booleans()), max_size=25),
    st.sampled_from([Method.MATCHPOINTS, Method.CROSS_IMPS, Method.BUTLER]),
)
def test_any_sequence_of_changes_equals_a_full_recalculation(
    steps: list[tuple[ResultLine, bool]], method: Method
) -> None:
    engine = SessionEngine(expected=EXPECTED, groups=GROUPS, method=method)
    held: dict[object, ResultLine] = {}
    for one, remove in steps:
        if remove and one.key in held:
            engine.remove(one.key)
            del held[one.key]
        elif sum(other.board == one.board for other in held.values()) < 12 or one.key in held:
            engine.put(one)
            held[one.key] = one
        whole = score_session(list(held.values()), expected=EXPECTED, groups=GROUPS, method=method)
        now = engine.score()
        assert now.rankings == whole.rankings
        assert now.unranked == whole.unranked
        assert {place: {s.line.key: s for s in scores} for place, scores in now.boards.items()} == {
            place: {s.line.key: s for s in scores} for place, scores in whole.boards.items()
        }


def test_a_refused_change_changes_nothing() -> None:
    lines = [ResultLine(1, PAIRS[0], PAIRS[1], PassedOut()), ResultLine(1, PAIRS[2], PAIRS[3], PassedOut())]
    engine = SessionEngine(expected={1: 2}, groups=GROUPS, lines=lines)
    before = engine.score()
    with pytest.raises(EntryError, match="only 2"):
        engine.put(ResultLine(1, PAIRS[4], PAIRS[5], PassedOut()))
    with pytest.raises(EntryError, match="expected of board 2"):
        engine.put(ResultLine(2, PAIRS[4], PAIRS[5], PassedOut()))
    with pytest.raises(EntryError, match="no such result"):
        engine.remove(ResultLine(1, PAIRS[4], PAIRS[5], PassedOut()).key)
    assert engine.score() == before
    assert engine.lines == lines


def test_adjustments_and_groups_can_change() -> None:
    lines = [ResultLine(1, PAIRS[0], PAIRS[1], PassedOut()), ResultLine(1, PAIRS[2], PAIRS[3], PassedOut())]
    engine = SessionEngine(expected={1: 2}, groups=GROUPS, lines=lines, profile=replace(PLAIN, percent_decimals=1))
    engine.adjust([SessionAdjustment(PAIRS[0], F(-1, 4), PenaltyUnit.TOP_FRACTION)])
    row = engine.score().row(PAIRS[0])
    assert row is not None
    assert row.percent_text == "25.0"
    engine.regroup([WinnerGroup("one", (PAIRS[0],))])
    assert [len(ranking) for ranking in engine.score().rankings] == [1]


def test_a_sum_of_zero_can_be_taken_back() -> None:
    lines = [
        ResultLine(board, PAIRS[0], PAIRS[1], Assigned((Outcome(value),), (Outcome(value),)))
        for board, value in ((1, 0), (1, 50), (2, 0), (2, 50))
    ]
    lines = [replace(line, ns=PAIRS[2 * index], ew=PAIRS[2 * index + 1]) for index, line in enumerate(lines)]
    engine = SessionEngine(expected={1: 2, 2: 2}, groups=GROUPS, method=Method.CROSS_IMPS, lines=lines)
    for line in lines:
        engine.remove(line.key)
    assert engine.score().rankings == [[]]
    assert len(engine.score().unranked) == 8
