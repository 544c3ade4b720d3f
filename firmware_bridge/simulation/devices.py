"""Simulated devices as child processes: started, found by their URL, and ended with this program.

The only room that knows hwsim, and even here it is another process: what reaches the host are bytes over a pty (POSIX)
or a loopback TCP port (Windows), as with real hardware. A child ends when its standard input does, so a killed parent
leaves none behind; its memory and its physical truth are in its state directory, from which the next run goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firmware_bridge.errors import ConfigError, DeviceError, FirmwareBridgeError

SPEEDS = ("real", "demo", "line", "max")
START_SECONDS = 30.0
STOP_SECONDS = 10.0
COMPLAINTS = "stderr.txt"


@dataclass(frozen=True, slots=True)
class DeviceSpec:
    """One simulated device. kind: "machine" or "station"; state: its directory; options: further words of hwsim."""

    kind: str
    state: Path
    seed: int
    speed: str
    baud: int = 115200
    evidence: Path | None = None
    options: tuple[str, ...] = ()

    def arguments(self) -> list[str]:
        line = "tcp://127.0.0.1:0" if sys.platform == "win32" else "pty"
        words = ["--line", line, "--baud", str(self.baud), "--state", str(self.state), "--seed", str(self.seed)]
        words += ["--speed", self.speed, "--with-parent"]
        if sys.platform != "win32":
            # By a name of its own: the number of a pty that was closed is given to the next one who asks.
            words += ["--link", str(self.state / "port")]
        if self.evidence is not None:
            words += ["--evidence", str(self.evidence)]
        return [self.kind, *words, *self.options]


class SimulatedDevice:
    """A running child process. ``url`` is what a user would type for a real device."""

    def __init__(self, spec: DeviceSpec, process: asyncio.subprocess.Process, ready: dict[str, Any]) -> None:
        self.spec = spec
        self.url = str(ready["url"])
        self._process = process

    @classmethod
    async def start(cls, spec: DeviceSpec) -> SimulatedDevice:
        """Start it and wait until it can be connected to. Raises DeviceError with what the child said."""
        spec.state.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (spec.state / COMPLAINTS).open("wb") as complaints:
            process = await asyncio.create_subprocess_exec(
                *simulator_command(spec.arguments()),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=complaints,
                # A Ctrl-C in the terminal is for the host, which then ends its devices in order.
                start_new_session=sys.platform != "win32",
            )
        assert process.stdout is not None
        try:
            line = await asyncio.wait_for(process.stdout.readline(), START_SECONDS)
            ready = json.loads(line)
        except (TimeoutError, ValueError) as error:
            await _end(process)
            said = _last_words(spec.state / COMPLAINTS)
            raise DeviceError(
                f"the simulated {spec.kind} did not start: {said or 'it said nothing'}.",
                where=str(spec.state),
                next_step="Remove the directory if its content is damaged, or choose another data directory.",
                code="simulator",
            ) from error
        except asyncio.CancelledError:
            await _end(process)
            raise
        return cls(spec, process, ready)

    @property
    def running(self) -> bool:
        return self._process.returncode is None

    async def ended(self) -> int:
        """Wait until the child is gone, whatever the cause; its exit code."""
        return await self._process.wait()

    async def stop(self) -> dict[str, Any]:
        """End the child and return its summary (empty if it left none). Never raises."""
        await _end(self._process)
        summary = self.spec.state / "summary.json"
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(summary.read_text(encoding="utf-8"))
            if isinstance(found, dict):
                return found
        return {}

    def kill(self) -> None:
        """As if its power were cut; for tests."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()


def simulator_command(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "hwsim", *arguments]


def start_in_foreground(arguments: Sequence[str]) -> tuple[subprocess.Popen[bytes], dict[str, Any]]:
    """Start a simulated device for somebody who wants to connect to it; returns it with what it said when ready.

    Raises ConfigError when it does not understand the words, DeviceError when it ends for another reason.
    """
    process = subprocess.Popen(simulator_command(arguments), stdout=subprocess.PIPE)
    assert process.stdout is not None
    line = process.stdout.readline()
    try:
        ready = json.loads(line)
    except ValueError as error:
        kind: type[FirmwareBridgeError] = ConfigError if process.wait() == 2 else DeviceError
        raise kind(
            "the simulated device did not start.", next_step="The line above says why.", code="simulator"
        ) from error
    return process, ready


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close the child's stdin, wait, then insist."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), STOP_SECONDS)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _last_words(path: Path) -> str:
    with contextlib.suppress(OSError):
        lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else ""
    return ""
