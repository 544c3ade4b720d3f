"""Sessions: totals, artificial scores in two passes, groups, fouled boards, ranking."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dealer.cards import Seat
from firmware_bridge.errors import EntryError
from terminals.contract import Contract, Doubling, Strain
from terminals.result import (
    Artificial,
    Assigned,
    Average,
    FixedPercent,
    NotEntered,
    NotPlayed,
    Outcome,
    PassedOut,
    Played,
    SitOut,
)
from terminals.scoring.boards import SideScore, matchpoint_board
from terminals.scoring.lines import (
    Contestant,
    PenaltyUnit,
    ResultLine,
    ScoringField,
    SessionAdjustment,
    WinnerGroup,
    expected_by_count,
    one_winner,
    two_winners,
)
from terminals.scoring.matchpoints import Unequal
from terminals.scoring.profile import PLAIN, SmallGroups, Ties
from terminals.scoring.ranking import places
from terminals.scoring.rounding import decimal_text
from terminals.scoring.session import Totals, score_session, session_total

EBU = replace(PLAIN, small_groups=SmallGroups.FIXED_PERCENT)

F = Fraction


def pair(number: int, direction: str = "", section: str = "A") -> Contestant:
    return Contestant(section, number, direction)


def exact(board: int, ns: int, ew: int, score: int, section: str = "A", form: str = "") -> ResultLine:
    """A line with an exact North-South score, as a ruling can give it."""
    side = (Outcome(score),)
    return ResultLine(board, pair(ns, "NS", section), pair(ew, "EW", section), Assigned(side, side), section, form)


def traveller(scores: list[int], board: int = 1, forms: list[str] | None = None) -> list[ResultLine]:
    forms = forms or [""] * len(scores)
    return [exact(board, i + 1, i + 1, score, form=forms[i]) for i, score in enumerate(scores)]


def test_two_winner_mitchell_with_colliding_numbers() -> None:
    lines = traveller([620, 170, -100]) + traveller([50, 50, 100], board=2)
    score = score_session(lines, expected={1: 3, 2: 3}, groups=two_winners(lines))
    north_south, east_west = score.rankings
    assert [(row.place_text, row.contestant.number, row.percent_text) for row in north_south] == [
        ("1", 1, "62.50"),
        ("2", 3, "50.00"),
        ("3", 2, "37.50"),
    ]
    assert [row.contestant.direction for row in east_west] == ["EW"] * 3
    assert sum(row.percent for row in north_south) == 150


def test_half_a_hundredth_is_rounded_up_once() -> None:
    row_value = F("56.125")
    assert row_value == F(449, 8)
    lines = [*traveller([1, 0])]
    score = score_session(lines, expected={1: 2}, groups=two_winners(lines))
    assert score.rankings[0][0].percent_text == "100.00"
    assert decimal_text(row_value) == "56.13"
    assert decimal_text(F("2.675")) == "2.68"
    assert decimal_text(F("-0.001")) == "0.00"
    assert decimal_text(F("-0.125")) == "-0.12"


def test_places_with_ties() -> None:
    placed = places([60, 55, 55, 50, 50, 50, 40], F)
    assert [(place, tied) for place, tied, _ in placed] == [
        (1, False),
        (2, True),
        (2, True),
        (4, True),
        (4, True),
        (4, True),
        (7, False),
    ]


def totals_of(percent: F, boards: int, *artificial: Average | FixedPercent, top: int = 20) -> Totals:
    out = Totals()
    for _ in range(boards):
        out.add(SideScore(percent * top / 100, top))
    flat = {Average.PLUS: 60, Average.EVEN: 50, Average.MINUS: 40}
    for value in artificial:
        share = value.percent if isinstance(value, FixedPercent) else F(flat[value])
        out.add(SideScore(share * top / 100, top, value))
    return out


@pytest.mark.parametrize(
    ("own", "boards", "artificial", "wanted"),
    [
        (F(63), 22, (Average.PLUS, Average.PLUS), F(63)),
        (F(55), 22, (Average.PLUS, Average.PLUS), F(22 * 55 + 120, 24)),
        (F(35), 23, (Average.MINUS,), F(35)),
        (F(45), 23, (Average.MINUS,), F(23 * 45 + 40, 24)),
        (F(63), 23, (Average.EVEN,), F(23 * 63 + 50, 24)),
        (F(63), 23, (FixedPercent(F(55)),), F(23 * 63 + 55, 24)),
        (F(63), 0, (Average.PLUS,), F(60)),
    ],
)
def test_session_percentage_rule(
    own: F, boards: int, artificial: tuple[Average | FixedPercent, ...], wanted: F
) -> None:
    points, top = session_total(totals_of(own, boards, *artificial), PLAIN)
    assert points * 100 / top == wanted


def test_session_percentage_rule_can_be_switched_off() -> None:
    points, top = session_total(totals_of(F(70), 3, Average.PLUS), replace(PLAIN, session_percentage=False))
    assert points * 100 / top == F(270, 4)


def test_a_penalty_counts_once_and_does_not_touch_the_percentage_rule() -> None:
    lines = traveller([100, 0, -100]) + traveller([100, 0, -100], board=2)
    lines[3] = replace(lines[3], result=Artificial(Average.PLUS, Average.MINUS))
    groups = two_winners(lines)
    fine = SessionAdjustment(pair(1, "NS"), F(-1, 4), PenaltyUnit.TOP_FRACTION, "late")
    plain = score_session(lines, expected={1: 3, 2: 3}, groups=groups)
    fined = score_session(lines, expected={1: 3, 2: 3}, groups=groups, adjustments=[fine])
    before, after = plain.row(pair(1, "NS")), fined.row(pair(1, "NS"))
    assert before is not None
    assert after is not None
    assert before.percent == 100  # AVE+ pays the 100 % of the other board
    assert before.percent - after.percent == F(25, 2)
    for other in (2, 3):
        assert plain.row(pair(other, "NS")) == fined.row(pair(other, "NS"))


def test_not_played_sit_out_and_not_entered_are_no_scores() -> None:
    lines = traveller([100, 50, 0])
    for state in (NotPlayed(), NotEntered()):
        changed = [*lines[:2], replace(lines[2], result=state)]
        score = score_session(changed, expected={1: 3}, groups=two_winners(changed))
        assert len(score.rankings[0]) == 2
        assert score.unranked == (pair(3, "NS"), pair(3, "EW"))
        # Two scores, three expected: Neuberg leaves nobody at 100 %.
        assert [row.percent for row in score.rankings[0]] == [F(700, 8), F(100, 8)]
    assert SitOut() != NotPlayed()


def test_passed_out_is_a_result() -> None:
    lines = [replace(line, result=PassedOut()) if i == 0 else line for i, line in enumerate(traveller([1, 50, -50]))]
    points = [side.ns.points for side in matchpoint_board(lines, 3, PLAIN) if side.ns]
    assert points == [2, 4, 0]


def test_split_score_makes_two_independent_fields() -> None:
    lines = traveller([100, 0, -100])
    split = Assigned((Outcome(-200),), (Outcome(0),))  # both sides non-offending, each sees its own score
    lines.append(ResultLine(1, pair(4, "NS"), pair(4, "EW"), split, "A"))
    scores = matchpoint_board(lines, 4, PLAIN)
    assert [s.ns.points for s in scores if s.ns] == [6, 4, 2, 0]
    assert [s.ew.points for s in scores if s.ew] == [0, 3, 6, 3]


@pytest.mark.parametrize(
    ("small", "percents"),
    [([300, 200, 100], ["70", "60", "50"]), ([300, 300, 100], ["65", "65", "50"]), ([200, 100], ["65", "55"])],
)
def test_small_fouled_groups_get_fixed_percentages(small: list[int], percents: list[str]) -> None:
    rest = list(range(13 - len(small)))
    lines = traveller(small + rest, forms=["B"] * len(small) + [""] * len(rest))
    scores = matchpoint_board(lines, 13, EBU)
    assert [s.ns.percent for s in scores[: len(small)] if s.ns] == [F(p) for p in percents]
    # Both directions are paid by their own ranking, so that the two sum to 120 % on average.
    east_west = sorted((s.ew.percent for s in scores[: len(small)] if s.ew and s.ew.percent), reverse=True)
    assert sum(east_west) == 60 * len(small)
    plain = matchpoint_board(lines, 13, PLAIN)
    assert plain[0].ns is not None
    assert plain[0].ns.percent != F(percents[0])


def test_small_group_in_a_small_field_uses_neuberg() -> None:
    lines = traveller([100, 200, 1, 2, 3], forms=["B", "B", "", "", ""])
    scores = matchpoint_board(lines, 5, EBU)
    assert [s.ns.points for s in scores[:2] if s.ns] == [F("1.5"), F("6.5")]


def test_the_only_score_of_a_form_is_average_plus_for_both() -> None:
    lines = traveller([100, 1, 2, 3], forms=["B", "", "", ""])
    only = matchpoint_board(lines, 4, PLAIN)[0]
    assert only.ns is not None
    assert only.ew is not None
    assert (only.ns.percent, only.ew.percent) == (60, 60)
    assert only.ns.artificial is Average.PLUS


def test_artificial_line_is_factored_or_not_by_profile() -> None:
    lines = [*traveller([5, 4, 3, 2, 1]), replace(exact(1, 6, 6, 0), result=Artificial(Average.EVEN, Average.EVEN))]
    factored = matchpoint_board(lines, 6, PLAIN)
    assert factored[0].ns is not None
    assert factored[0].ns.points == F(9 * 6, 5) - 1
    own = matchpoint_board(lines, 6, replace(PLAIN, factor_artificial=False))
    assert [s.ns.points for s in own if s.ns] == [8, 6, 4, 2, 0, 4]


def test_boards_with_their_own_top() -> None:
    profile = replace(PLAIN, unequal=Unequal.OWN_TOP)
    lines = [*traveller([5, 4, 3, 2, 1]), replace(exact(1, 6, 6, 0), result=Artificial(Average.PLUS, Average.MINUS))]
    scores = matchpoint_board(lines, 6, profile)
    assert [(s.ns.points, s.ns.top) for s in scores if s.ns] == [
        *[(8, 8), (6, 8), (4, 8), (2, 8), (0, 8)],
        (F("4.8"), 8),
    ]
    with pytest.raises(EntryError, match="only 4"):
        matchpoint_board(lines, 4, profile)
    fouled = matchpoint_board(traveller([9, 8, 3, 2, 1], forms=["B", "B", "", "", ""]), 6, profile)
    assert [(s.ns.points, s.ns.top) for s in fouled if s.ns] == [(2, 2), (0, 2), (4, 4), (2, 4), (0, 4)]


def test_a_board_without_a_comparison_raises_nobody_by_its_matchpoints() -> None:
    """With its own top a board of one score is worth 0 of 0, also to whoever has AVE+ on it (Law 12C2(c))."""
    own = replace(PLAIN, unequal=Unequal.OWN_TOP)
    artificial = Artificial(Average.PLUS, Average.PLUS)
    lines = [
        *(exact(1, number, number + 10, score) for number, score in enumerate((620, 170, -100), start=1)),
        exact(2, 2, 12, 50),
        ResultLine(2, pair(1, "NS"), pair(11, "EW"), artificial, "A"),
    ]
    score = score_session(lines, expected={1: 3, 2: 3}, groups=two_winners(lines), profile=own)
    assert [(row.contestant.number, row.percent_text) for row in score.rankings[0]] == [
        (1, "100.00"),
        (2, "50.00"),
        (3, "0.00"),
    ]


def test_fields_across_and_within_sections() -> None:
    lines = [*traveller([100, 0]), exact(1, 1, 1, 50, "B"), exact(1, 2, 2, -50, "B")]
    groups = two_winners(lines)
    across = score_session(lines, expected={1: 4}, groups=groups)
    row = across.row(pair(1, "NS", "B"))
    assert row is not None
    assert row.percent == F(200, 3)
    apart = [ScoringField({1: 2}, frozenset("A")), ScoringField({1: 2}, frozenset("B"))]
    within = score_session(lines, fields=apart, groups=groups)
    row = within.row(pair(1, "NS", "B"))
    assert row is not None
    assert row.percent == 100
    with pytest.raises(EntryError, match="no field"):
        score_session(lines, fields=apart[:1], groups=groups)


def test_what_can_not_be_is_refused() -> None:
    lines = traveller([100, 0])
    groups = two_winners(lines)
    with pytest.raises(EntryError, match="twice"):
        score_session([*lines, lines[0]], expected={1: 3}, groups=groups)
    with pytest.raises(EntryError, match="expected of board 1"):
        score_session(lines, expected={2: 3}, groups=groups)
    with pytest.raises(EntryError, match="only 1 are expected"):
        score_session(lines, expected={1: 1}, groups=groups)
    with pytest.raises(EntryError, match="two winner groups"):
        score_session(lines, expected={1: 2}, groups=[*groups, groups[0]])
    with pytest.raises(EntryError, match="against itself"):
        ResultLine(1, pair(1), pair(1), PassedOut())
    switched = [*lines, ResultLine(2, pair(1, "EW"), pair(1, "NS"), PassedOut(), "A")]
    with pytest.raises(EntryError, match="both directions"):
        two_winners(switched)


def test_a_contestant_without_standing_counts_for_the_others() -> None:
    lines = traveller([100, 0, -100])
    groups = [WinnerGroup("NS", (pair(1, "NS"), pair(2, "NS")))]
    score = score_session(lines, expected={1: 3}, groups=groups)
    assert [row.percent for row in score.rankings[0]] == [100, 50]


def test_ties_at_display_precision() -> None:
    lines = traveller([100, 0, -100])
    near = SessionAdjustment(pair(2, "NS"), F("49.9999"), PenaltyUnit.PERCENT)
    groups = two_winners(lines)
    exactly = score_session(lines, expected={1: 3}, groups=groups, adjustments=[near])
    shown = score_session(
        lines, expected={1: 3}, groups=groups, adjustments=[near], profile=replace(PLAIN, ties=Ties.DISPLAY)
    )
    assert [row.place_text for row in exactly.rankings[0]] == ["1", "2", "3"]
    assert [row.place_text for row in shown.rankings[0]] == ["1=", "1=", "3"]


results = st.one_of(
    st.builds(
        lambda level, strain, doubling, declarer, tricks: Played(Contract(level, strain, doubling, declarer), tricks),
        st.integers(1, 7),
        st.sampled_from(Strain),
        st.sampled_from(Doubling),
        st.sampled_from(Seat),
        st.integers(0, 13),
    ),
    st.just(PassedOut()),
)


@settings(max_examples=40)
@given(st.lists(st.lists(results, min_size=6, max_size=6), min_size=1, max_size=4), st.sampled_from(Unequal))
def test_percentages_of_a_complete_session_average_fifty_and_sections_can_be_exchanged(
    boards: list[list[Played | PassedOut]], unequal: Unequal
) -> None:
    def lines(swap: bool) -> list[ResultLine]:
        out = []
        for number, board in enumerate(boards, start=1):
            for index, result in enumerate(board):
                section = "AB"[(index >= 3) != swap]
                out.append(ResultLine(number, pair(index, "NS", section), pair(index, "EW", section), result, section))
        return out

    profile = replace(PLAIN, unequal=unequal)
    one, other = lines(False), lines(True)
    first = score_session(one, expected=expected_by_count(one), groups=two_winners(one), profile=profile)
    second = score_session(other, expected=expected_by_count(other), groups=two_winners(other), profile=profile)
    for ranking, swapped in zip(first.rankings, second.rankings, strict=True):
        assert sum(row.percent for row in ranking) == 50 * 6
        assert [(r.place, r.percent) for r in ranking] == [(r.place, r.percent) for r in swapped]
    single = score_session(one, expected=expected_by_count(one), groups=one_winner(one), profile=profile)
    assert sum(row.percent for row in single.rankings[0]) == 50 * 12
