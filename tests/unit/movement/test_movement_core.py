"""The movements that most sessions use, held against the published test vectors and every property."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement.choose import fitting, for_tables
from terminals.movement.howell import howell
from terminals.movement.mitchell import ODD, SHARE, SKIP, arrow_switch, mitchell
from terminals.movement.model import Direction, Movement, Seating, SitOut
from terminals.movement.verify import Report, competition, verify


def variance(movement: Movement) -> float:
    balance = verify(movement).balance
    assert balance is not None
    return float(balance.variance)


def meetings(movement: Movement) -> list[frozenset[int]]:
    return [frozenset((s.ns, s.ew)) for s in movement.seatings]


def assert_clean(movement: Movement) -> Report:
    report = verify(movement)
    assert report.errors == ()
    return report


@pytest.mark.parametrize(
    ("tables", "rounds", "expected"),
    [
        (4, 7, 0),
        (6, 11, 0),
        (8, 15, 0),
        (10, 19, 0),
        (2, 3, 0),
        (3, 10, 0),
        (3, 5, 2.67),
        (5, 9, 3.2),
        (7, 13, 3.43),
        (9, 17, 3.56),
    ],
)
def test_howell_has_the_published_variance(tables: int, rounds: int, expected: float) -> None:
    movement = howell(tables, 1, rounds=rounds)
    assert_clean(movement)
    assert variance(movement) == pytest.approx(expected, abs=0.005)


def test_balanced_howells_depend_on_everybody_alike() -> None:
    for tables in (4, 6, 8):
        balance = verify(howell(tables, 1)).balance
        assert balance is not None
        assert (balance.least, balance.most) == (tables - 1, tables - 1)


@pytest.mark.parametrize(
    ("tables", "by_switched_rounds"),
    [
        (7, [12.18, 1.10, 10.95, 22.02]),
        (9, [20.18, 1.36, 7.94]),
        (11, [30.18, 3.51, 5.04]),
        (13, [42.18, 7.62, 3.14]),
        (17, [72.18, 21.76, 3.82]),
    ],
)
def test_mitchell_has_the_published_variance(tables: int, by_switched_rounds: list[float]) -> None:
    movement = mitchell(tables, 1)
    for count, expected in enumerate(by_switched_rounds):
        switched = arrow_switch(movement, tuple(range(tables - count + 1, tables + 1)))
        assert_clean(switched)
        assert variance(switched) == pytest.approx(expected, abs=0.006)
        assert switched.winners == 1


@given(
    tables=st.integers(2, 24),
    size=st.integers(1, 4),
    skip=st.booleans(),
    missing=st.sampled_from([None, Direction.NS, Direction.EW]),
    first=st.integers(1, 40),
    curtail=st.integers(0, 3),
)
def test_every_mitchell_passes(
    tables: int, size: int, skip: bool, missing: Direction | None, first: int, curtail: int
) -> None:
    variant = ODD if tables % 2 else SKIP if skip else SHARE
    full = tables - (variant == SKIP)
    movement = mitchell(
        tables, size, variant=variant, missing=missing, first_board=first, rounds=max(1, full - curtail)
    )
    report = assert_clean(movement)
    assert movement.winners == 2
    assert len(movement.contestants) == 2 * tables - (missing is not None)
    assert len(set(meetings(movement))) == len(meetings(movement))
    assert movement.expected_results() == movement.rounds * size * (tables - (missing is not None))
    assert movement.board_numbers[0] == first
    for s in movement.seatings:
        assert s.ns in movement.groups[0].contestants
        assert s.ew in movement.groups[1].contestants
    assert not [w for w in report.warnings if w.property in (8, 13)]


@given(tables=st.integers(2, 10), size=st.integers(1, 4), missing=st.booleans(), first=st.integers(1, 40))
def test_every_howell_passes_and_everybody_meets_once(tables: int, size: int, missing: bool, first: int) -> None:
    movement = howell(tables, size, missing=missing, first_board=first)
    report = assert_clean(movement)
    pairs = 2 * tables - missing
    assert movement.contestants == tuple(range(1, pairs + 1))
    assert len(meetings(movement)) == len(set(meetings(movement))) == pairs * (pairs - 1) // 2
    assert len(movement.board_numbers) == (2 * tables - 1) * size
    assert not report.warnings or missing or {w.property for w in report.warnings} <= {12}
    if not missing:
        assert {len(movement.boards_of(pair)) for pair in movement.pairs} == {(2 * tables - 1) * size}
    if tables > 3:
        assert movement.shares == ()
    else:
        assert len(movement.shares) == {2: 3, 3: 1}[tables] * (not (missing and tables == 2))


def test_the_default_evening_is_thirteen_pairs() -> None:
    movement = for_tables(7, 28, pairs=13)
    assert (movement.kind, movement.rounds, movement.boards_per_round, movement.winners) == (ODD, 7, 4, 2)
    assert [g.contestants for g in movement.groups] == [tuple(range(1, 8)), tuple(range(8, 14))]
    assert movement.expected_results() == 168
    assert {s.pair for s in movement.sit_outs} == set(range(1, 8))
    assert set(movement.expected_per_board().values()) == {6}
    assert_clean(movement)


def test_four_tables_and_twelve_boards_share_and_relay() -> None:
    movement = for_tables(4, 12)
    assert (movement.kind, movement.rounds, movement.boards_per_round, movement.winners) == (SHARE, 4, 3, 2)
    assert movement.expected_results() == 48
    assert movement.expected_per_board() == dict.fromkeys(range(1, 13), 4)
    assert {share.tables for share in movement.shares} == {(1, 4)}
    assert len(movement.shares) == 4
    # between rounds every set is on a table or on the relay stand, never at two places but the shared one
    assert {frozenset(b for s in movement.in_round(r) for b in s.boards).__len__() for r in (1, 2, 3, 4)} == {9}


def test_a_phantom_at_the_last_table_spares_the_sharing() -> None:
    movement = for_tables(8, 24, pairs=15)
    assert movement.kind == SHARE
    assert movement.shares == ()
    assert {s.direction for s in movement.sit_outs} == {Direction.EW}


@pytest.mark.parametrize(
    ("boards", "kind", "tables", "rounds", "size"),
    [
        (14, ODD, 7, 7, 2),
        (28, ODD, 7, 7, 4),
        (4, SHARE, 4, 4, 1),
        (27, ODD, 9, 9, 3),
        (36, ODD, 9, 9, 4),
        (2, SHARE, 2, 2, 1),
    ],
)
def test_a_movement_that_fits_the_boards(boards: int, kind: str, tables: int, rounds: int, size: int) -> None:
    movement = fitting(boards)
    assert (movement.kind, movement.tables, movement.rounds, movement.boards_per_round) == (kind, tables, rounds, size)


@given(boards=st.integers(2, 128))
def test_fitting_never_asks_for_a_board_that_is_not_there(boards: int) -> None:
    movement = fitting(boards)
    assert_clean(movement)
    assert set(movement.board_numbers) <= set(range(1, boards + 1))
    assert movement == fitting(boards)


@pytest.mark.parametrize(
    ("call", "numbers"),
    [
        (lambda: fitting(1), ["1", "2"]),
        (lambda: fitting(0), ["0", "2"]),
        (lambda: fitting(4, tables=7), ["7", "4"]),
        (lambda: fitting(28, tables=7, pairs=11), ["11", "7"]),
        (lambda: for_tables(5, 24), ["5", "24", "25"]),
        (lambda: for_tables(1, 24), ["1"]),
        (lambda: for_tables(101, 24), ["101"]),
        (lambda: mitchell(7, 0), ["0"]),
        (lambda: mitchell(7, 2, rounds=8), ["7", "8"]),
        (lambda: mitchell(7, 2, variant=SKIP), ["7"]),
        (lambda: mitchell(7, 2, variant="x"), ["x"]),
        (lambda: howell(11, 2), ["11"]),
        (lambda: howell(4, 2, rounds=8), ["8"]),
        (lambda: arrow_switch(mitchell(7, 2), (8,)), ["8"]),
    ],
)
def test_what_does_not_fit_is_refused_with_its_numbers(call: object, numbers: list[str]) -> None:
    with pytest.raises(EntryError) as caught:
        call()  # type: ignore[operator]
    assert caught.value.exit_status is ExitStatus.USAGE
    for number in numbers:
        assert number in str(caught.value)


def test_next_seat_follows_a_pair_through_its_sit_out() -> None:
    movement = for_tables(7, 28, pairs=13)
    start = movement.next_seat(7, 0)
    assert isinstance(start, SitOut)
    assert start.table == 7
    second = movement.next_seat(7, 1)
    assert isinstance(second, Seating)
    assert (second.round, second.table, second.ns) == (2, 7, 7)
    assert movement.next_seat(7, 7) is None
    assert movement.next_table(second.boards, 2) == movement.at(3, 6)
    assert len(movement.plays(7)) == 6
    assert second.opponents_of(7) == (second.ew,)


@pytest.mark.parametrize(
    ("property_number", "broken"),
    [
        (1, lambda s: {"ns": 2}),
        (2, lambda s: {"ns": 2}),
        (3, lambda s: {"boards": (3, 4)}),
        (4, lambda s: {"ew": s.ns}),
        (5, lambda s: {"boards": (3, 4)}),
        (6, lambda s: {"ns": 99}),
        (6, lambda s: {"table": 9}),
        (6, lambda s: {"copy": 2}),
        (7, lambda s: {"boards": ()}),
        (7, lambda s: {"boards": (1, 1)}),
    ],
)
def test_each_breach_is_found(property_number: int, broken: object) -> None:
    movement = mitchell(5, 2)
    first = movement.seatings[0]
    changed = dataclasses.replace(first, **broken(first))  # type: ignore[operator]
    report = verify(dataclasses.replace(movement, seatings=(changed, *movement.seatings[1:])))
    assert property_number in {finding.property for finding in report.errors}


def test_balance_is_exact() -> None:
    balance = verify(mitchell(7, 1)).balance
    assert balance is not None
    assert isinstance(balance.variance, Fraction)
    assert (balance.mean, balance.variance) == (Fraction(42, 13), Fraction(2058, 169))


@pytest.mark.parametrize("tables", [*range(2, 31), 51, 64, 99, 100])
@pytest.mark.parametrize("variant", [ODD, SHARE, SKIP])
def test_every_mitchell_of_every_size(tables: int, variant: str) -> None:
    if (variant == ODD) != (tables % 2 == 1):
        return
    for missing in (None, *Direction):
        movement = mitchell(tables, 1, variant=variant, missing=missing, rounds=min(13, tables - (variant == SKIP)))
        assert_clean(movement)


@pytest.mark.parametrize(
    "movement",
    [howell(5, 2), howell(3, 1), mitchell(6, 3, missing=Direction.NS), arrow_switch(mitchell(7, 2), (7,))],
    ids=lambda m: m.name,
)
def test_balance_the_slow_way(movement: Movement) -> None:
    """C(a, b) counted board by board from the definition, over an explicit list of who sat where."""
    pairs = movement.pairs
    counted = {(a, b): 0 for a in pairs for b in pairs if a < b}
    for board in movement.board_numbers:
        tables = [(s.ns, s.ew) for s in movement.seatings if board in s.boards]
        for a, b in counted:
            sides = [next((side for table in tables for side in (0, 1) if table[side] == p), None) for p in (a, b)]
            if None in sides:
                continue
            if (a, b) in tables or (b, a) in tables:
                counted[a, b] += len(tables) - 1
            else:
                counted[a, b] += 1 if sides[0] == sides[1] else -1
    assert competition(movement) == counted
    values = list(counted.values())
    mean = Fraction(sum(values), len(values))
    balance = verify(movement).balance
    assert balance is not None
    assert balance.variance == Fraction(sum(v * v for v in values), len(values)) - mean * mean
