"""``td ruling``, ``td fouled`` and ``td scoring`` against a running service: the effect first, then the act."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from web_browser import service

from firmware_bridge.cli.td import Service, td
from firmware_bridge.errors import FirmwareBridgeError

BY = ("--by", "Anna", "--reason", "Hesitation")


def run(data: Path, *words: str, typed: str | None = None) -> dict[str, Any]:
    """The JSON object of a command that must succeed."""
    done = CliRunner().invoke(td, [*words, "--data", str(data), "--json"], input=typed, standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    assert done.return_value == 0, done.output
    value: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return value


def refused(data: Path, *words: str) -> FirmwareBridgeError:
    with pytest.raises(FirmwareBridgeError) as caught:
        run(data, *words)
    return caught.value


def percents(data: Path) -> dict[int, str]:
    return {row["pair"]: row["value"] for group in Service(data).ask("/ranking") for row in group["rows"]}


def test_a_director_rules_from_the_command_line(tmp_path: Path) -> None:
    with service(tmp_path, "--tables", "3", "--boards", "6"):
        for ns, ew, tricks in (("1", "4", "="), ("2", "6", "+1"), ("3", "5", "-1")):
            run(tmp_path, "correct", "1", ns, ew, "4S N", tricks)
        before = percents(tmp_path)
        add = ("ruling", "add", "1", "1", "4", "--score", "60% +420, 40% -50", *BY)
        shown = run(tmp_path, *add, "--preview")["preview"]
        assert len(shown["effects"]) == 6
        assert percents(tmp_path) == before
        assert refused(tmp_path, *add).code == "not-confirmed", "nobody can be asked here"
        made = run(tmp_path, *add, "--yes")
        after = percents(tmp_path)
        assert {one["pair"]: one["after"]["value"] for one in shown["effects"]} == after
        number = str(made["ruling"]["ruling"])
        assert refused(tmp_path, *add, "--yes").code == "contradictory-ruling"
        listed = run(tmp_path, "ruling", "list")
        assert [r["law"] for r in listed["rulings"]] == ["12C1(c)"]
        text = CliRunner().invoke(td, ["ruling", "list", "--data", str(tmp_path)], standalone_mode=False).stdout
        assert "board 1, 1 against 4: 60% +420, 40% -50: Hesitation (Anna)" in text
        assert refused(tmp_path, "ruling", "appeal", number, "2", "--agreed").code == "bad-appeal"
        run(tmp_path, "ruling", "appeal", number, "4", "--agreed", "--reason", "No hesitation")
        assert "under appeal" in run(tmp_path, "ruling", "list")["provisional"][0]
        run(tmp_path, "ruling", "uphold", number, "--by", "Committee")
        shown_one = run(tmp_path, "ruling", "show", number)["ruling"]
        assert [step["state"] for step in shown_one["steps"]] == ["confirmed", "appealed", "upheld"]
        changed = run(
            tmp_path, "ruling", "add", "1", "1", "4", "--score-ns", "-50", "--score-ew", "AVE+", *BY,
            "--replaces", number, "--committee", "--law", "93B", "--yes",
        )  # fmt: skip
        run(tmp_path, "undo", changed["action"])
        assert percents(tmp_path) == after
        proposed = run(tmp_path, "ruling", "penalty", "3", *BY, "--propose")["ruling"]
        assert percents(tmp_path) == after
        run(tmp_path, "ruling", "confirm", str(proposed["ruling"]), "--yes")
        assert float(percents(tmp_path)[3]) == pytest.approx(float(after[3]) - 25)
        run(tmp_path, "ruling", "withdraw", str(proposed["ruling"]), "--yes")
        fouled = run(tmp_path, "fouled", "1", "--from", "2:B", *BY, "--preview")["preview"]
        assert fouled["groups"] == {"": 1, "B": 2}
        read = run(tmp_path, "fouled", "1", "--read", "1:same", "--read", "2:different", *BY, "--preview")
        assert read["preview"]["groups"] == {"": 2, "B": 1}
        assert run(tmp_path, "fouled", "1", "--from", "2:B", *BY, "--yes")["ruling"]["law"] == "87"
        assert refused(tmp_path, "fouled", "1", "--from", "x", *BY).exit_status == 2
        assert run(tmp_path, "scoring")["method"] == "usual"
        run(tmp_path, "scoring", "--method", "cross_imps", "--by", "Anna", "--yes")
        assert run(tmp_path, "scoring")["method"] == "cross_imps"
        assert refused(tmp_path, "scoring", "--scale", "percent", "--yes").code == "bad-scheme"
        assert refused(tmp_path, "scoring", "--carry", "A1", "--yes").exit_status == 2
        assert run(tmp_path, "matches")["matches"] == []
        assert refused(tmp_path, "merge-guest", "Nobody", "12").code == "no-such-player"
