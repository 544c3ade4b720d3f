"""The whole way: a deal file, the duplication command, a home-built machine's own process, simulated pins, cards."""

import json
import os
import re
import subprocess
import sys

import pytest
from home_built import write_machine_file

RANKS = "AKQJT98765432"


def deals_of(text):
    """Board number -> seat -> sorted card codes, from the Deal tags of a PBN file."""
    boards = {}
    for number, first, hands in re.findall(r'\[Board "(\d+)"\].*?\[Deal "([NESW]):([^"]+)"\]', text, re.S):
        seats = "NESW"["NESW".index(first) :] + "NESW"[: "NESW".index(first)]
        boards[number] = {
            seat: sorted(suit * 13 + RANKS.index(rank) for suit, ranks in enumerate(hand.split(".")) for rank in ranks)
            for seat, hand in zip(seats, hands.split(), strict=True)
        }
    return boards


def command(folder, *words):
    environment = {**os.environ, "HOME_BUILT_FOLDER": str(folder), "FIRMWARE_BRIDGE_DATA": str(folder / "data")}
    environment["HOME_BUILT_FAULTS"] = json.dumps({"misfeed": 20, "gate": 70})
    code = "import sys; from firmware_bridge.cli.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=environment, capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes of POSIX")
def test_boards_that_the_command_calls_good_lie_as_in_the_file_though_a_card_slipped_and_a_gate_stuck(tmp_path):
    path = write_machine_file(tmp_path)
    (tmp_path / "data").mkdir()
    command(tmp_path, "deal", "generate", "--boards", "1-2", "--out", str(tmp_path / "set.pbn"))
    made = command(tmp_path, "duplicate", str(tmp_path / "set.pbn"), "--machine", f"gpio://{path}", "--json")
    summary = json.loads(made.stdout.splitlines()[-1])
    assert summary["boards_good"] == 2
    assert summary["stops"] >= 1, "the gate that stuck must have stopped a board"
    truth = json.loads((tmp_path / "truth.json").read_text())
    lying = {number: {seat: sorted(cards) for seat, cards in pockets.items()} for number, pockets in truth.items()}
    wanted = deals_of((tmp_path / "set.pbn").read_text())
    assert {number: lying[number] for number in wanted} == wanted
