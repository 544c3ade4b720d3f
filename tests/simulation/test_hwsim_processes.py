"""Simulated devices as processes: on a pty and on TCP, killed and started again, unplugged, left by their host."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hwsim import codec, messages
from hwsim.codec import Frame, Splitter
from hwsim.numbers import Action, Kind, RefuseReason, Role

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs a pty")


class Process:
    """One simulated device."""

    def __init__(self, kind: str, state: Path, *words: str) -> None:
        command = [sys.executable, "-m", "hwsim", kind, "--state", str(state), "--seed", "3", "--with-parent", *words]
        self.popen = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.popen.stdout is not None
        self.ready = json.loads(self.popen.stdout.readline())
        self.url = str(self.ready["url"])

    def end(self) -> int:
        assert self.popen.stdin is not None
        self.popen.stdin.close()
        code = self.popen.wait(60)
        self._close()
        return code

    def signal(self, number: int) -> int:
        self.popen.send_signal(number)
        code = self.popen.wait(60)
        self._close()
        return code

    def _close(self) -> None:
        for pipe in (self.popen.stdin, self.popen.stdout, self.popen.stderr):
            if pipe is not None:
                pipe.close()


@contextlib.contextmanager
def running(kind: str, state: Path, *words: str) -> Iterator[Process]:
    process = Process(kind, state, *words)
    try:
        yield process
    finally:
        if process.popen.poll() is None:
            process.popen.kill()
            process.popen.wait(60)
        process._close()


class Wire:
    """The host's end of a pty or a TCP connection: says HELLO, acknowledges, sends one message at a time."""

    def __init__(self, url: str, session: int = 1, device_id: int = 7) -> None:
        if url.startswith("tcp://"):
            host, _, port = url[6:].rpartition(":")
            sock = socket.create_connection((host, int(port)))
            self.fd = sock.detach()
        else:
            import tty

            self.fd = os.open(url.removeprefix("serial://").split("?")[0], os.O_RDWR | os.O_NOCTTY)
            tty.setraw(self.fd)
        self._splitter = Splitter()
        self._session = session
        self._device_id = device_id
        self._seq = self._expected = 0
        self.told: list[tuple[int, int, dict[str, Any]]] = []
        self.hello: dict[str, Any] | None = None

    def close(self) -> None:
        os.close(self.fd)

    def _write(self, frame: Frame) -> None:
        os.write(self.fd, codec.encode_frame(frame))

    def read(self, seconds: float) -> list[Frame]:
        """Frames that come within the time; b"" (the other side has gone) raises ConnectionError."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return []
        data = os.read(self.fd, 4096)
        if not data:
            raise ConnectionError
        frames = self._splitter.feed(data)
        for frame in frames:
            fields = messages.decode(frame.kind, frame.payload)
            if frame.kind == Kind.HELLO and fields["session"] == self._session:
                self.hello = fields
            elif frame.flags & codec.SEQUENCED:
                if frame.seq != self._expected or self.hello is None:
                    continue
                self._expected = (self._expected + 1) & 255
            self.told.append((frame.kind, frame.address, fields))
        if frames and self.hello is not None:
            self._write(Frame(Kind.ACK, ack=self._expected, flags=codec.ACK))
        return frames

    def until(self, found: Callable[[], Any], seconds: float = 60.0) -> Any:
        end = time.monotonic() + seconds
        while not (result := found()):
            assert time.monotonic() < end, "it did not happen in time"
            self.read(0.05)
        return result

    def say_hello(self) -> dict[str, Any]:
        values = dict.fromkeys(("boot_id", "boot_count", "journal_id", "oldest_unacked", "next_seq"), 0)
        hello = {
            **values,
            "proto_min": 0x10,
            "proto_max": 0x10,
            "role": Role.HOST,
            "window": 8,
            "max_frame": 240,
            "device_id": self._device_id,
            "capabilities": 0,
            "session": self._session,
            "model": "",
            "firmware": "",
            "commands": [],
        }
        self._write(Frame(Kind.HELLO, flags=0, payload=messages.encode(Kind.HELLO, hello)))
        self.until(lambda: self.hello)
        assert self.hello is not None
        return self.hello

    def send(self, kind: int, fields: dict[str, Any] | None = None, address: int = 0) -> None:
        flags = codec.SEQUENCED | codec.ACK
        self._write(Frame(kind, address, self._seq, self._expected, flags, messages.encode(kind, fields)))
        self._seq = (self._seq + 1) & 255

    def last(self, kind: int) -> dict[str, Any] | None:
        return next((f for k, _, f in reversed(self.told) if k == kind), None)

    def deal(self, board: int, job: int) -> None:
        """Have the board inserted and start it."""
        display = {"action": Action.INSERT_BOARD, "board": board, "copy": 1, "sound": 0, "text": ""}
        self.send(Kind.DISPLAY, display)
        self.until(lambda: (self.last(Kind.BOARD) or {}).get("label") == board)
        routing = messages.pack_routing([card % 4 for card in range(52)])
        common = {
            "job_id": job,
            "board": board,
            "copy": 1,
            "digest": messages.deal_digest(board, routing),
        }
        self.send(Kind.ARM, {"command_id": job * 2, "routing": routing, **common})
        assert self.hello is not None
        self.send(Kind.START, {"command_id": job * 2 + 1, "boot_id": self.hello["boot_id"], **common})


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@POSIX
def test_a_pty_is_left_and_opened_again_under_its_link(tmp_path: Path) -> None:
    link = tmp_path / "machine"
    with running("machine", tmp_path / "s", "--speed", "demo", "--link", str(link)) as device:
        assert device.url == f"serial://{link}?baud=115200"
        first = Wire(device.url)
        hello = first.say_hello()
        first.close()
        second = Wire(device.url, session=2)
        assert second.say_hello()["boot_id"] == hello["boot_id"]
        second.until(lambda: second.last(Kind.MACHINE_INFO))
        second.close()
        assert device.end() == 0
    assert not link.is_symlink()


@POSIX
def test_every_byte_passes_unchanged(tmp_path: Path) -> None:
    with running("machine", tmp_path / "s", "--speed", "max") as device:
        wire = Wire(device.url)
        wire.say_hello()
        wire.send(Kind.DISPLAY, {"action": 0, "board": 0x0D0A, "copy": 0x11, "sound": 0x13, "text": "\n\r\x03\x04\x1a"})
        wire.send(Kind.SNAPSHOT)
        wire.until(lambda: wire.last(Kind.MACHINE_STATE))
        assert wire.last(Kind.NAK) is None
        wire.close()


@pytest.mark.parametrize("line", [pytest.param("pty", marks=POSIX), "tcp://127.0.0.1:0"])
def test_killed_in_mid_board_and_started_again(tmp_path: Path, line: str) -> None:
    words = ("--speed", "demo", "--evidence", str(tmp_path / "e"), "--line", line)
    with running("machine", tmp_path / "s", *words) as device:
        wire = Wire(device.url)
        old = wire.say_hello()
        wire.deal(5, 77)
        wire.until(lambda: (wire.last(Kind.CARD) or {}).get("index", 0) >= 10)
        device.signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        wire.close()
    with running("machine", tmp_path / "s", *words) as device:
        wire = Wire(device.url, session=2)
        fresh = wire.say_hello()
        assert fresh["device_id"] == old["device_id"]
        assert fresh["boot_id"] != old["boot_id"]
        assert fresh["boot_count"] == old["boot_count"] + 1
        assert fresh["commands"] == [77 * 2 + 1, 77 * 2]
        wire.send(Kind.REPORT, {"job_id": 77})
        report = wire.until(lambda: wire.last(Kind.REPORT_DATA))
        assert report["known"] == 1
        assert len(report["placed"]) >= 11
        wire.close()
        device.end()
    (truth,) = rows(tmp_path / "e" / "truth.jsonl")
    believed = {entry & 255 for entry in report["placed"]}
    placed = {card for pocket in truth["pockets"].values() for card in pocket}
    assert believed <= placed
    assert len(placed - believed) <= 4  # cards that were between pocket and memory
    summary = json.loads((tmp_path / "s" / "summary.json").read_text())
    assert summary["bytes_out"] > 100
    assert summary["first_byte"] <= summary["last_byte"]


@POSIX
def test_unplugged_and_plugged_in_again(tmp_path: Path) -> None:
    link = tmp_path / "m"
    words = ("--speed", "demo", "--link", str(link), "--fault", "unplug@12,for=0.3", "--evidence", str(tmp_path / "e"))
    with running("machine", tmp_path / "s", *words) as device:
        wire = Wire(device.url)
        wire.say_hello()
        wire.deal(3, 9)
        with pytest.raises((ConnectionError, OSError)):
            wire.until(lambda: wire.last(Kind.DONE))
        wire.close()
        end = time.monotonic() + 60
        while not link.exists():
            assert time.monotonic() < end
            time.sleep(0.02)
        again = Wire(device.url, session=2)
        again.say_hello()
        again.send(Kind.SNAPSHOT)
        again.until(lambda: again.last(Kind.MACHINE_STATE))
        again.close()
        device.end()
    assert [f["kind"] for f in rows(tmp_path / "e" / "faults.jsonl")] == ["unplug"]


def test_a_second_tcp_host_is_sent_away(tmp_path: Path) -> None:
    with running("station", tmp_path / "s", "--line", "tcp://127.0.0.1:0", "--speed", "max") as device:
        first = Wire(device.url)
        first.say_hello()
        second = Wire(device.url, device_id=8)
        with pytest.raises(ConnectionError):
            second.until(lambda: False)
        refuse = second.last(Kind.REFUSE)
        assert refuse is not None
        assert refuse["reason"] == RefuseReason.BUSY
        second.close()
        first.until(lambda: first.last(Kind.STATION_STATUS))
        first.close()
        third = Wire(device.url, session=3, device_id=9)
        assert third.say_hello()["role"] == Role.STATION
        third.close()
        assert device.end() == 0


@POSIX
def test_the_pty_is_as_slow_as_its_baud_rate(tmp_path: Path) -> None:
    with running("station", tmp_path / "s", "--baud", "9600", "--speed", "line", "--terminals", "8") as device:
        wire = Wire(device.url)
        begin = time.monotonic()
        wire.say_hello()
        wire.until(lambda: sum(k == Kind.TERM_STATUS for k, _, _ in wire.told) >= 8)
        seconds = time.monotonic() - begin
        wire.close()
        device.end()
    # Eight TERM_HELLO of 88 bytes and eight TERM_STATUS of 24 on the line: 0.93 s at 960 bytes a second.
    assert seconds > 0.7
    summary = json.loads((tmp_path / "s" / "summary.json").read_text())
    assert summary["busy_seconds"] >= summary["bytes_out"] * 10 / 9600 * 0.99


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
@POSIX
def test_signals_end_it_in_order(tmp_path: Path, name: str) -> None:
    words = ("--speed", "demo", "--evidence", str(tmp_path / "e"))
    with running("machine", tmp_path / "s", *words) as device:
        wire = Wire(device.url)
        wire.say_hello()
        wire.deal(2, 4)
        wire.until(lambda: wire.last(Kind.DONE))
        assert device.signal(getattr(signal, name)) == 0
        wire.close()
    (truth,) = rows(tmp_path / "e" / "truth.jsonl")
    assert {seat: [c % 4 for c in cards] for seat, cards in truth["pockets"].items()} == {
        seat: [i] * 13 for i, seat in enumerate("NESW")
    }


@pytest.mark.parametrize(
    "words",
    [
        ("machine", "--fault", "gremlins@3"),
        ("machine", "--fault", "jam"),
        ("station", "--fault", "jam@3"),
        ("machine", "--line", "carrier-pigeon"),
        ("machine", "--line", "tcp://127.0.0.1:99999"),
        ("machine", "--baud", "3"),
        ("station", "--terminals", "0"),
    ],
)
def test_wrong_use_is_one_sentence(tmp_path: Path, words: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "hwsim", words[0], "--state", str(tmp_path / "s"), *words[1:]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("hwsim: ")
    assert len(done.stderr.splitlines()) == 1
