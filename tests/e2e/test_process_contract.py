"""What only a whole process shows: signals while it starts, a stdout that is closed or full, odd files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from evening_runs import command, environment, firmware_bridge

from dealer.formats.api import WriteOptions, format_named
from dealer.generate import new_set

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals, devices and pipes")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("delay", [0.06, 0.1, 0.15, 0.25, 0.5])
def test_a_signal_while_it_starts_gives_no_traceback(number: int, delay: float) -> None:
    child = subprocess.Popen(
        command("evening", "--simulate", "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    time.sleep(delay)
    child.send_signal(number)
    out, err = child.communicate(timeout=60)
    if child.returncode == -number or (not out and "firmware_bridge" not in err and "KeyboardInterrupt" in err):
        return  # it came before the first line of ours, while Python itself was starting
    assert "firmware_bridge" not in err or "Traceback" not in err
    assert child.returncode == 128 + number
    assert json.loads(out.splitlines()[-1])["ok"] is False


WHILE_THE_LOOP_IS_MADE = """
import asyncio.selector_events as selector_events, os, signal, sys
number = int(sys.argv.pop())
make = selector_events.BaseSelectorEventLoop._make_self_pipe
def interrupted(self):
    os.kill(os.getpid(), number)
    make(self)
selector_events.BaseSelectorEventLoop._make_self_pipe = interrupted
from firmware_bridge.cli.entry import main
sys.exit(main())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_event_loop_is_made_is_heard_after_it(number: int) -> None:
    words = [sys.executable, "-c", WHILE_THE_LOOP_IS_MADE, "evening", "--simulate", "--json", str(int(number))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, env=environment(), check=False)
    assert "Traceback" not in done.stderr
    assert "never awaited" not in done.stderr
    assert done.returncode == 128 + number
    assert json.loads(done.stdout.splitlines()[-1])["error"]["code"] in ("interrupted", "terminated")


def deal_file(folder: Path) -> Path:
    path = folder / "club.pbn"
    path.write_bytes(format_named("pbn").load().write(new_set([1, 2], seed=1).boards, WriteOptions()))
    return path


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_or_closed_stdout_gives_no_traceback(tmp_path: Path) -> None:
    words = command("deal", "verify", str(deal_file(tmp_path)), "--json")
    for redirect, codes in ((">/dev/full", (1,)), (">&-", (0, 1))):
        line = " ".join(f"'{word}'" for word in words) + redirect
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, env=environment(), check=False)
        assert "Traceback" not in done.stderr
        assert done.returncode in codes


@pytest.mark.parametrize(
    "words",
    [
        ["deal", "verify", "PIPE"],
        ["evening", "--simulate", "--deals", "PIPE"],
        ["movement", "verify", "PIPE"],
        ["results", "audit", "PIPE"],
        ["deal", "generate", "--boards", "1-2", "--seed", "1", "--out", "PIPE"],
    ],
)
def test_a_pipe_is_neither_waited_for_nor_replaced(tmp_path: Path, words: list[str]) -> None:
    pipe = tmp_path / "pipe.pbn"
    os.mkfifo(pipe)
    run = firmware_bridge(*[str(pipe) if word == "PIPE" else word for word in words], "--json", timeout=60)
    assert run.code == 2
    assert "pipe" in run.result["error"]["what"]
    assert pipe.is_fifo()


def test_what_a_link_points_at_is_replaced_not_the_link(tmp_path: Path) -> None:
    target, link = tmp_path / "real.pbn", tmp_path / "link.pbn"
    target.write_text("old")
    link.symlink_to(target)
    assert firmware_bridge("deal", "generate", "--boards", "1-2", "--seed", "1", "--out", str(link)).code == 0
    assert link.is_symlink()
    assert target.read_bytes().startswith(b"% PBN")


@pytest.mark.parametrize(
    "words", [["evening", "--simulate"], ["devices", "tcp://127.0.0.1:9"], ["machine", "health"], ["nonsense"]]
)
def test_where_and_next_are_never_empty(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "config.toml").write_text("clib = 'x'\n")
    more = ["--data", str(tmp_path)] if words != ["nonsense"] else []
    run = firmware_bridge(*words, *more, "--json")
    assert run.code == 2
    assert all(run.result["error"].values())
