"""What happens in an evening: late pairs, early ends, wrong moves. Nobody ever replays a board."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.errors import EntryError
from terminals.movement import happenings as h
from terminals.movement.catalog import build
from terminals.movement.choose import for_tables
from terminals.movement.happenings import Place, SeatedAs, State, Then, Verdict
from terminals.movement.howell import howell
from terminals.movement.mitchell import SKIP, mitchell
from terminals.movement.model import Direction, Movement, Seating, SitOut
from terminals.movement.plan import active, apply, fold
from terminals.movement.preview import compare_repairs, preview, replays
from terminals.movement.state import Plan, Played
from terminals.movement.teams import round_robin
from terminals.movement.verify import verify
from terminals.sync.setup import new_event

AVERAGES = Verdict(State.ARTIFICIAL, 60, 40)


def start(movement: Movement) -> Plan:
    return Plan(movement, movement)


def played_until(movement: Movement, last_round: int) -> list[Played]:
    return [
        Played(s.round, s.table, s.ns, s.ew, b) for s in movement.seatings if s.round <= last_round for b in s.boards
    ]


@st.composite
def movements(draw: st.DrawFn) -> Movement:
    tables = draw(st.integers(3, 9))
    if draw(st.booleans()) and tables <= 8:
        return howell(tables, draw(st.integers(1, 3)), missing=draw(st.booleans()))
    variant = SKIP if tables % 2 == 0 and draw(st.booleans()) else None
    return mitchell(tables, draw(st.integers(1, 3)), variant=variant, missing=draw(st.sampled_from([None, *Direction])))


def untouched(before: Movement, after: Movement, rounds: int) -> bool:
    return [s for s in before.seatings if s.round <= rounds] == [s for s in after.seatings if s.round <= rounds]


@given(movement=movements(), data=st.data())
@settings(max_examples=80, deadline=None)
def test_a_late_pair_never_makes_anybody_replay_a_board(movement: Movement, data: st.DataObject) -> None:
    number = data.draw(st.integers(2, movement.rounds))
    played = played_until(movement, number - 1)
    try:
        shown = preview(start(movement), h.LatePair(number), played)
    except EntryError:  # too few tables or rounds are left for a rover
        assert movement.sit_outs == () or movement.rounds - number < 3 or movement.tables < 5
        return
    assert shown.replays == ()
    assert shown.report.errors == ()
    assert untouched(movement, shown.after.actual, number - 1)
    late = max(shown.after.actual.pairs)
    assert late == max(movement.pairs) + 1
    assert late in shown.after.actual.contestants
    seats = shown.after.actual.plays(late)
    assert seats
    assert min(s.round for s in seats) >= number
    assert len({o for s in seats for o in s.opponents_of(late)}) == len(seats)
    boards = shown.after.actual.boards_of(late)
    assert len(boards) == len(set(boards))


def test_a_late_pair_takes_the_phantoms_seat_at_once() -> None:
    movement = for_tables(7, 28, pairs=13)
    shown = preview(start(movement), h.LatePair(3, missed=(13,), verdict=AVERAGES), played_until(movement, 2))
    after = shown.after.actual
    sat_out = next(s for s in movement.sit_outs if s.round == 3)
    assert sat_out.boards == (13, 14, 15, 16)
    seat = after.seat(14, 3)
    assert isinstance(seat, Seating)
    assert (seat.table, seat.ew, seat.ns, seat.boards) == (sat_out.table, 14, sat_out.pair, (14, 15, 16))
    assert [(u.boards, u.verdict) for u in shown.unplayed] == [((13,), AVERAGES)]
    assert (after.group_of(14) or movement.groups[0]).name == "EW"
    assert after.expected_results() == 168 + 5 * 4 - 1
    assert all(s.absent for s in after.sits_out(14))
    assert [s.round for s in after.sits_out(14)] == [1, 2]
    # with the phantom filled the movement is the full one, from round 4 on
    full = mitchell(7, 4)
    assert [s for s in after.seatings if s.round > 3] == [s for s in full.seatings if s.round > 3]


def test_a_late_pair_roves_in_a_full_mitchell_and_gets_an_appendix_table_in_a_howell() -> None:
    roving = preview(start(mitchell(7, 3)), h.LatePair(2)).after.actual
    assert {s.direction_of(15) for s in roving.plays(15)} == {Direction.NS}
    assert roving.groups[0].contestants[-1] == 15
    appendix = preview(start(howell(5, 3)), h.LatePair(2)).after.actual
    assert {s.table for s in appendix.plays(11)} == {6}
    assert len(appendix.plays(11)) >= 6
    assert appendix.tables == 6
    second = preview(start(howell(5, 3)), h.LatePair(2, place=Place.ROVER)).after.actual
    assert {s.table for s in second.plays(11)} <= {1, 2, 3, 4, 5}


def test_two_late_pairs() -> None:
    plan = apply(start(mitchell(9, 3)), h.LatePair(2))
    shown = preview(plan, h.LatePair(2))
    assert shown.ok
    assert {s.table for s in shown.after.actual.plays(20)} == {10}
    assert shown.new_shares != ()


@pytest.mark.parametrize(
    "event",
    [
        h.LatePair(9),
        h.LatePair(2, pair=3),
        h.LatePair(2, place=Place.PHANTOM),
        h.LatePair(2, place=Place.ROVER, missed=(1,)),
    ],
)
def test_a_late_pair_that_can_not_be(event: h.LatePair) -> None:
    with pytest.raises(EntryError):
        preview(start(mitchell(7, 3)), event)


def test_no_late_pair_in_teams() -> None:
    with pytest.raises(EntryError):
        preview(start(round_robin(4, 3)), h.LatePair(2))


def test_missed_boards_must_be_those_of_the_seat() -> None:
    with pytest.raises(EntryError, match="to miss"):
        preview(start(for_tables(7, 28, pairs=13)), h.LatePair(3, missed=(1,)))


@given(movement=movements(), data=st.data())
@settings(deadline=None)
def test_an_early_end_removes_rounds_and_makes_nothing_not_played(movement: Movement, data: st.DataObject) -> None:
    last = data.draw(st.integers(1, movement.rounds))
    plan = apply(start(movement), h.Curtailed(last), played_until(movement, last))
    assert plan.unplayed == ()
    assert plan.actual.rounds == last
    assert plan.actual.seatings == tuple(s for s in movement.seatings if s.round <= last)
    assert verify(plan.actual).errors == ()
    assert plan.planned == movement


def test_an_early_end_is_refused_when_the_round_has_results() -> None:
    movement = mitchell(7, 4)
    with pytest.raises(EntryError, match="Round 7 has results"):
        apply(start(movement), h.Curtailed(6), played_until(movement, 7))


@given(movement=movements(), data=st.data())
@settings(deadline=None)
def test_a_pair_leaves(movement: Movement, data: st.DataObject) -> None:
    pair = data.draw(st.sampled_from(movement.pairs))
    number = data.draw(st.integers(1, movement.rounds))
    shown = preview(start(movement), h.Withdrawn(pair, number), played_until(movement, number - 1))
    assert shown.ok
    assert untouched(movement, shown.after.actual, number - 1)
    assert all(s.round < number for s in shown.after.actual.plays(pair))
    assert shown.after.without_standing == {pair}
    lost = [s for s in movement.plays(pair) if s.round >= number]
    assert shown.results_before - shown.results_after == sum(len(s.boards) for s in lost)


def test_a_pair_that_never_came_turns_averages_into_sit_outs() -> None:
    movement = mitchell(7, 4)
    waiting = Verdict(State.ARTIFICIAL, 60, 40, provisional=True)
    seat = movement.seat(10, 1)
    assert isinstance(seat, Seating)
    plan = apply(start(movement), h.Unstarted(1, seat.table, seat.boards, waiting))
    assert [u.verdict for u in plan.unplayed] == [waiting]
    gone = apply(plan, h.Withdrawn(10, 1))
    assert gone.unplayed == ()
    assert verify(gone.actual).errors == ()
    opponent = gone.actual.seat(seat.ns, 1)
    assert isinstance(opponent, SitOut)
    assert not opponent.absent


def test_a_stand_by_pair_takes_over() -> None:
    movement = mitchell(7, 4)
    shown = preview(start(movement), h.StandBy(20, 10, 4), played_until(movement, 3))
    assert shown.ok
    assert [s.round for s in shown.after.actual.plays(10)] == [1, 2, 3]
    assert [s.round for s in shown.after.actual.plays(20)] == [4, 5, 6, 7]
    assert shown.results_before == shown.results_after
    group = shown.after.actual.group_of(20)
    assert group is not None
    assert group.name == "EW"
    with pytest.raises(EntryError):
        apply(shown.after, h.StandBy(21, 10, 5))
    with pytest.raises(EntryError):
        apply(start(movement), h.StandBy(3, 10, 4))
    with pytest.raises(EntryError, match="has a result"):
        apply(start(movement), h.StandBy(20, 10, 4), played_until(movement, 4))


def test_after_a_withdrawal_a_stand_by_pair_comes_into_the_empty_seat() -> None:
    plan = apply(start(mitchell(7, 4)), h.Withdrawn(10, 3))
    shown = preview(plan, h.LatePair(4))
    assert shown.ok
    assert len(shown.after.actual.plays(15)) == 4
    assert {s.direction_of(15) for s in shown.after.actual.plays(15)} == {Direction.EW}


def test_numbers_and_substitutes_have_a_time() -> None:
    movement = mitchell(7, 4)
    plan = apply(start(movement), h.Renumbered(10, 20, 3))
    assert (plan.number_of(10, 2), plan.number_of(10, 3)) == (10, 20)
    assert (plan.pair_of(20, 3), plan.pair_of(20, 2), plan.pair_of(10, 3)) == (10, None, None)
    assert plan.actual.seatings == movement.seatings
    with pytest.raises(EntryError, match="shown by another"):
        apply(plan, h.Renumbered(11, 20, 5))
    apply(plan, h.Renumbered(11, 10, 5))
    plan = apply(plan, h.Substituted(3, "Anna", "Bea", 2, 4))
    assert plan.substitutes(3, 1) == {}
    assert plan.substitutes(3, 4) == {"Anna": "Bea"}
    assert plan.substitutes(3, 5) == {}
    for wrong in (
        h.Substituted(3, "Anna", "Anna", 2),
        h.Substituted(99, "A", "B", 1),
        h.Substituted(3, "A", "B", 4, 3),
    ):
        with pytest.raises(EntryError):
            apply(plan, wrong)


@given(movement=movements(), data=st.data())
@settings(max_examples=80, deadline=None)
def test_wrong_pairs_sat_down(movement: Movement, data: st.DataObject) -> None:
    number = data.draw(st.integers(1, movement.rounds))
    seats = movement.in_round(number)
    if len(seats) < 2:
        return
    one, two = data.draw(st.sampled_from([(a, b) for a in seats for b in seats if a.table != b.table]))
    # the East-West pairs of two tables are exchanged; naming one of the tables is enough
    event = h.PlayedAs(number, (SeatedAs(one.table, one.ns, two.ew),), verdict=AVERAGES)
    for then, shown in compare_repairs(start(movement), event).items():
        after = shown.after.actual
        assert shown.replays == ()
        assert shown.report.errors == (), then
        assert untouched(movement, after, number - 1)
        assert all(u.verdict == AVERAGES for u in shown.unplayed)
        missing = sum(len(u.boards) for u in shown.unplayed)
        assert shown.results_before - shown.results_after == missing
        if not [u for u in shown.unplayed if u.round == number]:
            seat = after.at(number, two.table)
            assert seat is not None
            assert (seat.ns, seat.ew) == (two.ns, one.ew)


@given(movement=movements(), data=st.data())
@settings(max_examples=80, deadline=None)
def test_a_round_in_which_everything_went_wrong(movement: Movement, data: st.DataObject) -> None:
    """Everybody sits anywhere, on any boards: it is repaired without a replay, or refused in words."""
    number = data.draw(st.integers(1, movement.rounds))
    tables = [s.table for s in movement.in_round(number)]
    who = data.draw(st.permutations(movement.pairs))
    sets = data.draw(st.permutations(movement.board_sets))
    lines = tuple(
        SeatedAs(table, who[2 * at], who[2 * at + 1], sets[at] if data.draw(st.booleans()) else ())
        for at, table in enumerate(tables)
    )
    ways = compare_repairs(start(movement), h.PlayedAs(number, lines, verdict=AVERAGES))
    assert Then.RETURN in ways
    for shown in ways.values():
        assert shown.ok, shown.report.errors
        assert untouched(movement, shown.after.actual, number - 1)
    back = ways[Then.RETURN].after.actual
    later = {(s.round, s.table, s.ns, s.ew) for s in back.seatings if s.round > number}
    assert later <= {(s.round, s.table, s.ns, s.ew) for s in movement.seatings}


def test_a_pair_that_should_sit_out_played() -> None:
    movement = for_tables(7, 28, pairs=13)
    resting = next(s.pair for s in movement.sit_outs if s.round == 2)
    seat = movement.at(2, 4)
    assert seat is not None
    shown = preview(start(movement), h.PlayedAs(2, (SeatedAs(4, resting, seat.ew),)))
    assert shown.ok
    waiting = shown.after.actual.seat(seat.ns, 2)
    assert isinstance(waiting, SitOut)
    assert any(line.startswith(f"Round 2: {seat.ns} sits out") for line in shown.changes)


def test_the_wrong_players_sat_down_in_an_individual() -> None:
    movement = build("whist:13x1")  # somebody rests in every round
    number = 3
    first, second = movement.in_round(number)[:2]
    rests = next(s.pair for s in movement.sit_outs if s.round == number)
    n, e, s, w = first.players
    other = second.players
    tables: tuple[SeatedAs, ...] = (
        SeatedAs(first.table, players=(other[0], e, s, w)),
        SeatedAs(second.table, players=(n, *other[1:])),
    )
    shown = preview(start(movement), h.PlayedAs(number, tables), played_until(movement, number - 1))
    assert shown.replays == ()
    assert shown.report.errors == ()
    after = shown.after.actual
    assert after.at(number, first.table) is not None
    assert after.seat(n, number).table == second.table  # type: ignore[union-attr]
    assert untouched(movement, after, number - 1)
    # whoever should have rested took a seat
    tables = (SeatedAs(first.table, players=(rests, e, s, w)),)
    rested = preview(start(movement), h.PlayedAs(number, tables)).after.actual
    assert isinstance(rested.seat(n, number), SitOut)
    assert isinstance(rested.seat(rests, number), Seating)
    for wrong in (
        h.PlayedAs(number, (SeatedAs(first.table, 1, 2),)),
        h.PlayedAs(number, (SeatedAs(first.table, players=(n, e, s)),)),
        h.PlayedAs(number, (SeatedAs(first.table, players=(other[0], e, s, w)),)),
        h.PlayedAs(number, (SeatedAs(first.table, players=(e, e, s, w)),)),
        h.PlayedAs(number, (SeatedAs(9, players=(n, e, s, w)),)),
        h.PlayedAs(number, (SeatedAs(first.table, players=(99, e, s, w)),)),
        h.PlayedAs(number, tables, Then.FOLLOW),
    ):
        with pytest.raises(EntryError):
            apply(start(movement), wrong)


def test_a_round_that_nobody_moved_goes_on_or_back() -> None:
    """East-West of a nine-table Mitchell moved up two tables instead of one before round 3."""
    movement = mitchell(9, 3)
    lines = tuple(
        SeatedAs(s.table, s.ns, other.ew)
        for s in movement.in_round(3)
        for other in movement.in_round(3)
        if other.table == (s.table - 2) % 9 + 1
    )
    ways = compare_repairs(start(movement), h.PlayedAs(3, lines))
    assert all(way.ok for way in ways.values())
    follow, back = (sum(len(u.boards) for u in ways[then].unplayed) for then in (Then.FOLLOW, Then.RETURN))
    assert (follow, back) == (54, 27)
    actual = ways[Then.FOLLOW].after.actual
    fourth, third = actual.seat(10, 4), actual.seat(10, 3)
    assert isinstance(fourth, Seating)
    assert isinstance(third, Seating)
    assert fourth.table == third.table % 9 + 1


def test_boards_that_moved_wrongly() -> None:
    """The relay was skipped: every table has the set that should come one round later."""
    movement = mitchell(7, 2)
    lines = tuple(SeatedAs(s.table, s.ns, s.ew, movement.in_round(4)[s.table - 1].boards) for s in movement.in_round(3))
    ways = compare_repairs(start(movement), h.PlayedAs(3, lines))
    assert set(ways) == set(Then)
    assert all(way.ok for way in ways.values())
    with pytest.raises(EntryError, match="in play"):
        preview(start(movement), h.PlayedAs(3, (SeatedAs(1, 1, 8, (99,)),)))
    with pytest.raises(EntryError, match="named twice"):
        preview(start(movement), h.PlayedAs(3, (SeatedAs(1, 1, 8), SeatedAs(2, 1, 9))))
    with pytest.raises(EntryError, match="Who sat"):
        preview(start(movement), h.PlayedAs(3, (SeatedAs(1, 2, 9),)))


def swaps(movement: Movement) -> list[h.Happening]:
    """Every two tables of a round whose East-West pairs may have sat at each other's."""
    out: list[h.Happening] = [h.Curtailed(movement.rounds)]
    for number in range(1, movement.rounds + 1):
        tables = movement.in_round(number)
        for one, two in pairwise(tables):
            seated = (SeatedAs(one.table, one.ns, two.ew), SeatedAs(two.table, two.ns, one.ew))
            out += [h.PlayedAs(number, seated, then, AVERAGES) for then in Then]
    return out


@given(data=st.data(), count=st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_an_evening_of_events_and_undoing(data: st.DataObject, count: int) -> None:
    movement = data.draw(movements())
    events: list[h.Happening] = []
    for _ in range(count):
        plan = fold(movement, events)
        rounds, pairs = plan.actual.rounds, plan.actual.pairs
        event: h.Happening = data.draw(
            st.one_of(
                st.builds(h.LatePair, st.integers(1, rounds)),
                st.builds(h.Curtailed, st.integers(max(1, rounds - 1), rounds)),
                st.builds(h.Withdrawn, st.sampled_from(pairs), st.integers(1, rounds), st.booleans()),
                st.builds(h.StandBy, st.just(max(pairs) + 1), st.sampled_from(pairs), st.integers(1, rounds)),
                st.builds(h.Renumbered, st.sampled_from(pairs), st.integers(50, 99), st.integers(1, rounds)),
                st.sampled_from(swaps(plan.actual)),
                st.sampled_from(
                    [h.Unstarted(s.round, s.table, s.boards[:1], AVERAGES) for s in plan.actual.seatings if s.boards]
                ),
            )
        )
        try:
            fold(movement, [*events, event])
        except EntryError:
            continue
        events.append(event)
        shown = preview(plan, event)
        assert shown.ok, (event, shown.report.errors)
        assert replays(shown.after) == ()
        told = shown.after.shown()
        assert sorted((s.round, s.table, s.boards) for s in told.seatings) == sorted(
            (s.round, s.table, s.boards) for s in shown.after.actual.seatings
        )
        for s in shown.after.actual.seatings:  # results of any round find the pair, whatever it shows by then
            seen = told.at(s.round, s.table)
            assert seen is not None
            found = [shown.after.pair_of(number, s.round) for number in (seen.ns, seen.ew)]
            assert found == [s.ns, s.ew]
            ranked = [told.ranked_number(number, s.round) for number in (seen.ns, seen.ew)]
            assert ranked == [shown.after.last_number(pair) for pair in (s.ns, s.ew)]
        setup = new_event(1, "", {1: told})
        for table in range(1, told.tables + 1):
            assert setup.table_plan(1, table) is not None
    if events:
        assert fold(movement, [*events, h.Undone(len(events) - 1)]) == fold(movement, events[:-1])
        assert fold(movement, [*events, h.Undone(len(events) - 1), h.Undone(len(events))]) == fold(movement, events)
    for event in events:
        assert h.from_dict(json.loads(json.dumps(h.to_dict(event)))) == event


def test_what_a_later_event_needs_can_not_be_undone_first() -> None:
    events: list[h.Happening] = [h.LatePair(2), h.Withdrawn(15, 4)]
    movement = mitchell(7, 3)
    fold(movement, events)
    with pytest.raises(EntryError) as caught:
        fold(movement, [*events, h.Undone(0)])
    assert caught.value.where == "event 1"
    assert "15" in caught.value.what
    assert fold(movement, [*events, h.Undone(1), h.Undone(0)]) == fold(movement, [])


def test_undoing_needs_an_earlier_event() -> None:
    with pytest.raises(EntryError):
        active([h.Undone(0)])
    with pytest.raises(EntryError):
        apply(start(mitchell(7, 2)), h.Undone(0))


def test_time_ran_out() -> None:
    movement = mitchell(7, 4)
    seat = movement.at(3, 2)
    assert seat is not None
    plan = apply(start(movement), h.Unstarted(3, 2, seat.boards[-1:], AVERAGES))
    assert plan.actual.at(3, 2) == Seating(3, 2, seat.ns, seat.ew, seat.boards[:-1])
    assert [(u.ns, u.ew, u.boards) for u in plan.unplayed] == [(seat.ns, seat.ew, seat.boards[-1:])]
    with pytest.raises(EntryError, match="has a result"):
        apply(start(movement), h.Unstarted(3, 2, seat.boards[-1:]), played_until(movement, 3))
    with pytest.raises(EntryError):
        apply(start(movement), h.Unstarted(3, 2, (1,)))
    with pytest.raises(EntryError):
        apply(start(movement), h.Unstarted(3, 12, (1,)))


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"kind": "x"},
        {"kind": "curtailed"},
        {"kind": "curtailed", "after_round": "6"},
        {"kind": "curtailed", "after_round": True},
        {"kind": "curtailed", "after_round": 6, "more": 1},
        {"kind": "late-pair", "round": 2, "place": "roof"},
        {"kind": "late-pair", "round": 2, "missed": "12"},
        {"kind": "late-pair", "round": 2, "missed": [1] * 501},
        {"kind": "late-pair", "round": 2, "verdict": {"state": "artificial"}},
        {"kind": "late-pair", "round": 2, "verdict": {"state": "artificial", "ns": 60, "ew": 140}},
        {"kind": "late-pair", "round": 2, "verdict": 3},
        {"kind": "played-as", "round": 2, "tables": [{"table": 1}]},
        {"kind": "substituted", "pair": 1, "player": "A" * 201, "substitute": "B", "round": 1},
    ],
)
def test_events_from_outside_are_checked(data: dict[str, object]) -> None:
    with pytest.raises(EntryError) as caught:
        h.from_dict(data)
    assert caught.value.what
