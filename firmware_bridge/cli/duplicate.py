"""``duplicate``: make the boards of a deal file on a dealing machine."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.cli.running import run_async
from firmware_bridge.config import data_directory, ensure_directory, load_config
from firmware_bridge.errors import ConfigError


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--machine", "url", help="Device URL of the dealing machine, like serial:///dev/ttyUSB0.")
@click.option("--boards", help="Only these boards, like 1-8,12. All boards of the file if left out.")
@click.option("--copies", type=click.IntRange(1, 99), default=1, show_default=True, help="Copies of each board.")
@click.option(
    "--order", type=click.Choice(["by-board", "by-copy", "descending"]), default="by-board", show_default=True
)
@click.option(
    "--patience",
    type=click.FloatRange(1, 3600),
    default=60.0,
    show_default=True,
    help="Seconds to wait for a lost machine.",
)
@click.option("--data", type=click.Path(path_type=Path), help="Data directory, with the journal of boards made.")
@click.option("--evidence", type=click.Path(path_type=Path), help="Write what the job claims into this new directory.")
@command("duplicate")
def duplicate(
    file: Path,
    url: str | None,
    boards: str | None,
    copies: int,
    order: str,
    patience: float,
    data: Path | None,
    evidence: Path | None,
) -> Outcome:
    """Make the boards of FILE on a dealing machine, one after the other.

    Boards that the journal knows as good are not made again; after any interruption the same command goes on.
    No card is shown: who deals may play the boards.
    """
    from dealer.duplication.job import JobOptions
    from dealer.formats.api import read_deal_file
    from dealer.generate import parse_numbers
    from firmware_bridge.cli.evening_view import choose_view
    from firmware_bridge.service.dealing import make_boards, shortfall
    from firmware_bridge.service.evidence import prepare_evidence
    from firmware_bridge.service.host import host_identity
    from firmware_bridge.service.logfile import close_log, open_log

    deals = read_deal_file(file)
    good = deals.require_good(str(file))
    subset = None if boards is None else parse_numbers(boards)
    directory = data_directory(data)
    url = url or load_config(directory).machine
    if not url:
        raise ConfigError("no dealing machine is named.", next_step="Name it with --machine URL; see: devices.")
    ensure_directory(directory)
    if evidence is not None:
        prepare_evidence(evidence, deals.set_id or file.name)
    view = choose_view()
    log = open_log(directory)
    try:
        with _keyboard() as keyboard:
            summary = run_async(
                make_boards(
                    url,
                    directory,
                    host_identity(directory),
                    good,
                    set_id=deals.set_id or None,
                    copies=copies,
                    order=order,
                    subset=subset,
                    on_progress=view,
                    on_job=keyboard.listen,
                    options=JobOptions(reconnect_s=patience),
                    evidence=evidence,
                )
            )
    finally:
        view.close()
        close_log(log)
    text = f"{summary.copies_good} of {summary.planned} boards are good."
    return Outcome(summary.as_dict(), text, error=shortfall(summary))


class _Keyboard:
    """Enter at the host's keyboard confirms the number of the board that is in the machine."""

    def __init__(self) -> None:
        self._fd: int | None = None

    def listen(self, job: object) -> None:
        if not sys.stdin or not sys.stdin.isatty():
            return
        confirm = job.confirm  # type: ignore[attr-defined]

        def on_key() -> None:
            sys.stdin.readline()
            confirm()

        with contextlib.suppress(NotImplementedError):  # Windows loops can't watch the console; the machine's key can
            asyncio.get_running_loop().add_reader(sys.stdin.fileno(), on_key)
            self._fd = sys.stdin.fileno()


@contextlib.contextmanager
def _keyboard() -> Iterator[_Keyboard]:
    yield _Keyboard()
