"""``results vps``, ``carry-over`` and ``mismatch`` give the numbers of the regulations that they name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from firmware_bridge.cli.results import results
from firmware_bridge.errors import FirmwareBridgeError


def run(*words: str) -> dict[str, Any]:
    done = CliRunner().invoke(results, [*words, "--json"], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    value: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return value


@pytest.mark.parametrize(
    ("words", "vps", "opponents"),
    [
        (("10", "8"), "13.78", "6.22"),
        (("-10", "8"), "6.22", "13.78"),
        (("25", "16"), "15.92", "4.08"),
        (("12", "8", "--scale", "discrete"), "14.00", "6.00"),
        (("3.5", "8", "--scale", "discrete"), "12.00", "8.00"),
    ],
)
def test_victory_points(words: tuple[str, ...], vps: str, opponents: str) -> None:
    found = run("vps", *words)
    assert (found["vps"], found["opponents"]) == (vps, opponents)


def test_a_match_that_lost_boards() -> None:
    # 16 boards, 14 played, +8 and AVE+ twice: a margin of 14; with 7 played it is void: AVE+ on 8 boards
    assert run("vps", "8", "16", "--played", "14", "--fault", "none")["margin"] == "14.00"
    assert run("vps", "8", "16", "--played", "7", "--fault", "full")["margin"] == "-24.00"
    assert "opponents" not in run("vps", "8", "16", "--played", "14")


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "scale.toml"
    path.write_text(
        'name = "short"\n[[row]]\nfrom = 0\nto = 2\nwinner = 2\nloser = 2\n[[row]]\nfrom = 3\nwinner = 4\nloser = 0\n'
    )
    assert run("vps", "7", "3", "--scale", str(path))["vps"] == "4.00"


def test_carry_over_and_mismatch() -> None:
    stages = ("--length-before", "28", "--maximum-before", "80", "--length-after", "42", "--maximum-after", "120")
    assert run("carry-over", "50", *stages)["exact"] == "25"
    assert run("mismatch", "12", "6")["vps"] == "14.00"
    assert run("mismatch", "13", "-6", "--at-fault")["vps"] == "11.00"
    assert run("mismatch", "13", "3")["vps"] == "13.00"


@pytest.mark.parametrize(
    "words", [("vps", "ten", "8"), ("vps", "1/0", "8"), ("mismatch", "1", "x"), ("vps", "9" * 20, "8")]
)
def test_what_is_no_number_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(FirmwareBridgeError) as caught:
        run(*words)
    assert caught.value.exit_status == 2
