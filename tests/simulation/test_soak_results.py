"""T1: terminals, lines, hubs and the program fail for hours; nothing received is lost or doubled, and controls do lose.

The large run is ``firmware-bridge soak results``; here it is short, and long enough that each control fails.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from firmware_bridge.errors import ConfigError
from firmware_bridge.simulation.soak_controls import CONTROLS
from firmware_bridge.simulation.soak_results import SoakOptions, soak
from firmware_bridge.simulation.tables_room import Rates


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_received_is_lost_or_doubled_in_a_harsh_evening(seed: int) -> None:
    result = soak(SoakOptions(terminals=6, hours=1.5, faults="harsh", seed=seed))
    assert (result.lost, result.duplicated, result.missing, result.waiting) == (0, 0, 0, 0)
    assert result.received >= result.expected
    assert result.host_lives > 3
    assert result.faults["lost"] > 100
    assert result.invented == 0


def test_the_same_seed_gives_the_same_trace() -> None:
    options = SoakOptions(terminals=5, hours=1.0, faults="harsh", seed=3)
    first, second = soak(options), soak(options)
    assert first.as_dict() == second.as_dict()
    assert soak(SoakOptions(terminals=5, hours=1.0, faults="harsh", seed=4)).trace != first.trace


SAFEGUARDS = {
    "commit": (Rates(host=15.0), "lost"),
    "journal": (Rates(memory=6.0), "lost"),
    "crc": (Rates(radio=0.8), "lost"),
    "key": (Rates(forged=12.0), "invented"),
    "repeat": (Rates(host=10.0, piece_loss=0.05), "duplicated"),
    "conflict": (Rates(back=4.0), "lost"),
    "quarantine": (Rates(nonsense=6.0), "waiting"),
    "resend": (Rates(host=3.0), "lost"),
}
"""What goes wrong, and what must not come of it but does without the safeguard."""


def test_every_safeguard_has_its_control() -> None:
    assert set(SAFEGUARDS) == set(CONTROLS)


@pytest.mark.parametrize("without", CONTROLS)
def test_each_safeguard_is_needed(without: str) -> None:
    """The same evening twice: with the safeguard all is well; without it this soak sees what it must see."""
    rates, broken = SAFEGUARDS[without]
    size = (2, 0.4) if without == "quarantine" else (4, 0.8)
    options = SoakOptions(*size, faults=rates, seed=1, restore=without == "resend")
    whole = soak(options)
    assert whole.passed
    assert getattr(whole, broken) == 0
    assert getattr(soak(replace(options, without=without)), broken) > 0, "this soak could not see it"


def test_a_backup_restored_in_mid_evening_is_filled_from_the_terminals() -> None:
    result = soak(SoakOptions(terminals=5, hours=1.5, faults="harsh", seed=1, restore=True))
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
