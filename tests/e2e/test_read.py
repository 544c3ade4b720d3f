"""Boards looked into by the machine after they were made: learnt, compared, put right."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from evening_runs import firmware_bridge
from test_devices import Device

from dealer.board import Board
from dealer.cards import card_name
from dealer.deal import Deal
from dealer.formats.api import WriteOptions, format_named, read_deal_file
from dealer.generate import new_set

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")

DEALS = new_set(range(1, 4), seed=21).boards


def deal_file(path: Path, boards: tuple[Board, ...] = DEALS) -> str:
    path.write_bytes(format_named("pbn").load().write(boards, WriteOptions()))
    return str(path)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Device]:
    """A machine on which the boards of the set have just been made."""
    device = Device("dealing-machine", tmp_path, "--speed", "demo", "--seed", "3")
    file = deal_file(tmp_path / "club.pbn")
    assert firmware_bridge("duplicate", file, "--machine", device.url, "--data", str(tmp_path / "data")).code == 0
    yield device
    device.unplug()


def on_machine(made: Device, folder: Path, *words: str) -> list[str]:
    return ["read", "--machine", made.url, "--data", str(folder / "data"), "--json", *words]


def test_boards_are_learnt_as_they_lie(made: Device, tmp_path: Path) -> None:
    out = tmp_path / "learnt.pbn"
    run = firmware_bridge(*on_machine(made, tmp_path, "--boards", "1-3", "--out", str(out)))
    assert run.code == 0, run.err
    assert read_deal_file(out).boards == DEALS
    for board in DEALS:
        assert not any(hand in run.err + run.out for hand in board.deal.to_pbn()[2:].split())


def test_boards_as_dealt_are_told_apart_from_others(made: Device, tmp_path: Path) -> None:
    run = firmware_bridge(*on_machine(made, tmp_path, "--verify", str(tmp_path / "club.pbn")))
    assert run.code == 0, run.err
    assert (run.result["boards"], run.result["same"]) == (3, 3)
    turned = (Board(1, DEALS[0].deal.turned(2)), Board(2, DEALS[2].deal), Board(3, DEALS[1].deal))
    run = firmware_bridge(*on_machine(made, tmp_path, "--verify", deal_file(tmp_path / "other.pbn", turned)))
    assert run.code == 1
    kinds = {row["board"]: row["kinds"] for row in run.result["differences"]}
    assert kinds == {1: ["rotated-180"], 2: ["another-board"], 3: ["another-board"]}


def test_a_fouled_board_is_put_right_by_the_cards_that_have_to_move(made: Device, tmp_path: Path) -> None:
    """What the machine finds in the board against another file: two cards exchanged between North and East."""
    owners = list(DEALS[2].deal.owners)
    north, east = owners.index(0), owners.index(1)
    owners[north], owners[east] = 1, 0
    file = deal_file(tmp_path / "other.pbn", (*DEALS[:2], Board(3, Deal(bytes(owners)))))
    words = ["--board", "3", "--yes", "--machine", made.url, "--data", str(tmp_path / "data"), "--json"]
    run = firmware_bridge("restore", file, *words)
    assert run.code == 0, run.err
    assert sorted(run.result["moves"], key=lambda move: move["from"]) == [
        {"card": card_name(east), "from": "E", "to": "N"},
        {"card": card_name(north), "from": "N", "to": "E"},
    ]


def test_what_was_learnt_is_kept_and_added_to_and_never_overwritten(
    made: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "learnt.pbn"
    assert firmware_bridge(*on_machine(made, tmp_path, "--boards", "1-2", "--out", str(out))).code == 0
    run = firmware_bridge(*on_machine(made, tmp_path, "--boards", "2,3", "--out", str(out)))
    assert (run.code, run.result["error"]["code"]) == (2, "board-repeated")
    assert firmware_bridge(*on_machine(made, tmp_path, "--boards", "3", "--out", str(out))).code == 0
    assert read_deal_file(out).boards == DEALS
    assert out.stat().st_mode & 0o077 == 0
    monkeypatch.setenv("FIRMWARE_BRIDGE_PASSPHRASE", "four green tables")
    assert firmware_bridge("deal", "seal", str(out)).code == 0
    run = firmware_bridge(*on_machine(made, tmp_path, "--boards", "1", "--verify", f"{out}.sealed"))
    assert (run.code, run.result["same"]) == (0, 1), "a sealed set is opened for the comparison"


def test_cards_are_shown_only_after_the_reveal_is_on_record(tmp_path: Path) -> None:
    file, data = deal_file(tmp_path / "club.pbn"), tmp_path / "data"
    run = firmware_bridge("restore", file, "--board", "2", "--yes", "--data", str(data), "--json")
    assert run.code == 0
    assert run.result["hands"]["N"] == list(DEALS[1].deal.hands[0])
    connection = sqlite3.connect(data / "dealing.db")
    assert connection.execute("SELECT what, board FROM reveal").fetchall() == [("restore", 2)]
    connection.close()
    assert firmware_bridge("restore", file, "--board", "9", "--yes", "--data", str(data), "--json").code == 2


def test_read_must_be_told_what_for(tmp_path: Path) -> None:
    words = ["read", "--machine", "tcp://127.0.0.1:9", "--data", str(tmp_path / "data"), "--json"]
    assert firmware_bridge(*words).code == 2
    assert firmware_bridge(*words, "--out", str(tmp_path / "x.pbn")).code == 2
    assert firmware_bridge(*words, "--out", str(tmp_path / "x.doc"), "--boards", "1").code == 2
    assert firmware_bridge(*words, "--verify", str(tmp_path / "none.pbn")).code == 2
