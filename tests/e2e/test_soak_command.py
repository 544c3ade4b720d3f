"""``soak``: the short form that every change runs; its evidence is judged here with code of our own."""

from __future__ import annotations

from pathlib import Path

import pytest
from evening_runs import firmware_bridge, judge


@pytest.mark.parametrize(("machine", "seed"), [("fast", 1), ("camera", 2), ("diy", 3)])
def test_dealing_under_harsh_faults_calls_no_wrong_board_good(tmp_path: Path, machine: str, seed: int) -> None:
    evidence = tmp_path / "evidence"
    words = ["soak", "dealing", "--boards", "60", "--faults", "harsh", "--seed", str(seed), "--machine", machine]
    run = firmware_bridge(*words, "--evidence", str(evidence), "--json")
    assert run.code == 0, run.err
    result = run.result
    assert result["wrong_good"] == 0
    assert result["boards"] == 60 == result["good"] + result["unconfirmed"] + result["failed"]
    assert result["good"] >= 54
    found = judge(evidence)
    assert (found.good, found.wrong_good) == (result["good"], result["wrong_undetectable"])
    again = firmware_bridge(*words, "--json")
    assert again.result["trace"] == result["trace"]


def test_results_over_harsh_lines_are_all_kept_once(tmp_path: Path) -> None:
    evidence = tmp_path / "evidence"
    words = ["soak", "results", "--terminals", "12", "--hours", "1", "--faults", "harsh", "--seed", "5"]
    run = firmware_bridge(*words, "--evidence", str(evidence), "--json")
    assert run.code == 0, run.err
    result = run.result
    assert (result["lost"], result["duplicated"]) == (0, 0)
    found = judge(evidence)
    assert (found.received, found.stored) == (result["received"], result["stored"])
    assert (found.lost, found.doubled) == (0, 0)
    again = firmware_bridge(*words, "--json")
    assert again.result["trace"] == result["trace"]
