"""Team matches and events of several rounds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import EntryError
from terminals.contract import Contract
from terminals.result import (
    Artificial,
    Assigned,
    Average,
    BoardState,
    FixedPercent,
    NotEntered,
    NotPlayed,
    Outcome,
    Played,
)
from terminals.scoring.imps import imps
from terminals.scoring.lines import Contestant, PenaltyUnit, ResultLine, SessionAdjustment, WinnerGroup
from terminals.scoring.profile import PLAIN, VpScale
from terminals.scoring.swiss import (
    Fault,
    RoundKind,
    RoundScore,
    cancels,
    carry_over,
    mismatch_vp,
    short_match_margin,
    standings,
)
from terminals.scoring.teams import TeamBoard, TeamMethod, knockout_board, match_score, team_board

F = Fraction
HOME, AWAY = Contestant("", 1), Contestant("", 2)


def room(result: BoardState | int, board: int = 1, *, closed: bool = False) -> ResultLine:
    state = Assigned((Outcome(result),), (Outcome(result),)) if isinstance(result, int) else result
    ns, ew = (AWAY, HOME) if closed else (HOME, AWAY)
    return ResultLine(board, ns, ew, state)


def both(open_room: BoardState | int, closed: BoardState | int, method: TeamMethod = TeamMethod.IMPS) -> TeamBoard:
    found = team_board(room(open_room), room(closed, closed=True), PLAIN, method)
    assert found is not None
    return found


def test_imps_of_a_board() -> None:
    board = both(Played(Contract.parse("4S N"), 10), Played(Contract.parse("4S N"), 9))
    assert (board.home, board.away) == (10, -10)  # +420 and +50


def test_weighted_ruling_in_one_room() -> None:
    side = (Outcome(620, F(3, 5)), Outcome(-100, F(2, 5)))
    board = both(Assigned(side, side), 140)
    assert (board.home, board.away) == (F("3.6"), F("-3.6"))
    whole = team_board(room(Assigned(side, side)), room(140, closed=True), replace(PLAIN, weighted_imp_unit=F(1)))
    assert whole is not None
    assert (whole.home, whole.away) == (4, -4)


def test_split_score_makes_two_ledgers_and_a_knockout_takes_the_mean() -> None:
    # Worth +6 to the home team; -2 to the away team.
    split = Assigned((Outcome(250),), (Outcome(80),))
    board = both(split, 20)
    assert (board.home, board.away) == (6, -2)
    fair = knockout_board(board)
    assert (fair.home, fair.away) == (4, -4)
    match = match_score([board], knockout=True)
    assert (match.home, match.away) == (4, -4)


def test_average_plus_for_both_teams_can_not_be_one_margin() -> None:
    board = both(Artificial(Average.PLUS, Average.PLUS), NotEntered())
    assert (board.home, board.away, board.artificial) == (3, 3, True)
    match = match_score([board, None], scale=VpScale.CONTINUOUS, length=8)
    assert match.home_vp is not None
    assert match.away_vp is not None
    assert match.home_vp == match.away_vp > 10


def test_without_both_rooms_there_is_no_result() -> None:
    for missing in (NotEntered(), NotPlayed()):
        assert team_board(room(100), room(missing, closed=True), PLAIN) is None
        assert team_board(room(missing), room(100, closed=True), PLAIN) is None
    assert match_score([None]).boards == ()


def test_contradictions_are_refused() -> None:
    with pytest.raises(EntryError, match="two different artificial"):
        both(Artificial(Average.PLUS, Average.MINUS), Artificial(Average.EVEN, Average.EVEN))
    same = both(Artificial(Average.PLUS, Average.MINUS), Artificial(Average.MINUS, Average.PLUS))
    assert (same.home, same.away) == (3, -3)
    with pytest.raises(EntryError, match="different boards"):
        team_board(room(100, 1), room(100, 2, closed=True), PLAIN)
    with pytest.raises(EntryError, match="total points"):
        both(Artificial(Average.EVEN, Average.EVEN), 0, TeamMethod.AGGREGATE)


@pytest.mark.parametrize(("first", "second", "home"), [(430, 420, 2), (420, 430, 0), (420, 420, 1)])
def test_board_a_match_counts_any_difference(first: int, second: int, home: int) -> None:
    board = both(first, second, TeamMethod.BOARD_A_MATCH)
    assert (board.home, board.away) == (home, 2 - home)


def test_artificial_board_a_match() -> None:
    board = both(Artificial(Average.PLUS, Average.MINUS), NotEntered(), TeamMethod.BOARD_A_MATCH)
    assert (board.home, board.away) == (F("1.2"), F("0.8"))
    board = both(Artificial(FixedPercent(F(55)), Average.EVEN), NotEntered(), TeamMethod.BOARD_A_MATCH)
    assert (board.home, board.away) == (F("1.1"), 1)


scores = st.integers(-40, 40).map(lambda value: value * 50)


@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=8))
def test_plain_matches_are_zero_sum_and_equal_the_scale(boards: list[tuple[int, int]]) -> None:
    played = [team_board(room(a, n), room(b, n, closed=True), PLAIN) for n, (a, b) in enumerate(boards, 1)]
    match = match_score(played, scale=VpScale.DISCRETE)
    assert match.home == -match.away == sum(imps(a - b) for a, b in boards)
    assert match.home_vp is not None
    assert match.away_vp is not None
    assert match.home_vp + match.away_vp == 20
    points = match_score(
        [
            team_board(room(a, n), room(b, n, closed=True), PLAIN, TeamMethod.AGGREGATE)
            for n, (a, b) in enumerate(boards, 1)
        ]
    )
    assert points.home == sum(a - b for a, b in boards) == -points.away


def team(number: int) -> Contestant:
    return Contestant("", number)


def test_swiss_standings_with_bye_penalty_and_carry_over() -> None:
    rounds = [
        RoundScore(team(1), 1, F("13.78"), team(2), boards=8),
        RoundScore(team(2), 1, F("6.22"), team(1), boards=8),
        RoundScore(team(3), 1, None, kind=RoundKind.BYE),
        RoundScore(team(1), 2, F(10), team(3), boards=8),
        RoundScore(team(3), 2, F(10), team(1), boards=8),
        RoundScore(team(2), 2, None, kind=RoundKind.BYE),
    ]
    group = [WinnerGroup("", (team(1), team(2), team(3)))]
    table = standings(rounds, group, PLAIN)[0]
    assert [(row.place_text, row.contestant.number, row.value_text) for row in table] == [
        ("1", 1, "23.78"),
        ("2", 3, "22.00"),
        ("3", 2, "18.22"),
    ]
    fined = standings(
        rounds,
        group,
        PLAIN,
        carried={team(2): F("3.78")},
        adjustments=[SessionAdjustment(team(1), F("-1.78"), PenaltyUnit.VPS)],
    )[0]
    assert [(row.place_text, row.value) for row in fined] == [("1=", 22)] * 3
    with pytest.raises(EntryError, match="two scores"):
        standings([rounds[0], rounds[0]], group, PLAIN)
    with pytest.raises(EntryError, match="does not fit"):
        standings(rounds, group, PLAIN, adjustments=[SessionAdjustment(team(1), F(-1), PenaltyUnit.IMPS)])


def test_carry_over_formula() -> None:
    value = carry_over(F(80), length_before=6, maximum_before=F(120), length_after=3, maximum_after=F(60))
    assert value == F(1, 2) * 80 * F(6, 120) * F(60, 3)
    with pytest.raises(EntryError):
        carry_over(F(80), length_before=0, maximum_before=F(120), length_after=3, maximum_after=F(60))


@pytest.mark.parametrize(
    ("margin", "played", "length", "fault", "wanted"),
    [
        (F(5), 3, 8, Fault.NONE, 12),  # void: AVE+ on four boards
        (F(5), 3, 8, Fault.FULL, -12),
        (F(5), 3, 7, Fault.NONE, 12),  # half of seven rounded up
        (F(5), 4, 8, Fault.NONE, 17),
        (F(5), 6, 8, Fault.FULL, -1),
        (F(5), 6, 8, Fault.PARTLY, 5),
        (F(5), 8, 8, Fault.NONE, 5),
    ],
)
def test_short_matches(margin: F, played: int, length: int, fault: Fault, wanted: int) -> None:
    assert short_match_margin(margin, played, length, fault, PLAIN) == wanted


def test_mismatches() -> None:
    assert mismatch_vp(F(12), F(6), at_fault=False) == 14
    assert mismatch_vp(F(13), F(-6), at_fault=True) == 11
    assert mismatch_vp(F(12), F(5), at_fault=False) == 12
    for none in (F(-1), F(41, 2)):
        with pytest.raises(EntryError, match="from 0 to 20"):
            mismatch_vp(none, F(6), at_fault=False)
    assert mismatch_vp(F(12), F(6), at_fault=True) == 12
    assert mismatch_vp(F(4), F(-6), at_fault=True) == 4


def test_a_withdrawal_before_half_cancels_and_a_later_one_does_not() -> None:
    assert [cancels(after, 7) for after in range(8)] == [True] * 4 + [False] * 4
    assert [cancels(after, 8) for after in range(9)] == [True] * 4 + [False] * 5
    for after, scheduled in ((8, 7), (-1, 7), (0, 0)):
        with pytest.raises(EntryError):
            cancels(after, scheduled)
