"""Every command keeps one contract: exit codes, a JSON object as the last line, no traceback, whatever happens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import click
import pytest

from firmware_bridge.cli import main as cli_main
from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.errors import (
    ConfigError,
    DealError,
    DeviceError,
    EntryError,
    ExitStatus,
    FirmwareBridgeError,
    LinkError,
    StoreError,
)


def run_with(monkeypatch: pytest.MonkeyPatch, function: object, *arguments: str) -> int:
    """Call ``main`` as if ``probe`` were one of its commands."""
    probe = click.Command("probe", callback=None)
    assert callable(function)
    probe = click.command("probe")(command("probe")(function))
    monkeypatch.setattr(cli_main.LazyGroup, "get_command", lambda self, ctx, name: probe if name == "probe" else None)
    return cli_main.main(["probe", *arguments])


def last_object(text: str) -> dict[str, object]:
    found = json.loads(text.splitlines()[-1])
    assert isinstance(found, dict)
    return found


def test_success_ends_with_one_object(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_with(monkeypatch, lambda: Outcome({"boards": 3}, text="three"), "--json") == 0
    assert last_object(capsys.readouterr().out) == {"ok": True, "command": "probe", "schema": 1, "boards": 3}


def test_without_json_a_person_reads_text(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_with(monkeypatch, lambda: Outcome({"boards": 3}, text="three")) == 0
    assert capsys.readouterr().out == "three\n"


@pytest.mark.parametrize("kind", [LinkError, DeviceError, DealError, EntryError, StoreError, ConfigError])
def test_our_errors_say_what_where_next(
    kind: type[FirmwareBridgeError], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> Outcome:
        raise kind("it broke.", where="board 7", next_step="Do this.", code="it-broke")

    code = run_with(monkeypatch, fail, "--json")
    captured = capsys.readouterr()
    assert code == (2 if kind is ConfigError else 1)
    payload = last_object(captured.out)
    assert payload["ok"] is False
    assert payload["error"] == {"code": "it-broke", "what": "it broke.", "where": "board 7", "next": "Do this."}
    assert "board 7: it broke." in captured.err
    assert "Do this." in captured.err


def test_a_short_run_keeps_its_figures(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = Outcome({"good": 5}, error=DeviceError("one board failed."))
    assert run_with(monkeypatch, lambda: outcome, "--json") == 1
    payload = last_object(capsys.readouterr().out)
    assert (payload["ok"], payload["good"]) == (False, 5)


@pytest.mark.parametrize(
    ("error", "code", "word"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (cli_main.Terminated(), 143, "terminated"),
        (OSError(28, "No space left on device"), 1, "No space left"),
        (ValueError("N:AKQ.AKQ.AKQ.AKQJ - - -"), 1, "ValueError"),
    ],
)
def test_no_ending_shows_a_traceback_or_a_card(
    error: BaseException,
    code: int,
    word: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> Outcome:
        raise error

    assert run_with(monkeypatch, fail, "--json") == code
    captured = capsys.readouterr()
    assert word in captured.out
    assert "Traceback" not in captured.err + captured.out
    assert "AKQ" not in captured.err + captured.out


@pytest.mark.parametrize("arguments", [["--nonsense"], ["nonsense"], ["nonsense", "--json"]])
def test_wrong_use_is_two(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli_main.main(arguments) == int(ExitStatus.USAGE)
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    if "--json" in arguments:
        assert last_object(captured.out)["ok"] is False


@pytest.mark.parametrize("arguments", [[], ["deal"], ["td", "ruling"]])
def test_a_group_without_a_command_shows_its_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli_main.main(arguments) == int(ExitStatus.USAGE)
    captured = capsys.readouterr()
    assert captured.err.startswith(f"Usage: {' '.join(['firmware-bridge', *arguments])} [OPTIONS] COMMAND")
    assert captured.out == ""


def test_help_and_version_are_success() -> None:
    assert cli_main.main(["--help"]) == 0
    assert cli_main.main(["--version"]) == 0


SLEEPER = """
    import asyncio, sys
    import click
    from firmware_bridge.cli import main as m
    from firmware_bridge.cli.output import Outcome, command
    from firmware_bridge.cli.running import run_async

    async def sleep():
        print("ready", flush=True)
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            print("motors off", flush=True)

    def work():
        run_async(sleep())
        return Outcome()

    probe = click.command("probe")(command("probe")(work))
    m.LazyGroup.get_command = lambda self, ctx, name: probe
    sys.exit(m.main(["probe", "--json"]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_let_cleanup_run_and_give_their_code(number: int, code: int) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SLEEPER)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    os.kill(child.pid, number)
    out, err = child.communicate(timeout=60)
    assert child.returncode == code
    assert out.splitlines()[0] == "motors off"
    assert last_object(out)["ok"] is False
    assert "Traceback" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(("number", "error"), [(signal.SIGINT, "KeyboardInterrupt"), (signal.SIGTERM, "Terminated")])
def test_a_signal_while_a_module_is_loaded_is_heard_when_it_is(tmp_path: Path, number: int, error: str) -> None:
    (tmp_path / "noisy.py").write_text(
        "import signal\n"
        "class Part:\n"
        f"    def __set_name__(self, owner, name): signal.raise_signal({int(number)})\n"
        "class Whole: part = Part()\n"
        "loaded = True\n"
    )
    script = f"""
import sys, time
from firmware_bridge.cli import main
sys.path.insert(0, {str(tmp_path)!r})
main._catch_signals()
try:
    import noisy
    time.sleep(200)  # waiting for a key or a device: the signal must wake it
except BaseException as error:
    print(type(error).__name__, sys.modules["noisy"].loaded)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
    assert run.stdout.split() == [error, "True"], run.stderr
