"""T1: terminals, lines, hubs and the program fail for hours; nothing received is lost or doubled, and controls do lose.

The large run is ``firmware-bridge soak results``; here it is short, and long enough that each control fails.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from firmware_bridge.errors import ConfigError
from firmware_bridge.simulation.soak_results import CONTROLS, SoakOptions, soak
from firmware_bridge.simulation.tables_room import HARSH


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_received_is_lost_or_doubled_in_a_harsh_evening(seed: int) -> None:
    result = soak(SoakOptions(terminals=6, hours=1.5, faults="harsh", seed=seed))
    assert (result.lost, result.duplicated, result.missing, result.waiting) == (0, 0, 0, 0)
    assert result.received >= result.expected
    assert result.host_lives > 3
    assert result.faults["lost"] > 100


def test_the_same_seed_gives_the_same_trace() -> None:
    options = SoakOptions(terminals=5, hours=1.0, faults="harsh", seed=3)
    first, second = soak(options), soak(options)
    assert first.as_dict() == second.as_dict()
    assert soak(SoakOptions(terminals=5, hours=1.0, faults="harsh", seed=4)).trace != first.trace


@pytest.mark.parametrize("without", CONTROLS)
def test_without_one_mechanism_results_are_lost(without: str) -> None:
    rates = HARSH.times(1.0)
    result = soak(SoakOptions(terminals=8, hours=2.0, faults=rates, seed=1, without=without))
    assert result.lost > 0, "this soak could not see a loss"
    assert not result.passed


def test_a_backup_restored_in_mid_evening_is_filled_from_the_terminals() -> None:
    rates = replace(HARSH, memory=0.0)
    result = soak(SoakOptions(terminals=5, hours=1.5, faults=rates, seed=1, restore=True))
    assert (result.lost, result.duplicated, result.missing, result.waiting) == (0, 0, 0, 0)


def test_evidence_says_the_same_as_the_run(tmp_path: Path) -> None:
    result = soak(SoakOptions(terminals=4, hours=0.5, faults="none", evidence=tmp_path))
    shown = [json.loads(line) for line in (tmp_path / "shown_received.jsonl").read_text().splitlines()]
    kept = [json.loads(line) for line in (tmp_path / "ledger.jsonl").read_text().splitlines()]
    plays = [json.loads(line) for line in (tmp_path / "plays.jsonl").read_text().splitlines()]
    assert len({(row["device"], row["journal"], row["seq"]) for row in shown}) == result.received
    bodies = {(row["device"], row["journal"], row["seq"]): row["body"] for row in kept}
    assert all(bodies[row["device"], row["journal"], row["seq"]] == row["body"] for row in shown)
    assert {row["current"] for row in plays} == {1}
    assert len(plays) == result.expected


@pytest.mark.parametrize("options", [SoakOptions(terminals=1), SoakOptions(hours=0), SoakOptions(without="luck")])
def test_options_that_can_not_be_are_refused(options: SoakOptions) -> None:
    with pytest.raises(ConfigError):
        soak(options)
