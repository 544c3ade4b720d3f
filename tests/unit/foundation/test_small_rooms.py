"""config, ownership, host identity, log filter: the small rooms everybody passes through."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from firmware_bridge.config import Config, data_directory, ensure_directory, load_config
from firmware_bridge.errors import ConfigError
from firmware_bridge.service.host import host_identity
from firmware_bridge.service.logfile import HIDDEN, close_log, hide_cards, open_log
from firmware_bridge.service.ownership import owned
from firmware_bridge.wire.frames import Frame
from firmware_bridge.wire.redact import redacted


def test_flag_before_environment_before_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRMWARE_BRIDGE_DATA", str(tmp_path / "env"))
    assert data_directory(tmp_path / "flag") == tmp_path / "flag"
    assert data_directory() == tmp_path / "env"
    monkeypatch.delenv("FIRMWARE_BRIDGE_DATA")
    assert data_directory().name == "firmware-bridge"


def test_a_file_is_no_data_directory(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(ConfigError):
        data_directory(tmp_path / "x")
    with pytest.raises(ConfigError):
        ensure_directory(tmp_path / "x" / "y")


@pytest.mark.parametrize(
    "text",
    ["clib = 'x'", "club = 7", "port = 'x'", "port = 70000", "port = true", "stations = [1]", "club = ", "\xff"],
)
def test_config_refuses_what_it_does_not_know(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_text(text, encoding="latin-1")
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path)
    assert "config.toml" in caught.value.where


def test_config_reads_what_it_knows(tmp_path: Path) -> None:
    assert load_config(tmp_path) == Config()
    (tmp_path / "config.toml").write_text("club = 'Łódź'\nstations = ['serial:///dev/ttyUSB0']\n", encoding="utf-8")
    assert load_config(tmp_path) == Config(club="Łódź", stations=("serial:///dev/ttyUSB0",))


@pytest.mark.parametrize("pin", ["0000", "123", "12345", "12a4", "١٢٣٤"])
def test_a_clubs_pin_has_four_digits_and_is_never_0000(tmp_path: Path, pin: str) -> None:
    (tmp_path / "config.toml").write_text(f"director_pin = '{pin}'\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="not 0000"):
        load_config(tmp_path)
    (tmp_path / "config.toml").write_text("director_pin = '2741'\n", encoding="utf-8")
    assert load_config(tmp_path).director_pin == "2741"
    assert "2741" not in repr(load_config(tmp_path))


def test_one_owner_and_a_crash_frees_the_lock(tmp_path: Path) -> None:
    code = "import sys, os; from pathlib import Path; from firmware_bridge.service.ownership import owned\n"
    hold = code + "with owned(Path(sys.argv[1])):\n  print('held', flush=True); sys.stdin.read()"
    child = subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    with pytest.raises(ConfigError, match="running"), owned(tmp_path):
        pass
    child.kill()
    child.communicate()
    with owned(tmp_path):
        pass
    with owned(tmp_path):
        pass


def test_the_host_stays_the_same_and_counts_its_starts(tmp_path: Path) -> None:
    first, second = host_identity(tmp_path), host_identity(tmp_path)
    assert first.device_id == second.device_id != 0
    assert (first.boot_count, second.boot_count) == (1, 2)
    assert first.boot_id != second.boot_id
    (tmp_path / "host.json").write_text("{")
    assert host_identity(tmp_path).boot_count == 1


CARDS = [
    "N:AK4.QJ3.AK32.Q85 T98.A74.865.A742 AJ65.T985.JT4.KT Q72.K62.Q97.J963",
    "lead from AK4.QJ3.AK32.Q85 was",
    "index 12345678901234567890123456789",
    "♠AK4 ♥QJ3",
    "SA, SK, H4, D10",
    "card CT read twice",
    ".AKQJT98765432..",
]


@pytest.mark.parametrize("text", CARDS)
def test_the_log_filter_hides_cards(text: str) -> None:
    assert HIDDEN in hide_cards(text)


def test_the_log_filter_leaves_every_frame_trace_alone() -> None:
    for flags in range(32):
        frame = Frame(0x10, 0x03, 0, 5, 4, flags, bytes(4))
        assert hide_cards(redacted(frame)) == redacted(frame)


@pytest.mark.parametrize(
    "text", ["board 12 good, 13 13 13 13", "firmware 1.0.2", "10.0.0.12:5000", "N 13 E 13", "2026-11-29T19:10:00"]
)
def test_the_log_filter_leaves_the_rest(text: str) -> None:
    assert hide_cards(text) == text


def test_the_log_is_filtered_json_for_its_owner(tmp_path: Path) -> None:
    handler = open_log(tmp_path)
    try:
        logging.getLogger("x").warning("dealt %s", CARDS[0])
        for words in (CARDS[0], "the ace of spades is card 0"):
            try:
                raise ValueError(words)
            except ValueError:
                logging.getLogger("x").exception("broke")
    finally:
        close_log(handler)
    path = tmp_path / "log" / "firmware-bridge.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    assert "AK4" not in "".join(lines)
    assert "spades is" not in "".join(lines)
    assert len(lines) == 3
    assert "test_small_rooms.py" in lines[2]
    assert "ValueError" in lines[2]
    if os.name == "posix":
        assert path.stat().st_mode & 0o077 == 0
