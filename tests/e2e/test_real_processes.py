"""T6: real processes over ptys. The service is killed, both ends stand still, the port vanishes and comes back under
another name, the disk is full, the database is locked by somebody else. What screens called received is on disk at any
moment; terminals keep the rest, and the director is told.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from evening_runs import firmware_bridge
from web_browser import Service, service

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="ptys, signals and a small tmpfs")

SILENCE = 5.6  # seconds after which both ends of a line give each other up, and a little


class Station:
    """A base station with its terminals; its memory and what its screens showed stay in ``folder``."""

    def __init__(self, folder: Path, tables: int) -> None:
        self.folder, self.tables = folder, tables
        self.port = folder / "port"
        self.evidence = folder / "evidence"
        self.start()

    def start(self) -> None:
        words = ["--terminals", str(self.tables), "--speed", "demo", "--seed", "3", "--corrections", "0.1"]
        words += ["--state", str(self.folder / "state"), "--link", str(self.port), "--evidence", str(self.evidence)]
        command = [sys.executable, "-m", "hwsim", "station", "--with-parent", *words]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.url = str(json.loads(self.process.stdout.readline())["url"])

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(60)
        self.close()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            self.process.wait(60)
        self.close()

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def shown(self) -> dict[tuple[str, str, int], str]:
        """What screens called received, by key. A line that is just being written is not counted."""
        path = self.evidence / "shown_received.jsonl"
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        rows = [json.loads(line) for line in lines]
        return {(row["device"], row["journal"], row["seq"]): row["body"] for row in rows}


@contextlib.contextmanager
def station(folder: Path, tables: int = 3) -> Iterator[Station]:
    one = Station(folder, tables)
    try:
        yield one
    finally:
        one.stop()


def stopped(pid: int) -> bool:
    """Every thread of the process stands still."""
    return all(Path(task, "stat").read_text().rpartition(")")[2].split()[0] == "T" for task in tasks(pid))


def tasks(pid: int) -> list[str]:
    return [entry.path for entry in os.scandir(f"/proc/{pid}/task")]


class Room:
    """The service on ``data`` and its station, and what is true of both at any moment."""

    def __init__(self, data: Path, hall: Station, host: Service) -> None:
        self.database, self.hall, self.host = data / "events.db", hall, host

    def stored(self) -> dict[tuple[str, str, int], str]:
        with contextlib.closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=60)) as connection:
            rows = connection.execute("SELECT device, journal, seq, body FROM record")
            return {(device, f"{journal:08x}", seq): body.hex() for device, journal, seq, body in rows}

    def received_is_stored(self) -> None:
        """I1 and I3. The screens are looked at first: what they show must have been committed before."""
        shown = self.hall.shown()
        found = self.stored()
        assert {key: found.get(key) for key in shown} == shown

    def results(self) -> int:
        return sum(cell["state"] != "missing" for cell in self.host.cells())

    def until(self, true: Callable[[], Any], seconds: float = 60.0) -> None:
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, "it did not happen in time"
            time.sleep(0.1)
            self.received_is_stored()

    def until_results(self, count: int) -> None:
        self.until(lambda: self.results() >= count)

    def alerts(self, kind: str) -> list[str]:
        return [str(one["text"]) for one in self.host.api("/desk")["alerts"] if one["kind"] == kind]

    def finish(self, expected: int) -> None:
        """Everything has healed: whatever was keyed in arrives, once."""
        self.until_results(expected)
        self.until(lambda: len(self.hall.shown()) == len(self.stored()))
        assert self.alerts("alarm") == []


def test_kill_standstill_and_a_port_that_returns_under_another_name(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with station(tmp_path) as hall, service(data, "--station", hall.url, "--tables", "3", "--boards", "18") as host:
        room = Room(data, hall, host)
        expected = len(host.cells())
        assert host.process is not None
        room.until_results(4)

        hall.process.send_signal(signal.SIGSTOP)
        room.until(lambda: len(room.alerts("silent")) == 3)  # the director is told of every table
        hall.process.send_signal(signal.SIGCONT)
        room.until(lambda: not room.alerts("silent"))

        name = os.readlink(hall.port)
        hall.kill()
        room.until(lambda: len(room.alerts("silent")) == 3)
        others = [os.openpty() for _ in range(3)]  # one of them takes the old name
        hall.start()
        assert os.readlink(hall.port) != name
        room.until(lambda: not room.alerts("silent"))
        room.until_results(12)

        host.kill()  # kill -9, in the middle of play
        time.sleep(0.7)
        room.received_is_stored()
        host.start("--station", hall.url)
        room.until_results(20)

        host.process.send_signal(signal.SIGSTOP)
        room.until(lambda pid=host.process.pid: stopped(pid))
        before = len(room.stored())
        time.sleep(SILENCE)
        assert len(hall.shown()) <= before  # nobody acknowledged meanwhile
        room.received_is_stored()
        host.process.send_signal(signal.SIGCONT)
        room.finish(expected)
        for pair in others:
            os.close(pair[0])
            os.close(pair[1])
        host.stop()
        assert host.process.returncode == 143  # asked to end, it ends in order
        assert not (data / "service.json").exists()
        assert firmware_bridge("db", "check", "--data", str(data), "--json").result["records"]["conflict"] == 0


def test_an_evening_begins_without_its_base_station_and_takes_it_when_it_comes(tmp_path: Path) -> None:
    port = tmp_path / "port"
    url = f"serial://{port}?baud=115200"
    with service(tmp_path / "data", "--station", url, "--tables", "2", "--boards", "2") as host:
        end = time.monotonic() + 60
        while not (told := [one for one in host.api("/desk")["alerts"] if one["kind"] == "station"]):
            assert time.monotonic() < end
            time.sleep(0.1)
        assert "port does not exist" in told[0]["text"]
        with station(tmp_path, tables=2) as hall:
            room = Room(tmp_path / "data", hall, host)
            room.finish(len(host.cells()))
            assert room.alerts("station") == []


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """A file system of 4 MB on ``folder``; False when this user may not mount one."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(folder)], check=False, stderr=-3)
    try:
        yield done.returncode == 0
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Take every byte that is left."""
    path = folder / "filler"
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    return path


def test_a_full_disk_and_a_locked_database_lose_nothing_and_are_told(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk) as mounted:
        data = disk / "data"
        with station(tmp_path) as hall, service(data, "--station", hall.url, "--tables", "3", "--boards", "15") as host:
            room = Room(data, hall, host)
            expected = len(host.cells())
            room.until_results(3)
            assert host.process is not None
            if mounted:
                filler = fill(disk)
            else:  # a limit on the size of its files is the nearest thing that every user can have
                resource.prlimit(host.process.pid, resource.RLIMIT_FSIZE, (8192, resource.RLIM_INFINITY))
            room.until(lambda: room.alerts("store"))
            (told,) = room.alerts("store")
            assert ("disk is full" in told) or not mounted
            assert "Terminals keep them" in told
            kept = len(room.stored())
            time.sleep(1.5)  # play goes on
            assert len(room.stored()) == kept
            room.received_is_stored()
            if mounted:
                filler.unlink()
            else:
                resource.prlimit(host.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
            room.until(lambda: not room.alerts("store"))
            room.until_results(12)

            with contextlib.closing(sqlite3.connect(room.database, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                kept = len(room.stored())
                room.until(lambda: room.alerts("store"))
                assert "another program holds the database" in room.alerts("store")[0]
                assert len(room.stored()) == kept
                other.execute("ROLLBACK")
            room.until(lambda: not room.alerts("store"))
            room.finish(expected)


@pytest.mark.skipif(shutil.which("mount") is None or os.geteuid() != 0, reason="needs root to mount read-only")
def test_a_read_only_disk_is_told_in_one_sentence(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with service(data, "--tables", "3", "--boards", "6"):
        pass
    before = (data / "events.db").read_bytes()
    done = subprocess.run(["mount", "--bind", str(data), str(data)], check=False, stderr=-3)
    if done.returncode:
        pytest.skip("may not mount")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(data)], check=True)
        run = firmware_bridge("serve", "--data", str(data), "--port", "0", "--json")
        checked = firmware_bridge("db", "check", "--data", str(data), "--json")
        kept = firmware_bridge("db", "rebuild", "--data", str(data), "--json")
    finally:
        subprocess.run(["umount", "-l", str(data)], check=True)
    assert run.code == 2
    assert "no permission to write" in run.result["error"]["what"]
    assert run.result["error"]["next"]
    assert checked.code == 0  # a backup on such a disk can be looked at
    assert kept.code == 1
    assert (data / "events.db").read_bytes() == before


@contextlib.contextmanager
def small_ext4(image: Path, disk: Path) -> Iterator[None]:
    """A disk of its own in a file, put in order first; skips where this is not allowed."""
    subprocess.run(["e2fsck", "-fp", str(image)], check=False, stdout=-3, stderr=-3)
    if subprocess.run(["mount", "-o", "loop", str(image), str(disk)], check=False, stderr=-3).returncode:
        pytest.skip("may not mount")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.skipif(
    None in (shutil.which("mkfs.ext4"), shutil.which("e2fsck"), shutil.which("mount")) or os.geteuid() != 0,
    reason="needs root and ext4",
)
def test_a_disk_that_turns_read_only_in_mid_evening_loses_nothing_and_is_told(tmp_path: Path) -> None:
    """As the kernel does with a memory card that fails: the file system is read-only from one moment to the next, and
    stays so for the program that has its files open."""
    image, disk = tmp_path / "image", tmp_path / "disk"
    data = disk / "data"
    image.write_bytes(bytes(16 << 20))
    disk.mkdir()
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    with station(tmp_path) as hall:
        with small_ext4(image, disk):
            with service(data, "--station", hall.url, "--tables", "3", "--boards", "9") as host:
                room = Room(data, hall, host)
                expected = len(host.cells())
                room.until_results(3)
                failed = subprocess.run(["mount", "-o", "remount,abort", str(disk)], check=False, stderr=-3)
                if failed.returncode:
                    pytest.skip("may not remount")
                room.until(lambda: room.alerts("store"))
                assert "Terminals keep them" in room.alerts("store")[0]
                assert room.results() < expected
            shown = set(hall.shown())
        with small_ext4(image, disk), service(data, "--station", hall.url) as host:
            room = Room(data, hall, host)
            assert shown <= set(room.stored()), "what was received before is on the disk that was repaired"
            room.finish(expected)
