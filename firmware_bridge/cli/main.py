"""The ``firmware-bridge`` command: finds the subcommand, loads only its module, turns every ending into an exit code.

Modules of subcommands are imported when they are called, so that ``deal generate`` never waits for a web framework.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Any

import click

from firmware_bridge.cli.output import Outcome, report
from firmware_bridge.errors import ConfigError, ExitStatus, FirmwareBridgeError, StoreError

COMMANDS: dict[str, tuple[str, str]] = {
    "evening": ("firmware_bridge.cli.evening:evening", "Run a whole club evening: deal, play, rank."),
    "deal": ("firmware_bridge.cli.deal:deal", "Generate, verify, convert, print and audit deals."),
    "duplicate": ("firmware_bridge.cli.duplicate:duplicate", "Make boards on a dealing machine."),
    "machine": ("firmware_bridge.cli.machine:machine", "Health of the dealing machines; a test of their packs."),
    "read": ("firmware_bridge.cli.read:read", "Read boards: learn hand-dealt ones, or compare after play."),
    "restore": ("firmware_bridge.cli.restore:restore", "Show where each card of a board belongs."),
    "serve": (
        "firmware_bridge.cli.serve:serve",
        "Collect results from terminals and phones; serve the pages.",
    ),
    "td": ("firmware_bridge.cli.td:td", "The director's commands to a running service."),
    "db": ("firmware_bridge.cli.db:db", "Check, back up, export and rebuild the database of results."),
    "simulate": ("firmware_bridge.cli.simulate:simulate", "Run a simulated device at its true pace."),
    "devices": ("firmware_bridge.cli.devices:devices", "List ports and ask devices who they are."),
    "movement": ("firmware_bridge.cli.movement:movement", "Propose, verify and show movements."),
    "results": (
        "firmware_bridge.cli.results:results",
        "Score, audit, convert and print results; key in slips.",
    ),
    "soak": ("firmware_bridge.cli.soak:soak", "Run long simulations that try to break the promises."),
}


class Terminated(BaseException):
    """SIGTERM arrived; raised in the main thread so that every ``finally`` runs."""


class LazyGroup(click.Group):
    """Lists its commands from a table and imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name, (target, _) in COMMANDS.items() if _exists(target)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None or not _exists(entry[0]):
            return None
        module, _, attribute = entry[0].partition(":")
        found: Any = getattr(importlib.import_module(module), attribute)
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, COMMANDS[name][1]) for name in self.list_commands(ctx)]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def _exists(target: str) -> bool:
    module = target.partition(":")[0].rpartition(".")[2]
    return os.path.exists(os.path.join(os.path.dirname(__file__), module + ".py"))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="firmware-bridge", prog_name="firmware-bridge")
def cli() -> None:
    """Runs a bridge club's hardware: deals boards on a dealing machine and collects results from the tables."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line. Returns the exit code, and never lets a traceback out."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(arguments)
    except (OSError, ValueError):
        # Stdout is closed, full, or its reader has gone (``| head``): there is nobody left to tell.
        with contextlib.suppress(Exception):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return int(ExitStatus.FAILED)


def _run(arguments: Sequence[str]) -> int:
    as_json = "--json" in arguments
    name = _command_name(arguments)
    previous = _catch_signals()
    try:
        code = cli.main(args=list(arguments), prog_name="firmware-bridge", standalone_mode=False)
        return code if isinstance(code, int) else int(ExitStatus.OK)
    except FirmwareBridgeError as error:
        return report(name, Outcome(error=error), as_json)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return int(ExitStatus.USAGE)
    except click.UsageError as error:
        return report(name, Outcome(error=_usage(error)), as_json)
    except click.exceptions.Exit as error:
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return report(name, Outcome(error=_stopped("interrupted", ExitStatus.INTERRUPTED)), as_json)
    except Terminated:
        return report(name, Outcome(error=_stopped("terminated", ExitStatus.TERMINATED)), as_json)
    except BrokenPipeError:
        raise
    except OSError as error:
        return report(name, Outcome(error=_os_error(error)), as_json)
    except Exception as error:  # the last net: a fault of ours, told without the values that might be cards
        return report(name, Outcome(error=_internal(error)), as_json)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _command_name(arguments: Sequence[str]) -> str:
    """The words before the first option, as far as they name commands: "deal verify"."""
    words: list[str] = []
    for argument in arguments:
        if argument.startswith("-") or len(words) == 2:
            break
        if words and words[0] not in {"deal", "simulate", "movement", "results", "soak", "machine", "td", "db"}:
            break
        words.append(argument)
    return " ".join(words) or "firmware-bridge"


def _catch_signals() -> dict[int, Any]:
    """Ctrl-C and SIGTERM raise what they mean, but not while a module is loaded or an event loop is made. Returns the
    handlers before.

    There the interpreter swallows exceptions or makes others of them, or a loop that is half made complains when it is
    thrown away; so the signal comes again a little later.
    """

    def on_signal(number: int, frame: FrameType | None) -> None:
        if _is_at_work(frame):
            again = threading.Timer(0.02, _raise_in_main_thread, (number,))
            again.daemon = True
            again.start()
            return
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated

    before: dict[int, Any] = {}
    with contextlib.suppress(ValueError):  # not in the main thread: an embedding program owns the signals
        before[signal.SIGTERM] = signal.signal(signal.SIGTERM, on_signal)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            before[signal.SIGINT] = signal.signal(signal.SIGINT, on_signal)
    return before


def _raise_in_main_thread(number: int) -> None:
    # Raised in the timer's own thread it would not wake a main thread that sleeps or waits for a key.
    ident = threading.main_thread().ident
    if sys.platform == "win32" or ident is None:
        signal.raise_signal(number)
    else:
        signal.pthread_kill(ident, number)


def _is_at_work(frame: FrameType | None) -> bool:
    """True inside of what must not be cut short."""
    while frame is not None:
        code = frame.f_code
        makes_loop = code.co_name == "_lazy_init" and code.co_filename.endswith("runners.py")
        if makes_loop or code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _usage(error: click.UsageError) -> ConfigError:
    path = error.ctx.command_path if error.ctx else "firmware-bridge"
    return ConfigError(error.format_message(), where=path, next_step=f"See: {path} --help", code="usage")


def _stopped(word: str, status: ExitStatus) -> FirmwareBridgeError:
    return FirmwareBridgeError(
        f"stopped ({word}); what was committed is kept.",
        next_step="Start the same command with the same --data to go on.",
        code=word,
        exit_status=status,
    )


def _os_error(error: OSError) -> StoreError:
    return StoreError(
        f"the system reports: {error.strerror or type(error).__name__}.",
        where=str(error.filename or ""),
        next_step="Check the disk and its permissions, then start the same command again.",
        code="system",
    )


def _internal(error: Exception) -> FirmwareBridgeError:
    import traceback

    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(frame.filename)} line {frame.lineno}"
    return FirmwareBridgeError(
        f"a fault of this program: {type(error).__name__} in {place}.",
        next_step="Please report it with this line and the command; nothing that was committed is lost.",
        code="internal",
    )
