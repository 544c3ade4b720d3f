"""``machine health`` after an evening: figures of the machine that dealt it, and drifts that count from a cleaning."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from evening_runs import evening, firmware_bridge
from test_devices import Device

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


def sorted_machine(folder: Path, *words: str) -> Device:
    return Device("dealing-machine", folder, "--speed", "demo", "--seed", "3", "--sorted-pack", *words)


def test_a_test_deal_prints_which_cards_are_taken_for_which(tmp_path: Path) -> None:
    device = sorted_machine(tmp_path, "--fault", "misread@60")
    try:
        words = ["machine", "test", "--machine", device.url, "--data", str(tmp_path / "data")]
        run = firmware_bridge(*words, "--json")
        assert run.code == 0, run.err
        assert (run.result["cards"], run.result["right"], run.result["confusions"]) == (52, 52, [])
        run = firmware_bridge(*words, "--packs", "2", "--json")
        assert run.code == 1
        assert run.result["right"] < 104
        (confusion, *_) = run.result["confusions"]
        assert confusion["came"] != confusion["read"]
    finally:
        device.unplug()


def test_a_pack_that_is_not_sorted_is_told(tmp_path: Path) -> None:
    device = Device("dealing-machine", tmp_path, "--speed", "demo", "--seed", "3")
    try:
        words = ["machine", "test", "--machine", device.url, "--data", str(tmp_path / "data"), "--json"]
        run = firmware_bridge(*words)
        assert (run.code, run.result["error"]["code"]) == (1, "pack-not-sorted")
    finally:
        device.unplug()
