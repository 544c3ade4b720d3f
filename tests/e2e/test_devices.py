"""Devices that run on their own, as hardware does: the host is pointed at them by URL, and they vanish at will."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from evening_runs import Run, command, environment, firmware_bridge, judge, start

from dealer.formats.api import WriteOptions, format_named
from dealer.generate import new_set

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")


class Device:
    """``firmware-bridge simulate ...`` in a process of its own, with its memory in a directory."""

    def __init__(self, kind: str, folder: Path, *words: str) -> None:
        self.link = folder / f"{kind}.port"
        state = ["--link", str(self.link), "--state", str(folder / kind), "--evidence", str(folder / "evidence")]
        self._words = ["simulate", kind, *state, *words]
        self._process: subprocess.Popen[str] | None = None
        self.plug_in()

    @property
    def url(self) -> str:
        return f"serial://{self.link}"

    def plug_in(self) -> None:
        self._process = subprocess.Popen(
            command(*self._words), stderr=subprocess.PIPE, text=True, env=environment(), start_new_session=True
        )
        assert self._process.stderr is not None
        line = self._process.stderr.readline()
        assert line.startswith("Ready at serial://"), line

    def unplug(self) -> None:
        """Gone without a word: the whole process group is killed."""
        if self._process is not None:
            # First, so that the name never leads to the device of somebody else who is given the same pty.
            self.link.unlink(missing_ok=True)
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            self._process = None

    def start_again(self, speed: str) -> None:
        """As ``plug_in``, from here on at this speed: a board of a ``real`` machine takes seconds."""
        self.unplug()
        self._words[self._words.index("--speed") + 1] = speed
        self.plug_in()

    def stop(self, number: int = signal.SIGINT) -> int:
        assert self._process is not None
        os.killpg(self._process.pid, number)
        self._process.communicate(timeout=60)
        code = self._process.returncode
        self._process = None
        return code


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Device]:
    device = Device("dealing-machine", tmp_path, "--speed", "demo", "--seed", "3")
    yield device
    device.unplug()


@pytest.fixture
def station(tmp_path: Path) -> Iterator[Device]:
    device = Device("base-station", tmp_path, "--speed", "max", "--terminals", "3", "--seed", "3")
    yield device
    device.unplug()


def test_devices_say_who_they_are(machine: Device, station: Device, tmp_path: Path) -> None:
    run = firmware_bridge("devices", machine.url, station.url, "--data", str(tmp_path / "data"), "--json")
    assert run.code == 0, run.err
    assert [row["kind"] for row in run.result["devices"]] == ["machine", "station"]
    assert all(len(row["device_id"]) == 16 for row in run.result["devices"])


def test_ports_are_listed_without_a_url() -> None:
    run = firmware_bridge("devices", "--json")
    assert run.code == 0
    assert isinstance(run.result["ports"], list)


def test_a_device_of_the_wrong_kind_is_named(station: Device, tmp_path: Path) -> None:
    run = firmware_bridge("duplicate", deal_file(tmp_path, 1), "--machine", station.url, *data(tmp_path), "--json")
    assert run.code == 1
    assert "base station" in run.result["error"]["what"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_simulated_device_ends_when_told(tmp_path: Path, number: int, code: int) -> None:
    device = Device("dealing-machine", tmp_path)
    assert device.stop(number) == code
    assert not device.link.exists()


def deal_file(folder: Path, boards: int) -> str:
    path = folder / "club.pbn"
    path.write_bytes(format_named("pbn").load().write(new_set(range(1, boards + 1), seed=2).boards, WriteOptions()))
    return str(path)


def data(folder: Path) -> list[str]:
    return ["--data", str(folder / "data")]


class Job:
    """A running ``duplicate`` whose progress lines are read as they come."""

    def __init__(self, *words: str) -> None:
        self._child = start(*words)
        self.said = ""

    def wait_until_dealing(self, board: int) -> None:
        """Into the middle of a board: the machine has begun it."""
        self.hear(f"Board {board}, copy 1: dealing")

    def hear(self, words: str) -> None:
        """Until a line begins with these words."""
        assert self._child.stderr is not None
        for line in self._child.stderr:
            self.said += line
            if line.startswith(words):
                return
        raise AssertionError(self.said)

    def stop(self) -> None:
        self._child.terminate()
        self._child.communicate(timeout=60)

    def finish(self) -> Run:
        out, err = self._child.communicate(timeout=60)
        return Run(self._child.returncode, out, self.said + err)


def test_an_evening_on_devices_that_run_on_their_own(machine: Device, station: Device, tmp_path: Path) -> None:
    evidence = tmp_path / "evidence"
    words = ["--machine", machine.url, "--station", station.url, "--tables", "3", "--boards", "10"]
    run = firmware_bridge("evening", *words, *data(tmp_path), "--evidence", str(tmp_path / "claims"), "--json")
    assert run.code == 0, run.err
    assert (run.result["copies_good"], run.result["results_stored"], run.result["lost"]) == (10, 30, None)
    assert machine.stop() == 130
    assert station.stop() == 130
    for name in ("ledger", "plays", "claims"):
        (evidence / f"{name}.jsonl").write_bytes((tmp_path / "claims" / f"{name}.jsonl").read_bytes())
    found = judge(evidence)
    assert (found.received, found.lost, found.doubled, found.good, found.wrong_good) == (30, 0, 0, 10, 0)


def test_unplugged_in_mid_board_and_back_again(machine: Device, tmp_path: Path) -> None:
    words = ["duplicate", deal_file(tmp_path, 3), "--machine", machine.url, *data(tmp_path), "--json"]
    machine.start_again("real")
    job = Job(*words)
    job.wait_until_dealing(1)
    machine.start_again("demo")
    run = job.finish()
    assert run.code == 0, run.err
    assert (run.result["copies_good"], run.result["link_losses"]) == (3, 1)
    assert "Board 1, copy 1: unknown" in run.err
    assert "Board 1, copy 1: good" in run.err


def test_unplugged_for_good_it_says_so_and_a_later_run_goes_on(machine: Device, tmp_path: Path) -> None:
    words = ["duplicate", deal_file(tmp_path, 4), "--machine", machine.url, *data(tmp_path), "--json"]
    assert firmware_bridge(*words, "--boards", "1-2").code == 0
    machine.start_again("real")
    job = Job(*words, "--patience", "2")
    job.wait_until_dealing(3)
    machine.unplug()
    run = job.finish()
    assert run.code == 1
    assert run.result["error"]["next"]
    assert "Traceback" not in run.err
    connection = sqlite3.connect(tmp_path / "data" / "dealing.db")
    states = dict(connection.execute("SELECT state, count(*) FROM board_copy GROUP BY state").fetchall())
    connection.close()
    assert (states["unknown"], states["good"]) == (1, 2)
    machine.start_again("demo")
    again = firmware_bridge(*words)
    assert again.code == 0, again.err
    assert again.result["copies_good"] == 4
    assert again.result["attempts"] == 2


def test_a_second_host_is_refused(machine: Device, tmp_path: Path) -> None:
    machine.start_again("real")
    job = Job("duplicate", deal_file(tmp_path, 2), "--machine", machine.url, *data(tmp_path), "--json")
    job.wait_until_dealing(1)
    words = ["duplicate", deal_file(tmp_path, 2), "--machine", machine.url, "--data", str(tmp_path / "other"), "--json"]
    run = firmware_bridge(*words)
    assert run.code == 1
    assert run.result["error"]["next"]
    job.hear("Board 1, copy 1: good")
    job.stop()


def test_serve_collects_until_complete_and_answers_over_http(station: Device, tmp_path: Path) -> None:
    words = ["serve", "--tables", "3", "--boards", "10", "--station", station.url, "--port", "0"]
    run = firmware_bridge(*words, "--until-complete", *data(tmp_path), "--json")
    assert run.code == 0, run.err
    assert run.result["results_stored"] == 30
    assert len(run.result["rankings"]) == 1
    assert "Serving at http://127.0.0.1:" in run.err
