"""A club without a machine: cards typed or scanned at the keyboard, piles said on the screen, the same journal."""

from __future__ import annotations

import json
import os
import random
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from evening_runs import command, environment, firmware_bridge

from dealer.cards import Seat, card_name
from dealer.formats.api import WriteOptions, format_named
from dealer.generate import new_set

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")

DEALS = new_set([1], seed=31).boards


class Sorter:
    """Sits at the keyboard: answers what is asked, says card after card, notes the pile of each."""

    def __init__(self, *words: str) -> None:
        self.child = subprocess.Popen(
            command("duplicate", *words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        self.heard = ""

    def say(self, text: str) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(text + "\n")
        self.child.stdin.flush()

    def hear(self, *words: str) -> str:
        """The next line that holds one of the words."""
        assert self.child.stderr is not None
        for line in self.child.stderr:
            self.heard += line
            if any(word in line for word in words):
                return line
        raise AssertionError(self.heard)


def sort_one_board(sorter: Sorter, spoken: list[tuple[int, str]]) -> dict[int, Seat]:
    sorter.hear("empty board")
    sorter.say("")
    sorter.hear("being dealt", "Read", "card")
    piles: dict[int, Seat] = {}
    for card, text in spoken:
        sorter.say(text)
        piles[card] = Seat[sorter.hear("NORTH", "EAST", "SOUTH", "WEST").split()[1]]
    sorter.hear("Take it out")
    sorter.say("")
    return piles


@pytest.mark.parametrize("scanner", [False, True])
def test_a_board_sorted_by_hand_is_the_wanted_one(tmp_path: Path, scanner: bool) -> None:
    file, codes = tmp_path / "club.pbn", tmp_path / "codes.csv"
    file.write_bytes(format_named("pbn").load().write(DEALS, WriteOptions()))
    codes.write_text("# scanner\n" + "".join(f"40000{card:02},{card_name(card)}\n" for card in range(52)))
    cards = list(range(52))
    random.Random(4).shuffle(cards)
    spoken = [(card, f"40000{card:02}" if scanner else card_name(card)) for card in cards]
    words = [str(file), "--assistant", "--codes", str(codes), "--data", str(tmp_path / "data"), "--json"]
    sorter = Sorter(*words)
    try:
        piles = sort_one_board(sorter, spoken)
        out, err = sorter.child.communicate(timeout=60)
    finally:
        sorter.child.kill()
    assert sorter.child.returncode == 0, sorter.heard + err + out
    assert piles == {card: Seat(owner) for card, owner in enumerate(DEALS[0].deal.owners)}
    connection = sqlite3.connect(tmp_path / "data" / "dealing.db")
    assert connection.execute("SELECT state FROM board_copy").fetchall() == [("good",)]
    connection.close()


def test_a_camera_sees_the_cards_and_nobody_reads_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blind sorting: Enter looks at the next card, the screen says the pile and nothing else; a doubtful look stops."""
    file, cards = tmp_path / "club.pbn", list(range(52))
    file.write_bytes(format_named("pbn").load().write(DEALS, WriteOptions()))
    random.Random(6).shuffle(cards)
    (tmp_path / "my_camera.py").write_text(
        "from drivers.api import CardRead\n"
        f"cards = iter({cards})\nfailed = []\n\n"
        "def look():\n"
        "    if not failed:\n        failed.append(1)\n        raise OSError('no picture')\n"
        "    card = next(cards)\n    return CardRead(card, card, (card + 1) % 52, 90)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path) + ":" + os.environ.get("PYTHONPATH", ""))
    sorter = Sorter(str(file), "--assistant", "--reader", "my_camera:look", "--data", str(tmp_path / "data"), "--json")
    try:
        sorter.hear("empty board")
        sorter.say("")
        sorter.hear("being dealt")
        sorter.say("")
        assert "no picture" in sorter.hear("reader failed")
        piles = {}
        for card in cards:
            sorter.say("")
            piles[card] = Seat[sorter.hear("NORTH", "EAST", "SOUTH", "WEST").split()[1]]
        sorter.hear("Take it out")
        sorter.say("")
        out, err = sorter.child.communicate(timeout=60)
    finally:
        sorter.child.kill()
    assert sorter.child.returncode == 0, sorter.heard + err + out
    assert piles == {card: Seat(owner) for card, owner in enumerate(DEALS[0].deal.owners)}
    assert not any(re.search(rf"\b{card_name(card)}\b", sorter.heard) for card in range(52))


def test_when_nobody_names_cards_any_more_it_ends_at_once_and_goes_on_later(tmp_path: Path) -> None:
    file = tmp_path / "club.pbn"
    file.write_bytes(format_named("pbn").load().write(DEALS, WriteOptions()))
    sorter = Sorter(str(file), "--assistant", "--data", str(tmp_path / "data"), "--json")
    try:
        sorter.hear("empty board")
        sorter.say("")
        sorter.hear("being dealt")
        sorter.say("S5")
        sorter.hear("NORTH", "EAST", "SOUTH", "WEST")
        out, err = sorter.child.communicate(timeout=60)
    finally:
        sorter.child.kill()
    assert sorter.child.returncode == 1
    assert json.loads(out.splitlines()[-1])["error"]["code"] == "input-ended"
    assert "cable" not in sorter.heard + err


def test_a_sealed_file_is_opened_for_the_job_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRMWARE_BRIDGE_PASSPHRASE", "four green tables")
    file = tmp_path / "club.pbn"
    file.write_bytes(format_named("pbn").load().write(DEALS, WriteOptions()))
    hand = DEALS[0].deal.to_pbn()[2:].split()[0].encode()
    assert firmware_bridge("deal", "seal", str(file)).code == 0
    assert not file.exists()
    sealed = tmp_path / "club.pbn.sealed"
    assert hand not in sealed.read_bytes()
    words = ["duplicate", str(sealed), "--machine", "tcp://127.0.0.1:9", "--data", str(tmp_path / "data"), "--json"]
    assert firmware_bridge(*words).result["error"]["code"] != "wrong-passphrase"
    assert [path for path in tmp_path.rglob("*") if path.is_file() and hand in path.read_bytes()] == []
    monkeypatch.setenv("FIRMWARE_BRIDGE_PASSPHRASE", "four red tables")
    run = firmware_bridge(*words)
    assert (run.code, run.result["error"]["code"]) == (1, "wrong-passphrase")
    monkeypatch.setenv("FIRMWARE_BRIDGE_PASSPHRASE", "four green tables")
    plain = tmp_path / "plain.pbn"
    data = str(tmp_path / "data")
    assert firmware_bridge("deal", "unseal", str(sealed), "--out", str(plain), "--data", data).code == 0
    assert hand in plain.read_bytes()
    connection = sqlite3.connect(tmp_path / "data" / "dealing.db")
    assert connection.execute("SELECT what FROM reveal").fetchall() == [("unseal",)]
    connection.close()


@pytest.mark.parametrize("text", ["x", "1,2,3", "1,SA\n1,SK", "1,ZZ"])
def test_codes_that_can_not_be_read_are_wrong_use(tmp_path: Path, text: str) -> None:
    file, codes = tmp_path / "club.pbn", tmp_path / "codes.csv"
    file.write_bytes(format_named("pbn").load().write(DEALS, WriteOptions()))
    codes.write_text(text)
    words = ["duplicate", str(file), "--assistant", "--codes", str(codes), "--data", str(tmp_path / "d"), "--json"]
    run = firmware_bridge(*words)
    assert run.code == 2
    assert "codes.csv" in run.result["error"]["where"]
