"""``machine health`` after an evening: figures of the machine that dealt it, and drifts that count from a cleaning."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from evening_runs import evening, firmware_bridge

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")


def test_figures_are_kept_and_count_from_the_last_cleaning(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert firmware_bridge("machine", "health", "--data", str(data), "--json").result["machines"] == []
    assert firmware_bridge("machine", "cleaned", "--data", str(data), "--json").code == 2
    assert firmware_bridge(*evening(data, tables=3, boards=10)).code == 0
    (found,) = firmware_bridge("machine", "health", "--data", str(data), "--json").result["machines"]
    assert (found["attempts"], found["cards"]) == (10, 520)
    assert found["feed_ms"] > 0
    run = firmware_bridge("machine", "health", "--data", str(data))
    assert "card to card" in run.out
    assert firmware_bridge("machine", "cleaned", "--data", str(data)).code == 0
    assert firmware_bridge("machine", "health", "--data", str(data), "--json").result["machines"] == []
