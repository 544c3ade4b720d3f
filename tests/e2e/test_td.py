"""``td`` against a running service in another process: every act, its undo, and the words when it can't be."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from web_browser import Service, service

RUN = (
    "import sys; from firmware_bridge.cli import main as m;"
    " m.COMMANDS.setdefault('td', ('firmware_bridge.cli.td:td', 'Director')); sys.exit(m.main(sys.argv[1:]))"
)


def td(data: Path, *words: str) -> tuple[int, dict[str, Any]]:
    run = subprocess.run(
        [sys.executable, "-c", RUN, "td", *words, "--data", str(data), "--json"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in run.stderr
    return run.returncode, json.loads(run.stdout.splitlines()[-1])


def cell(one: Service, board: int, ns: int) -> dict[str, Any]:
    return next(c for c in one.cells() if (c["board"], c["ns"]) == (board, ns))


def test_a_director_corrects_rules_moves_and_takes_back(tmp_path: Path) -> None:
    with service(tmp_path, "--tables", "3", "--boards", "6") as one:
        code, found = td(tmp_path, "correct", "1", "1", "4", "4SX N", "-1", "--by", "Ann")
        assert code == 0, found
        assert cell(one, 1, 1)["text"] == "4SX N-1"
        code, moved = td(tmp_path, "move", "1", "1", "4", "--to-board", "2", "--by", "Ann")
        assert code == 0, moved
        assert cell(one, 1, 1)["state"] == "missing"
        assert cell(one, 2, 1)["text"] == "4SX N-1"
        assert td(tmp_path, "undo", moved["action"], "--by", "Ann")[0] == 0
        assert cell(one, 1, 1)["text"] == "4SX N-1"
        assert td(tmp_path, "artificial", "2", "1", "4", "AVE+", "AVE-")[0] == 0
        assert td(tmp_path, "not-played", "3", "2", "5", "--reason", "no-time")[0] == 0
        assert cell(one, 3, 2)["state"] == "not-played"
        code, closed = td(tmp_path, "close-round", "1")
        assert code == 1
        assert "table 2 board 4" in closed["error"]["what"]
        assert td(tmp_path, "close-round", "1", "--anyway")[0] == 0
        code, found = td(tmp_path, "list", "--missing")
        assert code == 0
        assert len(found["cells"]) == 18 - 3
        assert td(tmp_path, "swap", "5", "3", "6")[1]["error"]["code"] == "no-result"
        assert td(tmp_path, "correct", "5", "3", "6", "4S", "N", "-1")[0] == 0  # as people type it
        assert td(tmp_path, "swap", "5", "3", "6")[0] == 0
        assert cell(one, 5, 3)["text"] == "4S N-1"  # the same board between the same pairs: nothing is missing
        assert td(tmp_path, "lock", "1")[0] == 0
        assert td(tmp_path, "lock", "9")[0] == 1
        code, sent = td(tmp_path, "message", "Time!")
        assert (code, sent["terminals"]) == (0, 0)
        assert td(tmp_path, "message", "Time!", "--table", "9")[0] == 1
        assert td(tmp_path, "close-round", "9")[1]["error"]["code"] == "no-round"
        assert td(tmp_path, "move", "1", "1", "4")[0] == 2
        assert td(tmp_path, "replace", "00000000000000a1", "1")[0] == 1
        assert td(tmp_path, "reveal", "3", "--by", "Ann")[0] == 0
        assert any((item["kind"], item["actor"]) == ("reveal", "Ann") for item in one.api("/log"))
        code, paired = td(tmp_path, "pair", "00000000000000a1")
        assert code == 0
        assert len(bytes.fromhex(paired["key"])) == 16
        assert td(tmp_path, "pair", "00000000000000a1", "--key", "00")[0] == 2
        out = tmp_path / "ranking.csv"
        assert td(tmp_path, "export", "ranking-csv", "--out", str(out))[0] == 0
        assert out.read_text().count("\n") > 3
        event = one.api("/setup/events")[0]["event"]
        assert td(tmp_path, "export", "json", "--event", event, "--out", str(tmp_path / "now.json"))[0] == 0
        assert td(tmp_path, "export", "json", "--event", "17", "--out", str(out))[1]["error"]["code"] == "no-such-event"
        assert td(tmp_path, "export", "usebio", "--out", str(out))[0] == 2
        assert td(tmp_path, "codes")[1]["viewer"] == one.api("/codes")["viewer"]
        before = one.code
        assert td(tmp_path, "codes", "--renew", "director")[1]["code"] == one.code != before
        assert td(tmp_path, "clock", "right")[0] == 0  # with the new one
        assert td(tmp_path, "clock", "soon")[0] == 2
        code, published = td(tmp_path, "publish")
        assert code == 0
        assert published["ends_at"] > 0
        assert td(tmp_path, "correct", "1", "1", "99", "4S N", "=")[0] == 1
        assert td(tmp_path, "correct", "1", "1", "4", "9S N", "=")[0] == 2
        assert td(tmp_path, "admit")[0] == 2
    code, found = td(tmp_path, "list")
    assert code == 2
    assert found["error"]["code"] == "no-service"
