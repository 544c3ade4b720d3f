"""Whatever the catalog builds can be played: every kind, every size, with any options; and on any boards."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.errors import EntryError
from terminals.movement import files, show, written
from terminals.movement import happenings as h
from terminals.movement.boards import parse_boards, runs, with_boards
from terminals.movement.catalog import KINDS, build
from terminals.movement.model import Movement
from terminals.movement.plan import apply, fold
from terminals.movement.state import Plan
from terminals.movement.three_quarter import three_quarter_rounds
from terminals.movement.verify import verify
from terminals.movement.words import words

LARGEST = 14
ALL = set(range(2, LARGEST + 1))
EVEN, ODD = {n for n in ALL if n % 2 == 0}, {n for n in ALL if n % 2}
SIZES: dict[str, set[int]] = {
    "mitchell": ALL,
    "odd": ODD,
    "share": EVEN,
    "skip": EVEN,
    "bye-stand": EVEN,
    "hesitation": ODD,
    "rover": ALL - {2},
    "web": EVEN - {2} | {5, 7},  # with three sets in play below eight tables, else thirteen
    "scissors": {10, 14},
    "howell": set(range(2, 11)),
    "three-quarter-howell": set(range(5, 12)),
    "individual": {4, 5, 8, 9, 12, 13},
    "whist": {4, 5, 8, 9, 12, 13},
    "rainbow": {5, 7, 8, 9, 11, 13},
    "head-to-head": ALL | {1},
    "round-robin": ALL - {2},
    "american-whist": ODD,
    "swiss-pairs": ALL,
    "swiss-teams": ALL,
    "multiple-teams": ALL - {2},
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_is_built_in_every_size_and_can_be_played(kind: str) -> None:
    built = set()
    for number in range(1, LARGEST + 1):
        with contextlib.suppress(EntryError):
            movement = build(f"{kind}:{number}x2" + (",sets=3" if kind == "web" and number < 8 else ""))
            assert verify(movement).errors == (), f"{kind}:{number}x2"
            built.add(number)
    assert built == SIZES[kind], kind


def test_what_is_announced_is_kept_in_full() -> None:
    movement = build("rover:40x1")
    assert max(len(note) for note in movement.notes) > 300
    assert files.from_dict(written.to_dict(movement)) == movement
    assert files.from_yaml(written.to_yaml(movement)) == movement


def test_every_three_quarter_howell_that_is_listed() -> None:
    for tables in range(5, 12):
        for rounds in three_quarter_rounds(tables):
            for half in ("no", "yes"):
                movement = build(f"three-quarter-howell:{tables}x2,rounds={rounds},half={half}")
                assert verify(movement).errors == ()
                assert movement.rounds == rounds < 2 * tables - 1
                assert len(movement.pairs) == 2 * tables - (half == "yes")


@st.composite
def specs(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(list(KINDS)))
    values = {
        "rounds": st.integers(1, 14),
        "first": st.integers(1, 60),
        "copies": st.integers(1, 6),
        "sets": st.integers(2, 15),
        "switch": st.sampled_from(["best", "0", "1", "2"]),
        "missing": st.sampled_from(["ns", "ew"]),
        "half": st.sampled_from(["yes", "no"]),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(KINDS[kind].options)), unique=True, max_size=3))
    options = "".join(f",{name}={draw(values[name])}" for name in chosen)
    return f"{kind}:{draw(st.integers(1, 14))}x{draw(st.integers(1, 4))}{options}"


@given(spec=specs())
@settings(max_examples=120, deadline=None)
def test_any_options_give_a_playable_movement_or_are_refused(spec: str) -> None:
    try:
        movement = build(spec)
    except EntryError:
        return
    assert verify(movement).errors == (), spec
    assert files.from_dict(written.to_dict(movement)) == movement
    most = max(movement.copies_to_deal().values())
    assert 1 <= most <= movement.copies, "the dealer is told enough copies, and not too many"
    for number in range(1, movement.rounds + 1):  # at no time do more tables want a board than there are copies
        for board in movement.board_numbers:
            users = [s.table for s in movement.in_round(number) if board in s.boards]
            shared = any(board in one.boards and set(users) & set(one.tables) for one in movement.shares)
            assert shared or len(users) <= movement.copies_to_deal()[board]
    assert show.draw(movement, 120)
    assert show.guide_text(movement, movement.pairs[0])
    assert show.table_text(movement, 1)


# --- boards --------------------------------------------------------------------------------------------------------


def test_lists_of_boards() -> None:
    assert parse_boards("17-20") == (17, 18, 19, 20)
    assert parse_boards("1-3, 21-22;7") == (1, 2, 3, 21, 22, 7)
    assert runs([21, 1, 2, 3, 22, 7]) == "1-3, 7, 21-22"
    for wrong in ("", "0", "3-1", "1000", "a", "1-2-3", "1,1", "1-5,3", "1-" + "9" * 500):
        with pytest.raises(EntryError) as caught:
            parse_boards(wrong)
        assert caught.value.exit_status == 2


@given(
    spec=st.sampled_from(["mitchell:7x4,missing=ew", "howell:4x3", "web:8x2,sets=5", "rainbow:5x2", "round-robin:5x4"]),
    step=st.integers(0, 200),
    gap=st.integers(0, 30),
)
@settings(max_examples=40, deadline=None)
def test_the_same_movement_on_other_boards(spec: str, step: int, gap: int) -> None:
    movement = build(spec)
    own, size = movement.board_numbers, movement.boards_per_round
    numbers = [board + step + gap * ((board - 1) // size) for board in own]
    other = with_boards(movement, numbers)
    assert other.board_numbers == tuple(numbers)
    assert verify(other).errors == ()
    assert verify(other).balance == verify(movement).balance, "as fair as before"
    assert parse_boards(runs(numbers)) == tuple(numbers)
    assert with_boards(other, own) == movement, "and back"


def test_boards_that_are_too_few_or_none() -> None:
    movement = build("mitchell:5x4")
    for wrong in ([1, 2, 3], [*range(1, 20), 19], range(990, 1010), [0, *range(2, 21)]):
        with pytest.raises(EntryError):
            with_boards(movement, list(wrong))
    assert with_boards(movement, range(1, 40)) == movement, "more boards are left unused"


# --- numbers, draws and another movement as events -----------------------------------------------------------------


def started(spec: str) -> Plan:
    movement = build(spec)
    return Plan(movement, movement)


def test_a_pair_that_shows_another_number_is_the_same_pair() -> None:
    plan = apply(started("mitchell:5x2"), h.Renumbered(3, 33, 3))
    assert plan.actual == plan.planned, "who it is does not change"
    shown = plan.shown()
    assert [shown.plays(3)[-1].round, shown.plays(33)[0].round] == [2, 3]
    assert shown.next_seat(3, 2) == shown.seat(33, 3)
    assert 33 in shown.groups[0].contestants
    assert 3 not in shown.groups[0].contestants
    assert (shown.ranked_number(3, 1), shown.ranked_number(33, 4), shown.ranked_number(4, 1)) == (33, 33, 4)
    assert (plan.pair_of(3, 2), plan.pair_of(33, 3), plan.pair_of(3, 3)) == (3, 3, None)
    assert files.from_dict(written.to_dict(shown)) == shown
    # the old number is free from then on, and may be shown by another pair: results before belong to the first
    plan = apply(plan, h.Renumbered(4, 3, 4))
    shown = plan.shown()
    assert (shown.ranked_number(3, 2), shown.ranked_number(3, 4), shown.ranked_number(4, 3)) == (33, 3, 3)
    assert shown.next_seat(4, 3) == shown.seat(3, 4)
    with pytest.raises(EntryError, match="round 3"):
        apply(plan, h.Renumbered(6, 33, 1))  # free in round 1, but not for the whole session
    assert apply(plan, h.LatePair(2)).actual.pairs[-1] == 34, "nobody new gets a number that a pair shows"
    with pytest.raises(EntryError):
        apply(plan, h.LatePair(2, pair=33))
    with pytest.raises(EntryError):
        apply(plan, h.StandBy(33, 8, 2))
    # two pairs exchange their numbers, by way of a third one
    swapped = plan
    for pair, number in ((5, 99), (8, 5), (5, 8)):
        swapped = apply(swapped, h.Renumbered(pair, number, 4))
    shown = swapped.shown()
    assert [shown.ranked_number(5, 3), shown.ranked_number(8, 3)] == [8, 5]
    assert [shown.ranked_number(5, 4), shown.ranked_number(8, 4)] == [5, 8]
    assert shown.next_seat(5, 3) == shown.seat(8, 4)
    again = apply(plan, h.Renumbered(3, 34, 5))
    assert again.shown().ranked_number(3, 1) == 34
    with pytest.raises(EntryError):
        apply(plan, h.Renumbered(5, 33, 3))
    with pytest.raises(EntryError, match="already"):
        apply(plan, h.Renumbered(5, 5, 2))
    with pytest.raises(EntryError, match="Teams"):
        apply(started("round-robin:6x4"), h.Renumbered(1, 9, 1))


def test_draws_joins_and_leaving_are_events_that_can_be_left_out() -> None:
    begun = build("swiss-pairs:6x7")
    draw = h.Drawn(2, ((1, 2), (3, 4), (5, 7)), 6)
    events: list[h.Happening] = [h.Joined(7), draw]
    plan = fold(begun, events)
    assert plan.actual.rounds == 2
    assert plan.actual.board_numbers == tuple(range(1, 15))
    assert fold(begun, [*events, h.Undone(1)]).actual.rounds == 1
    with pytest.raises(EntryError, match="round 3"):
        apply(plan, draw)
    left = apply(plan, h.Withdrawn(1, 3))
    assert left.gone == {1}
    third = apply(left, h.Drawn(3, ((2, 3), (4, 5), (6, 7)), 0, (), 40))
    assert not third.actual.plays(1)[2:]
    assert third.actual.board_numbers[-7:] == tuple(range(40, 47))
    with pytest.raises(EntryError, match="exactly once"):
        apply(left, h.Drawn(3, ((1, 3), (4, 5), (6, 7))))
    with pytest.raises(EntryError, match="can't be drawn"):
        apply(started("howell:3x2"), h.Drawn(6, ((1, 2),)))
    with pytest.raises(EntryError, match="joins"):
        apply(started("howell:3x2"), h.Joined(9))


def test_a_team_leaves_with_both_its_pairs() -> None:
    plan = apply(started("round-robin:6x4"), h.Withdrawn(2, 3))
    assert {pair for pair in plan.actual.pairs if not any(s.round >= 3 for s in plan.actual.plays(pair))} == {2, 8}
    assert plan.without_standing == {2}
    assert verify(plan.actual).errors == ()
    with pytest.raises(EntryError, match="no team 8"):
        apply(plan, h.Withdrawn(8, 3))


def test_another_movement_in_place_of_the_first() -> None:
    other = build("howell:4x3")
    plan = fold(build("mitchell:4x3"), [h.Curtailed(3), h.Replanned(written.to_dict(other))])
    assert plan == Plan(other, other)
    with pytest.raises(EntryError):
        apply(plan, h.Replanned({"movement": "nothing"}))


EVENTS: list[h.Happening] = [
    h.LatePair(2, missed=(13,), verdict=h.Verdict(h.State.ARTIFICIAL, 60, 40)),
    h.Unstarted(1, 2, (3, 4), h.Verdict(h.State.ARTIFICIAL, 50, 50, provisional=True)),
    h.Curtailed(6),
    h.Withdrawn(3, 2, standing=True),
    h.StandBy(20, 3, 2),
    h.Substituted(3, "Anna", "Ewa", 2),
    h.Renumbered(3, 33, 2),
    h.PlayedAs(2, (h.SeatedAs(1, 3, 9, (5, 6)),), h.Then.FOLLOW),
    h.Drawn(2, ((1, 2), (3, 4)), 5, (6,), 30),
    h.Joined(7),
    h.Replanned(written.to_dict(build("howell:2x2"))),
    h.Undone(0),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_every_event_has_words_and_a_form_to_be_kept_in(event: h.Happening) -> None:
    assert h.from_dict(h.to_dict(event)) == event
    assert len(words(event)) > 10
    assert {type(one) for one in EVENTS} == set(h.KINDS.values())


def test_a_board_out_of_the_middle_leaves_the_rest() -> None:
    movement: Movement = build("mitchell:3x4")
    plan = apply(Plan(movement, movement), h.Unstarted(1, 1, (2,)))
    assert plan.actual.at(1, 1).boards == (1, 3, 4)  # type: ignore[union-attr]
    assert replace(plan.actual, sit_outs=()).expected_results() == movement.expected_results() - 1
