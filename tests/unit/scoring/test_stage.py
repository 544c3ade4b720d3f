"""Stages of several sessions with the window of Law 12C2(c), and Swiss pairs by matchpoints."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from firmware_bridge.errors import EntryError
from terminals.result import Artificial, Assigned, Average, Outcome
from terminals.scoring.boards import Method
from terminals.scoring.lines import Contestant, ResultLine, WinnerGroup, two_winners
from terminals.scoring.profile import PLAIN, Window
from terminals.scoring.session import score_session
from terminals.scoring.stage import SessionLines, score_stage, swiss_pairs_round

F = Fraction


def board(number: int, scores: list[int], average_for_first: bool = False) -> list[ResultLine]:
    lines = []
    for index, score in enumerate(scores, start=1):
        side = (Outcome(score),)
        result: Assigned | Artificial = Assigned(side, side)
        if average_for_first and index == 1:
            result = Artificial(Average.PLUS, Average.MINUS)
        lines.append(ResultLine(number, Contestant("A", index, "NS"), Contestant("A", index, "EW"), result))
    return lines


GOOD = SessionLines([*board(1, [100, 0, -100]), *board(2, [100, 0, -100], True)], {1: 3, 2: 3})
BAD = SessionLines([*board(1, [-100, 0, 100]), *board(2, [-100, 0, 100])], {1: 3, 2: 3})
GROUPS = two_winners(GOOD.lines)


def percent_of_first(window: Window, sessions: list[SessionLines]) -> Fraction:
    rankings, _ = score_stage(sessions, GROUPS, replace(PLAIN, percentage_window=window))
    return next(row.percent for row in rankings[0] if row.contestant.number == 1)


def test_the_window_decides_what_other_boards_are() -> None:
    # 100 % and AVE+ in the first session, twice 0 % in the second.
    assert percent_of_first(Window.SESSION, [GOOD, BAD]) == F(200, 4)
    assert percent_of_first(Window.MATCH, [GOOD, BAD]) == F(200, 4)
    assert percent_of_first(Window.STAGE, [GOOD, BAD]) == F(100 + 60, 4)
    low = [SessionLines(board(1, [-100, 0, 100]), {1: 3}), SessionLines(board(1, [0, 0, 0], True), {1: 3})]
    east_west = next(
        row.percent
        for row in score_stage(low, GROUPS, replace(PLAIN, percentage_window=Window.STAGE))[0][1]
        if row.contestant.number == 1
    )
    assert east_west == F(100 + 40, 2)  # AVE- stays at 40 for a contestant above it


def test_one_session_is_a_session() -> None:
    for window in Window:
        profile = replace(PLAIN, percentage_window=window)
        rankings, unranked = score_stage([GOOD], GROUPS, profile)
        whole = score_session(GOOD.lines, expected=GOOD.expected, groups=GROUPS, profile=profile)
        assert rankings == whole.rankings
        assert unranked == whole.unranked


def test_imps_have_windows_too() -> None:
    profile = replace(PLAIN, percentage_window=Window.SESSION)
    rankings, _ = score_stage([GOOD, BAD], GROUPS, profile, Method.CROSS_IMPS)
    first = next(row for row in rankings[0] if row.contestant.number == 1)
    assert first.value == F(4 + 4 - 4 - 4)  # 3 and 5 IMPs on average 4; AVE+ pays the 4


def test_swiss_pairs_are_scored_against_the_field() -> None:
    lines = [line for number in range(1, 9) for line in board(number, [100, 0, 0, -100])]
    rounds = swiss_pairs_round(SessionLines(lines, dict.fromkeys(range(1, 9), 4)), 8)
    table = {(one.contestant.number, one.contestant.direction): (one.percent, one.vp) for one in rounds}
    assert table[1, "NS"] == (100, 20)
    assert table[2, "NS"] == (50, 10)
    assert table[4, "EW"] == (100, 20)
    assert all(one.boards == 8 for one in rounds)
    with pytest.raises(EntryError, match="no published"):
        swiss_pairs_round(SessionLines(lines, dict.fromkeys(range(1, 9), 4)), 3)


def test_nobody_is_forgotten() -> None:
    stranger = Contestant("Z", 9)
    _, unranked = score_stage([GOOD], [WinnerGroup("", (stranger,))])
    assert unranked == (stranger,)
