"""Sections, "same as last Thursday", results before set-up, and the checklist for going home."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import EntryError
from terminals.movement import happenings as h
from terminals.movement.choose import for_tables
from terminals.movement.evening import (
    Again,
    EveningSetup,
    Held,
    bind,
    leaving_checklist,
    missing_results,
    same_again,
)
from terminals.movement.howell import howell
from terminals.movement.individual import individual
from terminals.movement.mitchell import mitchell
from terminals.movement.plan import apply, fold
from terminals.movement.sections import Field, Section, Sections, contestant, divide, sections_of
from terminals.movement.state import Plan, Played
from terminals.settings import EventSettings


def everything(plan: Plan) -> list[Played]:
    return [Played(s.round, s.table, s.ns, s.ew, b) for s in plan.actual.seatings for b in s.boards]


def test_two_sections_of_different_size_apart_or_across() -> None:
    evening = sections_of([mitchell(7, 4), mitchell(5, 4, rounds=5)])
    apart = evening.rankings()
    assert [(r.name, r.sections) for r in apart] == [
        ("A NS", ("A",)), ("A EW", ("A",)), ("B NS", ("B",)), ("B EW", ("B",)),
    ]  # fmt: skip
    across = evening.scored(Field.ACROSS)
    assert [(r.name, len(r.contestants)) for r in across.rankings()] == [("NS", 12), ("EW", 12)]
    assert {c for r in across.rankings() for c in r.contestants} == {c for r in apart for c in r.contestants}
    assert across.expected_per_board()["all"][1] == 12
    assert across.expected_per_board()["all"][28] == 7
    assert evening.expected_per_board()["B"][1] == 5
    assert across.copies_to_deal()[1] == 2
    assert across.copies_to_deal()[28] == 1
    assert len(across.warnings()) == 2
    assert evening.warnings() == ()
    assert across.scored(Field.SEPARATE) == evening


def test_one_winner_and_two_winners_are_not_one_ranking() -> None:
    evening = sections_of([mitchell(7, 4), howell(4, 4)], Field.ACROSS)
    assert len(evening.rankings()) == 3
    assert all(r.sections == ("A", "B") for r in evening.rankings())
    assert any("ranked apart" in warning for warning in evening.warnings())


@pytest.mark.parametrize("letters", [[], ["A", "A"], ["a"], ["AB"], ["Ł"], ["1"]])
def test_section_letters(letters: list[str]) -> None:
    with pytest.raises(EntryError):
        Sections(tuple(Section(letter, mitchell(5, 2)) for letter in letters))


@given(pairs=st.integers(3, 200), count=st.integers(1, 8))
def test_dividing_a_room(pairs: int, count: int) -> None:
    if pairs < 3 * count:
        with pytest.raises(EntryError):
            divide(pairs, count)
        return
    sizes = divide(pairs, count)
    assert sum(sizes) == pairs
    assert sum(size % 2 for size in sizes) == pairs % 2
    assert max(sizes) - min(sizes) <= 2
    assert min(sizes) >= 2


def test_contestants() -> None:
    assert contestant("A7") == ("A", 7)
    assert contestant("b12") == ("B", 12)
    assert contestant("AA7") == ("AA", 7)
    for wrong in ("", "7", "A", "A0", "AB7", "AAAA7", "A-1", "A７", "A99999999999"):
        with pytest.raises(EntryError):
            contestant(wrong)


def test_same_as_last_thursday() -> None:
    planned = for_tables(7, 28, pairs=13)
    plan = apply(Plan(planned, planned), h.LatePair(2))
    old = EveningSetup(
        "Thursday",
        sections_of([plan.actual], Field.ACROSS),
        EventSettings(director_pin="4711", playing_director=("A7",), profile="ebu", correction_minutes=60),
        deal_set="set-19",
        results=168,
    )
    again = same_again(old, "Next Thursday", {"A": plan})
    assert isinstance(again, Again)
    assert again.setup.sections.sections[0].movement == planned
    assert again.setup.sections.field is Field.ACROSS
    assert (again.setup.settings.profile, again.setup.settings.correction_minutes) == ("ebu", 60)
    assert (again.setup.settings.director_pin, again.setup.settings.playing_director) == ("", ())
    assert (again.setup.deal_set, again.setup.results, again.setup.title) == ("", 0, "Next Thursday")
    assert again.ask == ("the deals", "the director's PIN", "the playing director's pair")


def test_results_that_came_before_the_movement_are_bound() -> None:
    movement = mitchell(7, 4)
    seat = movement.at(2, 3)
    assert seat is not None
    board = seat.boards[1]
    found = bind(
        movement,
        [Held(3, board, 2), Held(3, board), Held(3, board, 1), Held(3, board, 2, ns=3, ew=99), Held(3, board, 1, 3, 9)],
    )
    assert found[0].played == Played(2, 3, seat.ns, seat.ew, board)
    assert found[1].played == found[0].played
    assert found[0].problem == found[1].problem == ""
    assert found[2].played is None
    assert "ask who played it" in found[2].problem
    assert found[3].played == Played(2, 3, 3, 99, board)
    assert "not 3 against 99" in found[3].problem
    assert found[4].played == Played(1, 3, 3, 9, board)
    assert found[4].problem


def test_missing_results() -> None:
    movement = mitchell(5, 2)
    plan = Plan(movement, movement)
    played = everything(plan)
    assert missing_results(plan, played) == ()
    gone = played.pop(7)
    assert missing_results(plan, played) == (gone,)
    assert len(missing_results(plan, [], up_to_round=1)) == 10
    # after an early end the later rounds miss nothing
    assert missing_results(fold(movement, [h.Curtailed(3)]), [p for p in played if p.round <= 3]) == (gone,)
    exchanged = [Played(p.round, p.table, p.ew, p.ns, p.board) for p in everything(plan)]
    assert missing_results(plan, exchanged) == ()


def test_going_home() -> None:
    movement = mitchell(5, 2)
    plan = Plan(movement, movement)
    full = leaving_checklist(
        {"A": plan},
        {"A": everything(plan)},
        players={"A": dict.fromkeys(movement.pairs, 2)},
        exports={"USEBIO": True},
        backup=True,
    )
    assert all(item.done for item in full)
    waiting = h.Verdict(h.State.ARTIFICIAL, 60, 40, provisional=True)
    plan = apply(plan, h.Unstarted(5, 1, movement.seatings[-5].boards[:1], waiting))
    left = leaving_checklist(
        {"A": plan},
        {"A": everything(plan)[:-2]},
        players={"A": {1: 2, 2: 1}},
        waiting_records=3,
        open_calls=1,
        exports={"USEBIO": False, "PBN": True},
        backup=False,
    )
    assert {item.key: item.done for item in left} == dict.fromkeys(
        ["results", "records", "rulings", "calls", "players", "exports", "backup"], False
    )
    assert left[0].words == "2 results are missing."
    assert left[0].details[0].startswith("A: round 5, table 5, board")
    assert len(left[4].details) == 9


def test_in_an_individual_every_player_has_one_number() -> None:
    movement = individual(8, 2)
    plan = Plan(movement, movement)
    items = leaving_checklist(
        {"A": plan}, {"A": everything(plan)}, players={"A": dict.fromkeys(range(1, 9), 1)}, exports={}, backup=True
    )
    assert all(item.done for item in items)
