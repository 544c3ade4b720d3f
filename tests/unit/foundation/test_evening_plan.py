"""What an evening is going to be: defaults, fits, refusals, and that a begun evening never changes its mind."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dealer.formats.api import WriteOptions, format_named
from dealer.generate import Origin, new_set
from firmware_bridge.errors import ConfigError, FirmwareBridgeError, StoreError
from firmware_bridge.service.evening_plan import EveningPlan, EveningRequest, check_same, decide, load, save


def written(path: Path, numbers: list[int]) -> Path:
    path.write_bytes(format_named("pbn").load().write(new_set(numbers, seed=5).boards, WriteOptions()))
    return path


def test_the_default_is_the_evening_that_clubs_have() -> None:
    plan, deals = decide(EveningRequest(simulate=True))
    movement = plan.movement()
    assert (plan.pairs, plan.tables, plan.boards, movement.rounds, movement.winners) == (13, 7, 28, 7, 2)
    assert movement.sit_outs
    assert [board.number for board in deals.boards] == list(range(1, 29))
    assert deals.not_for_play
    assert plan.seed is not None


def test_four_tables_and_twelve_boards_share_and_relay() -> None:
    plan, _ = decide(EveningRequest(tables=4, boards=12, seed=7, simulate=True))
    movement = plan.movement()
    assert (movement.kind, movement.rounds, movement.expected_results()) == ("share-and-relay-mitchell", 4, 48)


@pytest.mark.parametrize(
    ("pairs", "boards"), [(30, 30), (13, 28), (8, 28), (16, 24), (32, 32), (5, 25), (4, 15), (22, 22)]
)
def test_without_a_number_of_boards_it_is_near_the_usual_one(pairs: int, boards: int) -> None:
    plan, _ = decide(EveningRequest(pairs=pairs, simulate=True))
    assert plan.boards == boards


def test_the_same_seed_gives_the_same_boards() -> None:
    request = EveningRequest(seed=7, simulate=True)
    assert decide(request)[1] == decide(request)[1]
    assert decide(request)[1] != decide(replace(request, seed=8))[1]


def test_without_simulation_the_deals_are_the_systems_own() -> None:
    plan, deals = decide(EveningRequest())
    assert plan.seed is None
    assert deals.origin is Origin.OWN


@pytest.mark.parametrize(("count", "expected"), [(14, 98), (4, 16), (21, 147)])
def test_a_file_finds_a_movement_that_fits(tmp_path: Path, count: int, expected: int) -> None:
    path = written(tmp_path / "deals.pbn", list(range(1, count + 1)))
    plan, deals = decide(EveningRequest(deals=path, simulate=True))
    assert plan.movement().expected_results() == expected
    assert list(plan.board_numbers) == [board.number for board in deals.boards]
    assert deals.origin is Origin.EXTERNAL


def test_a_file_may_begin_at_any_board(tmp_path: Path) -> None:
    path = written(tmp_path / "deals.pbn", list(range(25, 39)))
    plan, _ = decide(EveningRequest(deals=path, simulate=True))
    assert plan.movement().board_numbers == tuple(range(25, 39))


@pytest.mark.parametrize("numbers", [[*range(1, 9), *range(21, 27)], [3, 4, *range(17, 29)], [1, 2, 5, 6]])
def test_a_file_may_have_gaps_between_the_sets_of_a_round(tmp_path: Path, numbers: list[int]) -> None:
    path = written(tmp_path / "deals.pbn", numbers)
    plan, deals = decide(EveningRequest(deals=path, simulate=True))
    movement = plan.movement()
    assert set(movement.board_numbers) <= set(numbers)
    assert [board.number for board in deals.boards] == list(plan.board_numbers) == list(movement.board_numbers)
    assert all(max(s.boards) - min(s.boards) == len(s.boards) - 1 for s in movement.seatings)
    save(plan, tmp_path)
    assert load(tmp_path) == plan
    kept = json.loads((tmp_path / "evening.json").read_text())
    (tmp_path / "evening.json").write_text(json.dumps({**kept, "numbers": "x"}))
    with pytest.raises(FirmwareBridgeError):
        load(tmp_path)


@pytest.mark.parametrize(
    ("numbers", "request_", "word"),
    [
        ([1], EveningRequest(), "1"),
        ([1, 2, 3, *range(5, 16)], EveningRequest(), "without 4"),
        ([1, 2, 3, 4], EveningRequest(boards=8), "8"),
        ([1, 2, 3, 4], EveningRequest(tables=9), "9"),
    ],
)
def test_what_does_not_fit_is_wrong_use_and_names_the_numbers(
    tmp_path: Path, numbers: list[int], request_: EveningRequest, word: str
) -> None:
    path = written(tmp_path / "deals.pbn", numbers)
    with pytest.raises(FirmwareBridgeError) as caught:
        decide(replace(request_, deals=path, simulate=True))
    assert caught.value.exit_status == 2
    assert word in str(caught.value)


@pytest.mark.parametrize(
    "request_", [EveningRequest(tables=5, boards=13), EveningRequest(pairs=2), EveningRequest(copies=0)]
)
def test_flags_that_do_not_fit_are_wrong_use(request_: EveningRequest) -> None:
    if request_.copies == 0:
        request_ = replace(request_, copies=99)
    with pytest.raises(FirmwareBridgeError) as caught:
        decide(request_)
    assert caught.value.exit_status == 2


def begun(tmp_path: Path) -> EveningPlan:
    plan, _ = decide(EveningRequest(tables=4, boards=12, seed=7, simulate=True))
    save(plan, tmp_path)
    return plan


def test_an_evening_is_kept_and_found_again(tmp_path: Path) -> None:
    assert load(tmp_path) is None
    plan = begun(tmp_path)
    assert load(tmp_path) == plan
    check_same(plan, EveningRequest(simulate=True))
    check_same(plan, EveningRequest(tables=4, boards=12, seed=7, simulate=True))
    assert list(tmp_path.glob("*.part")) == []


@pytest.mark.parametrize(
    "change", [{"tables": 5}, {"boards": 8}, {"seed": 8}, {"pairs": 7}, {"copies": 2}, {"simulate": False}]
)
def test_another_evening_in_the_same_directory_is_refused(tmp_path: Path, change: dict[str, int]) -> None:
    plan = begun(tmp_path)
    with pytest.raises(ConfigError, match=next(iter(change))) as caught:
        check_same(plan, replace(EveningRequest(simulate=True), **change))
    assert caught.value.exit_status == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 2}', '{"format": 1}', '{"format": 1, "event_id": "x"}'])
def test_a_damaged_file_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "evening.json").write_text(text)
    with pytest.raises(StoreError):
        load(tmp_path)


def test_impossible_numbers_in_the_file_are_told(tmp_path: Path) -> None:
    begun(tmp_path)
    path = tmp_path / "evening.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "boards": 13}))
    with pytest.raises(FirmwareBridgeError):
        load(tmp_path)
