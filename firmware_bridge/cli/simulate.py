"""``simulate``: one simulated device at its true pace, to which a host can be pointed as at real hardware."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import click

from firmware_bridge.cli.output import Outcome, command, progress
from firmware_bridge.errors import DeviceError, ExitStatus, FirmwareBridgeError


@click.group()
def simulate() -> None:
    """Run one simulated device; Ctrl-C ends it."""


def _common(function: Any) -> Any:
    for option in (
        click.option(
            "--link", type=click.Path(path_type=Path), help="Also make this symbolic link to the port (POSIX)."
        ),
        click.option("--listen", metavar="HOST:PORT", help="Listen on TCP instead of opening a pseudo-terminal."),
        click.option(
            "--state", type=click.Path(path_type=Path), help="Directory of its memory; a new one if left out."
        ),
        click.option(
            "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of all that is random."
        ),
        click.option(
            "--speed",
            type=click.Choice(["real", "demo", "line", "max"]),
            default="real",
            show_default=True,
            help="real: true timings; demo: shortened; line: only the baud rate; max: no pacing.",
        ),
        click.option("--baud", type=click.IntRange(300, 4_000_000), default=115200, show_default=True),
        click.option(
            "--evidence", type=click.Path(path_type=Path), help="Write what physically happens into this directory."
        ),
    ):
        function = option(function)
    return function


@simulate.command("dealing-machine")
@_common
@click.option("--profile", type=click.Choice(["fast", "camera", "diy"]), default="fast", show_default=True)
@click.option("--no-label-reader", is_flag=True, help="The operator must confirm each board's number by a key.")
@click.option("--sorted-pack", is_flag=True, help="The operator loads sorted packs: for `machine test`.")
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="KIND@CARD",
    help="Something that goes wrong at the CARD-th card, like jam@30 or unplug@60,for=2; may be repeated.",
)
@command("simulate dealing-machine")
def dealing_machine(
    profile: str, no_label_reader: bool, sorted_pack: bool, faults: tuple[str, ...], **common: Any
) -> Outcome:
    """A dealing machine with its pack of cards, its boards and its operator."""
    options = ["--profile", profile, *(["--no-label-reader"] if no_label_reader else [])]
    options += ["--sorted-pack"] if sorted_pack else []
    options += [word for fault in faults for word in ("--fault", fault)]
    return _run("machine", options, **common)


@simulate.command("base-station")
@_common
@click.option("--terminals", type=click.IntRange(1, 250), default=7, show_default=True, help="Tables with a terminal.")
@command("simulate base-station")
def base_station(terminals: int, **common: Any) -> Outcome:
    """A base station with its terminals and the players at the tables."""
    return _run("station", ["--terminals", str(terminals)], **common)


def _run(
    kind: str,
    options: list[str],
    *,
    link: Path | None,
    listen: str | None,
    state: Path | None,
    seed: int,
    speed: str,
    baud: int,
    evidence: Path | None,
) -> Outcome:
    from firmware_bridge.simulation.devices import start_in_foreground

    with contextlib.ExitStack() as stack:
        directory = state or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="firmware-bridge-")))
        arguments = [kind, "--line", f"tcp://{listen}" if listen else "pty", "--state", str(directory)]
        arguments += ["--seed", str(seed), "--speed", speed, "--baud", str(baud), *options]
        if link is not None:
            arguments += ["--link", str(link)]
        if evidence is not None:
            arguments += ["--evidence", str(evidence)]
        process, ready = start_in_foreground(arguments)
        try:
            progress(
                f"Ready at {ready['url']}" + (f" (also {link})" if link else "") + f", seed {seed}. Ctrl-C ends it."
            )
            code = process.wait()
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    return _ending(code, ready)


def _ending(code: int, ready: dict[str, Any]) -> Outcome:
    fields = {"url": ready["url"], "seed": ready.get("seed")}
    if code == 0:
        return Outcome(fields)
    if code in (130, -2):
        error = FirmwareBridgeError("stopped (interrupted).", code="interrupted", exit_status=ExitStatus.INTERRUPTED)
        return Outcome(fields, error=error)
    return Outcome(fields, error=DeviceError(f"the simulated device ended with code {code}.", code="simulator"))
