"""The dealing job against the simulated machine over a real pty: every fault, judged by the machine's own evidence."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dealer.duplication.progress import CardCounted, ProgressEvent, Stopped, Summary
from dealer.generate import DealSet, new_set
from drivers.host import HostIdentity
from firmware_bridge.errors import DeviceError
from firmware_bridge.service.dealing import make_boards

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a pty")


class Room:
    """A data directory, a simulated machine with its own memory, and their evidence."""

    def __init__(self, path: Path, boards: int) -> None:
        self.path = path
        self.deals: DealSet = new_set(range(1, boards + 1), seed=5)
        self.heard: list[ProgressEvent] = []

    @contextmanager
    def machine(self, *words: str, speed: str = "max") -> Iterator[str]:
        """A machine that runs; gives its URL."""
        command = [sys.executable, "-m", "hwsim", "machine", "--state", str(self.path / "sim"), "--seed", "3"]
        # By a name of its own: the number of a pty that was closed is given to the next one who asks.
        command += ["--link", str(self.path / "port"), "--with-parent", *words]
        command += ["--speed", speed, "--evidence", str(self.path / "evidence")]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.stdin.close()
            process.wait(60)
            process.stdout.close()

    def make(self, url: str, copies: int = 1) -> Summary:
        return asyncio.run(
            make_boards(
                url,
                self.path,
                HostIdentity(77),
                self.deals.boards,
                set_id=self.deals.id,
                copies=copies,
                on_progress=self.heard.append,
                evidence=self.path / "evidence",
            )
        )

    def rows(self, name: str) -> list[dict[str, Any]]:
        path = self.path / "evidence" / f"{name}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def judge(self) -> tuple[int, int]:
        """Good boards by the last claims, and how many of them are wrong by the last truth."""
        claims = {(row["board"], row["copy"]): row for row in self.rows("claims")}
        truth = {(row["board"], row["copy"]): row["pockets"] for row in self.rows("truth")}
        hands = {b.number: dict(zip("NESW", map(list, b.deal.hands), strict=True)) for b in self.deals.boards}
        good = [key for key, row in claims.items() if row["state"] == "good"]
        wrong = [key for key in good if truth.get(key) != hands[key[0]] or claims[key]["plan"] != hands[key[0]]]
        return len(good), len(wrong)


def test_boards_and_copies_are_what_the_plan_says(tmp_path: Path) -> None:
    room = Room(tmp_path, 3)
    with room.machine() as url:
        summary = room.make(url, copies=2)
    assert summary.complete
    assert (summary.boards_good, summary.copies_good, summary.stops) == (3, 6, 0)
    assert room.judge() == (6, 0)


FAULTS = [
    "gate-stuck@20",
    "misread@20",
    "smudge@20",
    "unreadable@52",
    "jam@20",
    "double-feed@20",
    "double-feed@2",
    "misfeed@20,for=5",
    "cover@20",
    "pull@20",
    "unplug@20,for=0.3",
    "power-cut@20,for=0.1",
]


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_costs_one_stop_and_no_truth(tmp_path: Path, fault: str) -> None:
    room = Room(tmp_path, 2)
    with room.machine("--fault", fault) as url:
        summary = room.make(url)
    assert summary.complete
    # A jam before the reader and a slipping roller lose no card: the machine goes on where it stopped.
    cured = fault.startswith(("jam", "misfeed"))
    assert summary.redeals == (0 if cured else 1)
    assert room.judge() == (2, 0)
    assert {row["kind"] for row in room.rows("faults")} == {fault.split("@")[0]}
    stop = next(event.instruction for event in room.heard if isinstance(event, Stopped))
    assert "Board 1" in stop.text


def test_a_machine_without_label_reader_is_confirmed_by_key(tmp_path: Path) -> None:
    room = Room(tmp_path, 2)
    with room.machine("--no-label-reader") as url:
        assert room.make(url).complete
    assert room.judge() == (2, 0)


def test_a_machine_that_goes_away_for_good_and_a_later_run(tmp_path: Path) -> None:
    """Unplugged for longer than anybody waits; the next run on the same directory goes on."""
    room = Room(tmp_path, 3)

    async def impatient(url: str) -> Summary:
        from dealer.duplication.job import JobOptions

        return await make_boards(
            url,
            tmp_path,
            HostIdentity(77),
            room.deals.boards,
            set_id=room.deals.id,
            evidence=tmp_path / "evidence",
            options=JobOptions(reconnect_s=0.5),
        )

    with room.machine("--fault", "unplug@70,for=20") as url, pytest.raises(DeviceError, match="same data directory"):
        asyncio.run(impatient(url))
    claims = {row["board"]: row["state"] for row in room.rows("claims")}
    assert claims == {1: "good", 2: "unknown"}
    with room.machine() as url:
        assert room.make(url).complete
    assert room.judge() == (3, 0)


RUN = """
import asyncio, sys
from pathlib import Path
from dealer.generate import new_set
from drivers.host import HostIdentity
from firmware_bridge.service.dealing import make_boards
url, path = sys.argv[1], Path(sys.argv[2])
deals = new_set(range(1, 4), seed=5)
asyncio.run(make_boards(url, path, HostIdentity(77), deals.boards, set_id=deals.id, evidence=path / "evidence",
                        on_progress=lambda event: print(type(event).__name__, flush=True)))
"""


@pytest.mark.parametrize("cards", [1, 30, 52, 70])
def test_kill_9_of_the_host_in_mid_board(tmp_path: Path, cards: int) -> None:
    room = Room(tmp_path, 3)
    with room.machine(speed="line") as url:
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, url, str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        counted = 0
        for line in process.stdout:
            counted += line.strip() == CardCounted.__name__
            if counted == cards:
                process.send_signal(signal.SIGKILL)
                break
        process.wait(60)
        process.stdout.close()
        time.sleep(0.1)
        summary = room.make(url)
    assert summary.complete
    assert room.judge() == (3, 0)
