"""Every generated movement, of every size, can be played: no error of ``verify``, and what each family promises."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.errors import EntryError
from terminals.movement import families, individual, swiss, teams
from terminals.movement.arrow import best_switching, switched
from terminals.movement.howell import howell
from terminals.movement.mitchell import SKIP, mitchell
from terminals.movement.model import Direction, Movement
from terminals.movement.three_quarter import three_quarter_howell, three_quarter_rounds
from terminals.movement.verify import Report, variance_per_set, verify

MISSING = st.sampled_from([None, Direction.NS, Direction.EW])


def assert_clean(movement: Movement, *, warnings: set[int] | None = None) -> Report:
    report = verify(movement)
    assert report.errors == ()
    if warnings is not None:
        assert {w.property for w in report.warnings} <= warnings
    return report


@pytest.mark.parametrize("tables", range(4, 31, 2))
@pytest.mark.parametrize("missing", [None, *Direction])
def test_bye_stand(tables: int, missing: Direction | None) -> None:
    movement = families.bye_stand(tables, 2, missing=missing)
    assert_clean(movement, warnings={9, 10, 11, 12})
    assert movement.shares == ()
    assert len(movement.board_sets) == tables + 2 or missing
    assert movement.winners == 2


@pytest.mark.parametrize("tables", range(3, 22, 2))
@pytest.mark.parametrize("missing", [False, True])
def test_hesitation(tables: int, missing: bool) -> None:
    movement = families.hesitation(tables, 2, missing=missing)
    assert_clean(movement, warnings={9})
    assert (movement.winners, movement.rounds, movement.copies, movement.shares) == (1, tables + 1, 1, ())
    if not missing:
        assert {len(movement.boards_of(pair)) for pair in movement.pairs} == {2 * (tables + 1)}
    stay = [p for p in movement.pairs if len({s.table for s in movement.plays(p)}) == 1]
    assert stay == list(range(1, tables))


@pytest.mark.parametrize("tables", range(4, 20))
def test_rover(tables: int) -> None:
    movement = families.rover(tables, 2)
    assert_clean(movement, warnings={9, 10, 13})
    rover = 2 * tables + 1
    assert movement.groups[0].contestants[-1] == rover
    assert len(movement.in_round(2)) == tables
    assert movement.plays(rover)[0].round > 1
    full = tables - (tables % 2 == 0)
    assert len(movement.plays(rover)) >= full - 2
    assert {s.direction_of(rover) for s in movement.plays(rover)} == {Direction.NS}


@given(tables=st.integers(4, 40), sets=st.integers(3, 15), size=st.integers(1, 3), missing=MISSING)
@settings(max_examples=60)
def test_web(tables: int, sets: int, size: int, missing: Direction | None) -> None:
    if tables % 2 and (sets % 2 == 0 or tables <= sets):
        with pytest.raises(EntryError):
            families.web(tables, sets, size, missing=missing)
        return
    movement = families.web(tables, sets, size, missing=missing)
    assert_clean(movement, warnings={9, 10, 11, 12})
    assert movement.shares == ()
    used = Counter((s.round, s.copy, b) for s in movement.seatings for b in s.boards)
    assert set(used.values()) == {1}
    assert {s.copy for s in movement.seatings} <= set(range(1, movement.copies + 1))


def test_a_web_of_sixteen_tables_needs_two_copies_of_twenty_six_boards() -> None:
    movement = families.web(16, 13, 2)
    assert (movement.copies, len(movement.board_numbers), movement.rounds) == (2, 26, 13)
    assert set(movement.expected_per_board().values()) == {16}
    assert families.web(15, 13, 2).copies == 3


@pytest.mark.parametrize("tables", range(10, 35, 4))
def test_scissors(tables: int) -> None:
    movement = families.scissors(tables, 3)
    assert_clean(movement, warnings=set())
    assert (movement.winners, movement.copies, movement.shares) == (1, 2, ())
    t = tables // 2
    first_ns = set(range(1, t + 1))
    opponents = {o for p in first_ns for s in movement.plays(p) for o in s.opponents_of(p)}
    assert opponents & set(range(t + 1, 2 * t + 1))
    assert opponents & set(range(2 * t + 1, 3 * t + 1))


@pytest.mark.parametrize(("tables", "rounds"), [(t, r) for t in range(5, 12) for r in three_quarter_rounds(t)])
def test_three_quarter_howell(tables: int, rounds: int) -> None:
    movement = three_quarter_howell(tables, rounds, 2)
    assert_clean(movement, warnings=set())
    assert movement.winners == 1
    assert len(movement.board_numbers) == 2 * rounds
    assert variance_per_set(movement) < 7
    assert_clean(three_quarter_howell(tables, rounds, 2, missing=True), warnings={9, 11})


def test_thirteen_rounds_of_nine_tables_beat_the_published_movement() -> None:
    assert variance_per_set(three_quarter_howell(9, 13, 2)) < 4.59


@pytest.mark.parametrize(("tables", "best"), [(5, 1), (7, 1), (8, 1), (9, 1), (11, 1), (13, 2), (15, 2), (17, 2)])
def test_best_number_of_switched_rounds(tables: int, best: int) -> None:
    computed = best_switching(mitchell(tables, 3))
    assert computed.best == best
    movement = switched(mitchell(tables, 3))
    assert_clean(movement)
    assert variance_per_set(movement) == computed.variances[best]


def test_best_switching_tries_enough() -> None:
    """The early end of the search loses nothing: no higher number is better."""
    from dataclasses import replace

    from terminals.movement.arrow import last_rounds
    from terminals.movement.mitchell import arrow_switch

    for movement in (mitchell(9, 1), mitchell(12, 1), mitchell(10, 1, variant=SKIP), mitchell(13, 1, rounds=9)):
        every = [
            variance_per_set(arrow_switch(replace(movement), last_rounds(movement, n)))
            for n in range(movement.rounds + 1)
        ]
        assert min(every) == every[best_switching(movement).best]


@pytest.mark.parametrize("players", individual.individual_sizes())
def test_individual(players: int) -> None:
    movement = individual.individual(players, 2)
    assert_clean(movement, warnings={12})
    assert movement.contestants == tuple(range(1, players + 1))
    partners: Counter[frozenset[int]] = Counter()
    opponents: Counter[frozenset[int]] = Counter()
    for s in movement.seatings:
        sides = [s.side(d) for d in Direction]
        partners.update(frozenset(side) for side in sides)
        opponents.update(frozenset(couple) for couple in itertools.product(*sides))
    assert set(partners.values()) == {1}
    if movement.kind == individual.WHIST:
        assert len(partners) == players * (players - 1) // 2
        assert set(opponents.values()) == {2}
        assert len(opponents) == players * (players - 1) // 2


@pytest.mark.parametrize(
    ("movement", "circle"),
    [
        (howell(5, 2), 9), (howell(8, 2), 15), (three_quarter_howell(8, 13, 2), 13),
        (individual.whist(12, 3), 11), (individual.whist(13, 3), 13),
    ],
    ids=lambda value: getattr(value, "kind", str(value)),
)  # fmt: skip
def test_following_the_number_one_lower_is_true(movement: Movement, circle: int) -> None:
    """What the director announces: everybody goes to the place that the number one lower had."""
    for number in range(2, movement.rounds + 1):
        for moving in range(1, circle + 1):
            now, before = movement.seat(moving, number), movement.seat((moving - 2) % circle + 1, number - 1)
            assert now is not None
            assert before is not None
            assert now.table == before.table


@pytest.mark.parametrize(
    "movement",
    [mitchell(9, 2), mitchell(8, 2), families.web(16, 13, 2), families.web(15, 13, 2), families.bye_stand(8, 2)],
    ids=lambda m: m.name,
)
def test_east_west_go_up_one_and_boards_down_one_or_to_a_stand(movement: Movement) -> None:
    for s in movement.seatings:
        seat = movement.next_seat(s.ew, s.round)
        assert seat is None or seat.table == s.table % movement.tables + 1
        assert movement.next_seat(s.ns, s.round) is None or getattr(movement.next_seat(s.ns, s.round), "ns", 0) == s.ns
        there = movement.next_table(s.boards, s.round, s.copy)
        shared = any(s.table in share.tables for share in movement.shares if share.round == s.round)
        if there is not None and there.round == s.round + 1 and not shared:
            assert there.table == s.table - 1 or s.table in (1, movement.tables // 2 + 1)


def test_whist_shares_only_what_can_be_passed_round() -> None:
    assert individual.individual(12, 3).copies == 1
    assert individual.individual(12, 2).copies == 3
    assert individual.individual(12, 2).shares == ()
    shared = individual.individual(12, 3)
    first = [s.boards[0] for s in shared.in_round(1)]
    assert len(set(first)) == 3


@pytest.mark.parametrize("count", range(3, 21))
def test_round_robin(count: int) -> None:
    movement = teams.round_robin(count, 4)
    assert_clean(movement)
    assert len(teams.matches(movement)) == count * (count - 1) // 2
    assert len({(m.home, m.away) for m in teams.matches(movement)}) == count * (count - 1) // 2
    for match in teams.matches(movement):
        assert sorted(match.home_ns.boards) == sorted(match.away_ns.boards)
        assert abs(match.home_ns.table - match.away_ns.table) == 1


@pytest.mark.parametrize("count", range(3, 24, 2))
def test_american_whist(count: int) -> None:
    movement = teams.american_whist(count, 3)
    assert_clean(movement)
    assert (movement.copies, movement.shares) == (1, ())
    assert len(teams.matches(movement)) == count * (count - 1) // 2


@pytest.mark.parametrize("count", range(3, 24))
def test_multiple_teams(count: int) -> None:
    movement = teams.multiple_teams(count, 3)
    assert_clean(movement)
    assert movement.rounds == count - 1
    for team in movement.teams:
        home = {movement.team_of(o) for s in movement.plays(team.pairs[0]) for o in s.opponents_of(team.pairs[0])}
        assert len(home) == count - 1
        assert team not in home


def test_head_to_head() -> None:
    movement = teams.head_to_head(3, 8)
    assert_clean(movement)
    assert len(teams.matches(movement)) == 3
    assert movement.in_round(1)[0].boards[0] != movement.in_round(1)[1].boards[0]
    assert teams.head_to_head(3, 8, copies=2).shares == ()


@given(data=st.data(), count=st.integers(2, 30), as_teams=st.booleans(), size=st.integers(1, 8))
@settings(max_examples=40)
def test_swiss_draws_without_repeats_as_long_as_it_can(
    data: st.DataObject, count: int, as_teams: bool, size: int
) -> None:
    movement: Movement | None = None
    for number in range(min(6, count - 1)):
        ranking = data.draw(st.permutations(range(1, count + 1)))
        met, byes = swiss.history(movement) if movement else (set(), [])
        drawn = swiss.draw(ranking, met, byes, halves=number == 0)
        if movement is None:
            movement = swiss.swiss(count, size, drawn, teams=as_teams)
        else:
            movement = swiss.add_round(movement, drawn)
        assert (drawn.bye == 0) == (count % 2 == 0)
        # a draw without repeats surely exists while fewer than half of the others have been met
        if 2 * number < count // 2:
            assert drawn.repeats == ()
    assert movement is None or assert_clean(movement)


@given(data=st.data(), as_teams=st.booleans())
@settings(max_examples=30)
def test_a_swiss_event_that_people_join_and_leave(data: st.DataObject, as_teams: bool) -> None:
    movement = swiss.swiss(6, 4, swiss.draw(range(1, 7)), teams=as_teams)
    gone: set[int] = set()
    for _ in range(4):
        if data.draw(st.booleans()):
            movement = swiss.join(movement, max(movement.pairs) + 1)
        if data.draw(st.booleans()) and len(movement.contestants) - len(gone) > 3:
            gone.add(data.draw(st.sampled_from([c for c in movement.contestants if c not in gone])))
        playing = data.draw(st.permutations([c for c in movement.contestants if c not in gone]))
        met, byes = swiss.history(movement)
        movement = swiss.add_round(movement, swiss.draw(playing, met, byes), absent=gone)
        assert_clean(movement)
    if as_teams:
        assert len(teams.matches(movement)) == sum(len(movement.in_round(r)) for r in range(1, 6)) // 2
    with pytest.raises(EntryError):
        swiss.join(movement, 1)


def test_swiss_pairs_leaders_and_gives_the_last_the_bye() -> None:
    assert swiss.draw([5, 3, 1, 2, 4]).couples == ((5, 3), (1, 2))
    assert swiss.draw([5, 3, 1, 2, 4]).bye == 4
    assert swiss.draw([5, 3, 1, 2, 4], had_bye=[4]).bye == 2
    assert swiss.draw([1, 2, 3, 4], met=[(2, 1)]).couples == ((1, 3), (2, 4))
    assert swiss.draw([1, 2, 3, 4], halves=True).couples == ((1, 3), (2, 4))
    assert swiss.draw([1, 2], met=[(1, 2)]).repeats == ((1, 2),)


@pytest.mark.parametrize("as_teams", [False, True])
@pytest.mark.parametrize("count", [3, 5])
def test_nobody_sits_out_a_third_time_before_everybody_has_sat_out_twice(count: int, as_teams: bool) -> None:
    movement = swiss.swiss(count, 4, swiss.draw(range(1, count + 1)), teams=as_teams)
    for _ in range(2 * count - 1):  # the ranking never changes, so the lowest would always be the same
        movement = swiss.add_round(movement, swiss.draw(range(1, count + 1), *swiss.history(movement)))
    _, byes = swiss.history(movement)
    assert sorted(byes) == sorted([*range(1, count + 1), *range(1, count + 1)])


def test_another_one_sits_out_where_that_avoids_a_repeat() -> None:
    met = [(1, 2), (1, 3), (2, 3), (4, 1), (4, 2)]
    assert swiss.draw([1, 2, 3, 4, 5], met, had_bye=[1, 2, 3, 4, 5]).repeats == ()


@pytest.mark.parametrize(
    "call",
    [
        lambda: families.bye_stand(5, 2),
        lambda: families.hesitation(6, 2),
        lambda: families.rover(2, 2),
        lambda: families.web(15, 15, 2),
        lambda: families.web(8, 2, 2),
        lambda: families.scissors(12, 2),
        lambda: families.scissors(11, 2),
        lambda: three_quarter_howell(4, 5, 2),
        lambda: individual.individual(6, 2),
        lambda: individual.rainbow(6, 2),
        lambda: individual.whist(21, 2),
        lambda: individual.individual(8, 2, rounds=8),
        lambda: teams.american_whist(4, 3),
        lambda: teams.round_robin(2, 3),
        lambda: teams.head_to_head(0, 3),
        lambda: teams.head_to_head(2, 3, copies=3),
        lambda: teams.multiple_teams(61, 3),
        lambda: swiss.draw([1, 1]),
        lambda: swiss.draw([1]),
        lambda: swiss.swiss(4, 3, swiss.Draw(((1, 2), (3, 3)))),
        lambda: swiss.add_round(mitchell(5, 2), swiss.Draw(())),
        lambda: best_switching(switched(mitchell(5, 2))),
        lambda: switched(mitchell(5, 2), 6),
    ],
)
def test_what_can_not_be_is_refused(call: object) -> None:
    with pytest.raises(EntryError):
        call()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("build", "numbers"),
    [
        (individual.individual, range(1, 101)),
        (individual.whist, range(1, 26)),
        (individual.rainbow, range(2, 26)),
    ],
)
def test_an_individual_that_does_not_exist_names_all_that_do(build: Callable[..., Movement], numbers: range) -> None:
    made, named = [], set()
    for number in numbers:
        try:
            build(number, 2)
            made.append(number)
        except EntryError as error:
            named.add(error.next_step)
    assert named == {f"Numbers that do: {', '.join(map(str, made))}."}
