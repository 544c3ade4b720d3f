"""Rulings: refusals, previews, states, periods, fouled boards."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

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
    PassedOut,
    Played,
    SitOut,
)
from terminals.scoring.editions import edition_note, is_covered, law_number
from terminals.scoring.fouled import PlayOrder, Reading, forms_by_reading, forms_by_time
from terminals.scoring.lines import Contestant, LineKey, PenaltyUnit, ResultLine, SessionAdjustment, two_winners
from terminals.scoring.profile import PLAIN
from terminals.scoring.rulings import (
    Appeal,
    Authority,
    Period,
    Ruling,
    RulingState,
    SessionSetup,
    appeal_period,
    apply_rulings,
    check_correction,
    check_ruling,
    correction_period,
    lodge_appeal,
    preview,
)

F = Fraction


def line(number: int, result: BoardState, board: int = 1) -> ResultLine:
    return ResultLine(board, Contestant("A", number, "NS"), Contestant("A", number, "EW"), result, "A")


LINES = [line(n, Played(Contract.parse("4S N"), 12 - n)) for n in range(1, 5)]
SETUP = SessionSetup(two_winners(LINES), expected={1: 4})


def ruling(**changes: object) -> Ruling:
    base = Ruling(
        "R1",
        "12C2(a)",
        "director's error",
        "N. Director",
        LINES[0].key,
        Artificial(Average.EVEN, Average.EVEN),
        state=RulingState.CONFIRMED,
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def test_preview_shows_the_effect_on_every_total() -> None:
    found = preview(ruling(state=RulingState.PROPOSED), LINES, SETUP)
    assert len(found.effects) == 8
    effect = {effect.contestant: effect for effect in found.effects}
    winner = effect[Contestant("A", 1, "NS")]
    assert (winner.value_before, winner.value_after, winner.place_before, winner.place_after) == (100, 50, "1", "2=")
    assert effect[Contestant("A", 2, "NS")].value_after == F(17 * 100, 18)
    assert all(one.changed for one in found.effects if one.contestant.number in (1, 2, 4))
    assert "table result is kept" in found.notes[0]
    assert SETUP.score(LINES).row(Contestant("A", 1, "NS")) is not None  # nothing was changed by looking


def test_weights_that_do_not_sum_to_one_never_become_a_value() -> None:
    with pytest.raises(EntryError, match="12C1"):
        Assigned((Outcome(100, F(1, 2)),), (Outcome(100),))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"reason": " "}, "board that was played needs a reason"),
        ({"ruled_by": ""}, "Nobody is named"),
        ({"result": None}, "decides nothing"),
        ({"line": None}, "No result is named"),
        ({"result": NotEntered()}, "no ruling"),
        ({"result": SitOut()}, "no ruling"),
        ({"law": "94"}, "no Law"),
        ({"law": "Law twelve"}, "no Law"),
        ({"ruleset": "laws-1987"}, "no ruleset"),
    ],
)
def test_contradictory_rulings_are_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(EntryError, match=words):
        check_ruling(ruling(**changes), LINES[0].result, PLAIN)


def test_a_ruling_on_a_board_that_was_not_played_also_needs_a_reason() -> None:
    with pytest.raises(EntryError, match="A ruling needs a reason"):
        check_ruling(ruling(reason=""), NotEntered(), PLAIN)


def test_weights_by_a_director_are_not_of_1997() -> None:
    side = (Outcome(420, F(1, 2)), Outcome(-100, F(1, 2)))
    weighted = ruling(result=Assigned(side, side), law="12C2", ruleset="laws-1997")
    with pytest.raises(EntryError, match="12C3"):
        check_ruling(weighted, LINES[0].result, PLAIN)
    assert check_ruling(replace(weighted, authority=Authority.COMMITTEE), LINES[0].result, PLAIN) == []
    assert check_ruling(replace(weighted, ruleset="laws-2007"), LINES[0].result, PLAIN) == []


def test_editions_without_a_source_are_named_not_guessed() -> None:
    assert law_number("12C1(e)(ii)") == 12
    assert law_number("12C1c") == law_number("Law 12C1(c)") == 12
    assert is_covered("laws-1997", "31")
    assert not is_covered("laws-1997", "87")
    assert not is_covered("laws-2017", "12C1")
    assert edition_note("laws-2007", "93") == ""
    notes = check_ruling(ruling(ruleset="laws-2017"), NotEntered(), PLAIN)
    assert notes[0].startswith("edition not covered: Law 12 of laws-2017")


def test_warnings() -> None:
    both = ruling(result=Artificial(Average.PLUS, Average.PLUS))
    assert any("120%" in note for note in check_ruling(both, NotEntered(), PLAIN))
    assert check_ruling(replace(both, outside_agency=True), NotEntered(), PLAIN) == []
    typed = ruling(result=Artificial(FixedPercent(F(55)), FixedPercent(F(45))))
    assert check_ruling(typed, NotEntered(), PLAIN) == []
    mixed = ruling(result=Assigned((Outcome(100),), Average.PLUS))
    assert any("artificial" in note for note in check_ruling(mixed, LINES[0].result, PLAIN))
    twice = ruling(result=Assigned((Outcome(100, F(1, 2)), Outcome(100, F(1, 2))), (Outcome(100),)))
    assert any("twice" in note for note in check_ruling(twice, LINES[0].result, PLAIN))
    assert any("no score" in note for note in check_ruling(ruling(result=NotPlayed()), PassedOut(), PLAIN))
    bonus = ruling(result=None, line=None, penalty=SessionAdjustment(Contestant("A", 1), F(1), PenaltyUnit.PERCENT))
    assert any("adds" in note for note in check_ruling(bonus, None, PLAIN))


def test_only_rulings_that_count_are_applied() -> None:
    for state in RulingState:
        lines, _ = apply_rulings(LINES, [ruling(state=state)], PLAIN)
        counted = state in (RulingState.CONFIRMED, RulingState.APPEALED, RulingState.UPHELD)
        assert isinstance(lines[0].result, Artificial) is counted


def test_two_rulings_on_one_line_need_a_successor() -> None:
    second = ruling(id="R2", result=Artificial(Average.PLUS, Average.MINUS))
    with pytest.raises(EntryError, match="R1 and R2 both decide"):
        apply_rulings(LINES, [ruling(), second], PLAIN)
    lines, _ = apply_rulings(LINES, [ruling(), replace(second, replaces="R1")], PLAIN)
    assert lines[0].result == Artificial(Average.PLUS, Average.MINUS)
    lines, _ = apply_rulings(LINES, [ruling(), ruling(id="R3", result=None, form="B", law="87")], PLAIN)
    assert (lines[0].form, lines[0].result) == ("B", Artificial(Average.EVEN, Average.EVEN))
    with pytest.raises(EntryError, match="no ruling 'R9'"):
        apply_rulings(LINES, [replace(second, replaces="R9")], PLAIN)
    missing = ruling(line=(9, "A", Contestant("A", 1, "NS"), Contestant("A", 1, "EW"), 1))
    with pytest.raises(EntryError, match="not there"):
        apply_rulings(LINES, [missing], PLAIN)


def test_a_penalty_is_applied_to_the_total() -> None:
    fine = SessionAdjustment(Contestant("A", 1, "NS"), F(-1, 4), PenaltyUnit.TOP_FRACTION)
    found = preview(ruling(law="90", line=None, result=None, penalty=fine), LINES, SETUP)
    effect = next(one for one in found.effects if one.contestant == fine.contestant)
    assert (effect.value_before, effect.value_after) == (100, 75)
    assert sum(one.changed for one in found.effects) == 1


def test_states_of_a_ruling() -> None:
    proposed = ruling(state=RulingState.PROPOSED)
    confirmed = proposed.moved(RulingState.CONFIRMED)
    appealed = lodge_appeal(Appeal("R1", Contestant("A", 1), True, 29), confirmed, PLAIN)
    assert appealed.state is RulingState.APPEALED
    assert appealed.moved(RulingState.UPHELD).moved(RulingState.CHANGED).state is RulingState.CHANGED
    with pytest.raises(EntryError, match="can't become"):
        proposed.moved(RulingState.APPEALED)
    with pytest.raises(EntryError, match="can't become"):
        ruling(state=RulingState.WITHDRAWN).moved(RulingState.CONFIRMED)
    with pytest.raises(EntryError, match="92B"):
        lodge_appeal(Appeal("R1", Contestant("A", 1), True, 30), confirmed, PLAIN)
    with pytest.raises(EntryError, match="92D"):
        lodge_appeal(Appeal("R1", Contestant("A", 1), False, None), confirmed, PLAIN)
    with pytest.raises(EntryError, match="another ruling"):
        lodge_appeal(Appeal("R7", Contestant("A", 1), True, 1), confirmed, PLAIN)


def test_periods_start_when_results_are_available() -> None:
    assert [correction_period(minutes, PLAIN) for minutes in (None, 0, F(59, 2), 30)] == [
        Period.NOT_STARTED,
        Period.OPEN,
        Period.OPEN,
        Period.OVER,
    ]
    assert appeal_period(31, replace(PLAIN, appeal_minutes=60)) is Period.OPEN
    for period in (Period.NOT_STARTED, Period.OPEN):
        check_correction(period, [])
    check_correction(Period.OVER, ["Ann", "Ben"])
    for names in ([], ["Ann"], ["Ann", " ann "], ["Ann", ""]):
        with pytest.raises(EntryError, match="79C"):
            check_correction(Period.OVER, names)


def key(number: int) -> LineKey:
    board, section, ns, ew, _ = LINES[0].key
    return board, section, ns, ew, number


PLAYS = [PlayOrder(key(n), 1, n) for n in range(1, 6)]


def test_forms_that_the_director_times() -> None:
    found = forms_by_time(PLAYS, [(1, 3, "B"), (1, 5, "")])
    assert list(found.forms.values()) == ["", "", "B", "B", ""]
    assert found.groups == {"": 3, "B": 2}
    with pytest.raises(EntryError, match="copy 2"):
        forms_by_time(PLAYS, [(2, 1, "B")])
    with pytest.raises(EntryError):
        forms_by_time(PLAYS, [(1, 0, "B")])


def test_forms_that_a_read_back_proposes() -> None:
    good, bad = b"a", b"b"
    end_only = forms_by_reading(PLAYS, [Reading(1, 5, bad)], good)
    assert list(end_only.forms.values()) == [""] * 5
    assert len(end_only.uncertain) == 5
    steps = [Reading(1, 2, good), Reading(1, 3, bad), Reading(1, 5, bad)]
    proven = forms_by_reading(PLAYS, steps, good)
    assert list(proven.forms.values()) == ["", "", "", "B", "B"]
    assert proven.uncertain == ()
    untouched = forms_by_reading(PLAYS, [Reading(1, 5, good)], good)
    assert set(untouched.forms.values()) == {""}
    assert untouched.uncertain == ()
    two = forms_by_reading([*PLAYS, PlayOrder(key(9), 2, 1)], [Reading(1, 5, good), Reading(2, 0, bad)], good)
    assert two.forms[key(9)] == "B"
    assert two.uncertain == (key(9),)
