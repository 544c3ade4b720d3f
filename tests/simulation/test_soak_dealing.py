"""The soak of dealing: no wrong board is called good, and without any one of the checks some would be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from firmware_bridge.simulation.dealing_controls import CONTROLS, checks_without_control
from firmware_bridge.simulation.dealing_faults import PROFILES, Rates
from firmware_bridge.simulation.soak_dealing import CARRIERS, SoakOptions, soak


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("ERROR")


def test_without_faults_everything_is_good_and_nothing_stops() -> None:
    result = soak(SoakOptions(boards=12, faults="none"))
    assert (result.good, result.stops, result.redeals, result.runs) == (12, 0, 0, 1)
    assert result.passed


@pytest.mark.parametrize(
    ("carrier", "machine", "seed", "boards"),
    [
        ("serial", "fast", 1, 30),
        ("serial", "camera", 3, 15),
        ("serial", "diy", 4, 15),
        ("usb", "fast", 2, 20),
        ("usb", "camera", 5, 10),
        ("gpio", "diy", 6, 8),
        ("gpio-polled", "diy", 7, 3),
    ],
)
def test_harsh_faults_make_no_wrong_board_good(carrier: str, machine: str, seed: int, boards: int) -> None:
    result = soak(SoakOptions(boards=boards, faults="harsh", seed=seed, machine=machine, carrier=carrier))
    assert result.wrong_good == 0
    assert result.boards == result.good + result.unconfirmed + result.failed
    assert result.good >= 0.8 * boards  # 90 % and more over 300 boards; few boards scatter
    assert len(result.faults) >= 5, "a harsh soak in which little breaks proves little"
    assert result.stops > boards / 2
    assert "stuck" not in result.gave_up, "the operator did what was asked, and nothing came of it"


@pytest.mark.parametrize("carrier", CARRIERS)
def test_the_same_seed_gives_the_same_trace(carrier: str) -> None:
    boards = 1 if carrier == "gpio-polled" else 3
    first = soak(SoakOptions(boards=boards, faults="harsh", seed=9, carrier=carrier))
    again = soak(SoakOptions(boards=boards, faults="harsh", seed=9, carrier=carrier))
    assert first.as_dict() == again.as_dict()
    if carrier == "serial":
        assert soak(SoakOptions(boards=3, faults="harsh", seed=10)).trace != first.trace


def test_all_carriers_share_the_boards_and_add_up() -> None:
    result = soak(SoakOptions(boards=5, faults="none", carrier="all"))
    assert (result.boards, result.good, result.runs, result.stops) == (5, 5, 4, 0)
    assert result.passed


def test_evidence_gives_the_same_totals(tmp_path: Path) -> None:
    result = soak(SoakOptions(boards=10, faults="harsh", seed=3, evidence=tmp_path))

    def rows(name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()]

    claims = {(row["board"], row["copy"]): row for row in rows("claims")}
    truth = {(row["board"], row["copy"]): row["pockets"] for row in rows("truth")}
    good = [key for key, row in claims.items() if row["state"] == "good"]
    assert len(claims) == result.boards
    assert len(good) == result.good
    assert sum(truth[key] != claims[key]["plan"] for key in good) == result.wrong_good + result.wrong_undetectable


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.check)
def test_without_this_check_wrong_boards_would_be_good(control: Any) -> None:
    assert control.run(1, checked=True).wrong_good == 0
    assert control.run(1, checked=False).wrong_good > 0


def test_every_check_has_a_control() -> None:
    assert checks_without_control() == set()


def test_harsh_is_fifty_times_realistic() -> None:
    assert PROFILES["harsh"].jam == pytest.approx(50 * PROFILES["realistic"].jam)
    assert Rates(jam=0.1).times(50).jam == 0.5
