"""What every command keeps: progress on stderr, one JSON object as the last line of stdout, exit codes.

A command is a function that returns an ``Outcome`` or raises a ``FirmwareBridgeError``; ``command`` wraps it for click.
This module is on the path of ``deal generate``, which must start fast: click and the standard library only.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import click

from firmware_bridge.errors import ExitStatus, FirmwareBridgeError

SCHEMA = 1
RETRY = "Correct what is named here, then start the same command again."


def many(count: int, noun: str) -> str:
    """A count and what is counted: "1 board", "2 boards"."""
    return f"{count} {noun}{'s' if count != 1 else ''}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command ends with.

    fields: the command's own keys of the JSON object. text: what a person reads on stdout, "" for nothing more.
    error: set when the run gave something but fell short; its exit status becomes the command's.
    """

    fields: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    error: FirmwareBridgeError | None = None


def progress(text: str) -> None:
    """One line for the person who waits; stderr, so that stdout stays clean."""
    click.echo(text, err=True)


def report(name: str, outcome: Outcome, as_json: bool) -> int:
    """Print an outcome; returns the exit code."""
    error = outcome.error
    if error is not None:
        report_error_text(error)
    if as_json:
        payload: dict[str, Any] = {"ok": error is None, "command": name, "schema": SCHEMA, **outcome.fields}
        if error is not None:
            payload["error"] = complete(error, name)
        # ASCII, so that a name survives whatever encoding the terminal or pipe has.
        click.echo(json.dumps(payload))
    elif outcome.text:
        click.echo(outcome.text)
    if sys.stdout is not None:
        sys.stdout.flush()
    return int(ExitStatus.OK if error is None else error.exit_status)


def complete(error: FirmwareBridgeError, name: str) -> dict[str, str]:
    """The error object of a command; where and next are never empty: the least to say is the command and its help."""
    told = error.as_dict()
    told["where"] = told["where"] or ("firmware-bridge" if name == "firmware-bridge" else f"firmware-bridge {name}")
    if not told["next"]:
        told["next"] = f"See: {told['where']} --help" if error.exit_status == ExitStatus.USAGE else RETRY
    return told


def report_error_text(error: FirmwareBridgeError) -> None:
    where = f"{error.where}: " if error.where else ""
    click.echo(f"Error: {where}{error.what}", err=True)
    if error.next_step:
        click.echo(f"  {error.next_step}", err=True)


def command(name: str, *, json_option: bool = True) -> Callable[[Callable[..., Outcome]], Callable[..., int]]:
    """Decorator: prints the Outcome of the wrapped function and returns its exit code. Adds ``--json``."""

    def decorate(function: Callable[..., Outcome]) -> Callable[..., int]:
        @functools.wraps(function)
        def wrapper(*args: Any, as_json: bool = False, **kwargs: Any) -> int:
            return report(name, function(*args, **kwargs), as_json)

        if not json_option:
            return wrapper
        return click.option(
            "--json", "as_json", is_flag=True, help="End with one JSON object on the last line of stdout."
        )(wrapper)

    return decorate
