"""What must hold of every field, with weighted, split and artificial scores and fouled boards in it.

Sums: a board's genuine scores share A (E - 1) points, cross-IMPs share nothing. Symmetry: turned round, every side has
what the other had. Exchange: which section is called A, and in what order lines arrive, makes no difference.
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.errors import EntryError
from terminals.result import (
    Artificial,
    Assigned,
    AssignedSide,
    Average,
    BoardState,
    FixedPercent,
    NotPlayed,
    Outcome,
    PassedOut,
)
from terminals.scoring.boards import LineScore, Method, SideScore, score_lines
from terminals.scoring.imps import cross_imps_for_vp
from terminals.scoring.lines import Contestant, ResultLine, ScoringField, WinnerGroup, two_winners
from terminals.scoring.matchpoints import Unequal
from terminals.scoring.profile import PLAIN, SingleScore, VpScale
from terminals.scoring.rounds import round_scores
from terminals.scoring.session import score_session
from terminals.scoring.vp import continuous_vp, percent_vp

F = Fraction
points = st.integers(-15, 15).map(lambda value: value * 50)
averages = st.one_of(st.sampled_from(Average), st.sampled_from([FixedPercent(F(55)), FixedPercent(F(1, 3))]))


@st.composite
def outcomes(draw: st.DrawFn) -> tuple[Outcome, ...]:
    parts = draw(st.lists(st.integers(1, 9), min_size=1, max_size=5))
    return tuple(Outcome(draw(points), F(part, sum(parts))) for part in parts)


def same(score: int) -> Assigned:
    return Assigned((Outcome(score),), (Outcome(score),))


plain = points.map(same)
weighted = outcomes().map(lambda side: Assigned(side, side))
split: st.SearchStrategy[BoardState] = st.builds(Assigned, outcomes(), outcomes())
half: st.SearchStrategy[BoardState] = st.one_of(
    st.builds(Assigned, outcomes(), averages), st.builds(Assigned, averages, outcomes())
)
artificial: st.SearchStrategy[BoardState] = st.builds(Artificial, averages, averages)
states: st.SearchStrategy[BoardState] = st.one_of(
    plain, plain, plain, weighted, split, half, artificial, st.just(PassedOut()), st.just(NotPlayed())
)
forms = st.sampled_from(["", "", "", "B", "C"])
FACTORED = replace(PLAIN, single_score=SingleScore.FACTORED)


def who(number: int, direction: str, section: str = "A") -> Contestant:
    return Contestant(section, number, direction)


@st.composite
def board(draw: st.DrawFn, fouled: bool = True) -> list[ResultLine]:
    held = draw(st.lists(st.tuples(states, forms if fouled else st.just("")), min_size=1, max_size=10))
    return [
        ResultLine(1, who(number, "NS"), who(number, "EW"), state, "A", form)
        for number, (state, form) in enumerate(held, start=1)
    ]


def genuine(scores: list[LineScore], at: int) -> list[SideScore]:
    sides = [(one.ns, one.ew)[at] for one in scores]
    return [side for side in sides if side is not None and side.artificial is None]


def turned_side(side: AssignedSide) -> AssignedSide:
    if not isinstance(side, tuple):
        return side
    return tuple(Outcome(-one.result if isinstance(one.result, int) else one.result, one.weight) for one in side)


def turned(line: ResultLine) -> ResultLine:
    """The table as it looks from the other side: who sat North-South sits East-West, and every score is negated."""
    state = line.result
    if isinstance(state, Artificial):
        state = Artificial(state.ew, state.ns)
    elif isinstance(state, Assigned):
        state = Assigned(turned_side(state.ew), turned_side(state.ns))
    return replace(line, ns=line.ew, ew=line.ns, result=state)


@settings(max_examples=80)
@given(board(), st.integers(0, 5), st.sampled_from([Unequal.NEUBERG, Unequal.ASCHERMAN]))
def test_matchpoints_share_what_there_is_in_both_directions_and_every_form(
    lines: list[ResultLine], missing: int, unequal: Unequal
) -> None:
    expected = len(lines) + missing
    profile = replace(FACTORED, unequal=unequal)
    scores = score_lines(lines, expected, profile, Method.MATCHPOINTS)
    for at in (0, 1):
        sides = genuine(scores, at)
        assert sum(side.points for side in sides) == len(sides) * (expected - 1)
        assert all(side.top == 2 * (expected - 1) for side in sides)
        assert all(0 <= side.points <= side.top for side in sides)


@settings(max_examples=80)
@given(board(), st.sampled_from([Method.MATCHPOINTS, Method.CROSS_IMPS, Method.BUTLER]), st.integers(0, 3))
def test_turned_round_every_side_has_what_the_other_had(lines: list[ResultLine], method: Method, missing: int) -> None:
    if method is not Method.MATCHPOINTS:
        lines = [line for line in lines if not _fixed(line.result)]
    if not lines:
        return
    expected = len(lines) + missing
    scores = score_lines(lines, expected, PLAIN, method)
    mirror = score_lines([turned(line) for line in lines], expected, PLAIN, method)
    for one, other in zip(scores, mirror, strict=True):
        assert (one.ns, one.ew) == (other.ew, other.ns)


def _fixed(state: BoardState) -> bool:
    """A percentage that has no value in IMPs."""
    sides = (state.ns, state.ew) if isinstance(state, (Artificial, Assigned)) else ()
    return any(isinstance(side, FixedPercent) for side in sides)


@settings(max_examples=60)
@given(board())
def test_cross_imps_of_every_form_share_nothing(lines: list[ResultLine]) -> None:
    held = [line for line in lines if not _fixed(line.result)]
    scores = score_lines(held, max(1, len(held)), FACTORED, Method.CROSS_IMPS)
    for at in (0, 1):
        assert sum((side.points for side in genuine(scores, at)), F(0)) == 0


@settings(max_examples=60)
@given(st.lists(board(), min_size=1, max_size=4), st.integers(0, 1 << 30))
def test_sections_and_lines_can_be_exchanged(boards: list[list[ResultLine]], seed: int) -> None:
    dice = random.Random(seed)

    def lines(letters: str, shuffled: bool) -> list[ResultLine]:
        out = []
        for number, held in enumerate(boards, start=1):
            for at, line in enumerate(held):
                section = letters[at % 2]
                ns, ew = (replace(one, section=section) for one in (line.ns, line.ew))
                out.append(replace(line, board=number, section=section, ns=ns, ew=ew))
        if shuffled:
            dice.shuffle(out)
        return out

    one, other = lines("AB", False), lines("BA", True)
    expected = dict.fromkeys(range(1, len(boards) + 1), 10)
    first = score_session(one, expected=expected, groups=two_winners(one))
    second = score_session(other, expected=expected, groups=two_winners(other))
    for ranking, swapped in zip(first.rankings, second.rankings, strict=True):
        assert sorted((row.place, row.value, row.contestant.number) for row in ranking) == sorted(
            (row.place, row.value, row.contestant.number) for row in swapped
        )
    # Apart, each section is scored as if the other were not there.
    fields = [ScoringField(expected, frozenset("A")), ScoringField(expected, frozenset("B"))]
    apart = score_session(one, fields=fields, groups=two_winners(one))
    alone = [line for line in one if line.section == "A"]
    only = score_session(alone, expected=expected, groups=two_winners(alone))
    for ranking, single in zip(apart.rankings, only.rankings, strict=True):
        mine = {row.contestant: row.value for row in ranking if row.contestant.section == "A"}
        assert mine == {row.contestant: row.value for row in single}


@settings(max_examples=60)
@given(st.lists(board(fouled=False), min_size=2, max_size=5), st.integers(0, 4))
def test_a_session_averages_fifty_for_every_genuine_score(boards: list[list[ResultLine]], missing: int) -> None:
    """The mean percentage of all genuine scores is 50 whatever rulings are among them; and rounds add up to it."""
    lines = [replace(line, board=number) for number, held in enumerate(boards, start=1) for line in held]
    expected = dict.fromkeys(range(1, len(boards) + 1), 10 + missing)
    score = score_session(lines, expected=expected, groups=two_winners(lines))
    for at in (0, 1):
        sides = [side for held in score.boards.values() for side in genuine(list(held), at)]
        if sides:
            assert sum((side.percent or F(0) for side in sides), F(0)) / len(sides) == 50


@settings(max_examples=40)
@given(st.lists(st.lists(plain, min_size=4, max_size=4), min_size=3, max_size=6))
def test_rounds_in_victory_points_from_the_definition(boards: list[list[Assigned]]) -> None:
    """Six pairs are too few to need a movement: pair n of each direction plays every board, all in one round."""
    lines = [
        ResultLine(number, who(at, "NS"), who(at, "EW"), state, "A")
        for number, held in enumerate(boards, start=1)
        for at, state in enumerate(held, start=1)
    ]
    expected = dict.fromkeys(range(1, len(boards) + 1), 4)
    groups: list[WinnerGroup] = []
    lengths = {("A", 1): len(boards)}

    def of(method: Method, scale: VpScale | str) -> dict[Contestant, Fraction | None]:
        score = score_session(lines, expected=expected, groups=groups, method=method)
        rounds = round_scores(score.boards.values(), lambda line: 1, lengths, method, scale, PLAIN)
        assert all(one.round == 1 and one.boards == len(boards) for one in rounds)
        return {one.contestant: one.vp for one in rounds}

    imps = score_session(lines, expected=expected, groups=groups, method=Method.CROSS_IMPS)
    by_imps = of(Method.CROSS_IMPS, VpScale.CONTINUOUS)
    for at in range(1, 5):
        own = [one.ns.points for held in imps.boards.values() for one in held if one.line.ns.number == at and one.ns]
        margin = cross_imps_for_vp([(value * 3, 4) for value in own])
        assert by_imps[who(at, "NS")] == continuous_vp(margin, len(boards))
        assert by_imps[who(at, "NS")] == 20 - (by_imps[who(at, "EW")] or F(0))
    if len(boards) >= 5:
        whole = score_session(lines, expected=expected, groups=two_winners(lines))
        for contestant, vp in of(Method.MATCHPOINTS, "percent").items():
            row = whole.row(contestant)
            assert row is not None
            assert vp == percent_vp(row.percent, len(boards))


@pytest.mark.parametrize(("average", "vp"), [(Average.PLUS, 20), (Average.EVEN, 19), (Average.MINUS, 19)])
def test_the_window_of_an_artificial_score_is_the_round(average: Average, vp: int) -> None:
    """AVE+ pays what the pair has on the other boards of the match, 73.33 %, although the next match was lost."""
    best, second, worst = (150, 100, -50, -100), (50, 100, -50, -100), (-150, 100, -50, -100)
    made = [second, second, second, second, second, best, *[worst] * 6]
    lines = [
        ResultLine(number, who(at, "NS"), who(at, "EW"), same(scores[at - 1]), "A")
        for number, scores in enumerate(made, start=1)
        for at in range(1, 5)
    ]
    lines[0] = replace(lines[0], result=Artificial(average, Average.EVEN))
    score = score_session(lines, expected=dict.fromkeys(range(1, 13), 4), groups=[])
    rounds = round_scores(
        score.boards.values(), lambda line: 1 + (line.board > 6), {}, Method.MATCHPOINTS, "percent", PLAIN
    )
    assert {one.round: one.vp for one in rounds if one.contestant == who(1, "NS")} == {1: vp, 2: 0}
    with pytest.raises(EntryError, match="no published"):
        round_scores(score.boards.values(), lambda line: 1, {("A", 1): 4}, Method.MATCHPOINTS, "percent", PLAIN)
