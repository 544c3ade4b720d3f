"""``duplicate``: make the boards of a deal file on a dealing machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.cli.running import run_async
from firmware_bridge.config import PACKS, data_directory, ensure_directory, load_config
from firmware_bridge.errors import ConfigError, DeviceError


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--machine", "url", help="Device URL of the dealing machine, like serial:///dev/ttyUSB0.")
@click.option("--assistant", is_flag=True, help="Without a machine: you put each card on the pile that is said.")
@click.option("--codes", type=click.Path(path_type=Path), help="With --assistant: CSV of barcodes and cards.")
@click.option("--reader", metavar="MODULE:CALLABLE", help="With --assistant: a camera; Enter looks at the next card.")
@click.option("--boards", help="Only these boards, like 1-8,12. All boards of the file if left out.")
@click.option("--copies", type=click.IntRange(1, 99), default=1, show_default=True, help="Copies of each board.")
@click.option(
    "--order", type=click.Choice(["by-board", "by-copy", "descending"]), default="by-board", show_default=True
)
@click.option(
    "--packs",
    type=click.Choice(PACKS),
    help="Where the machine sees the backs: red packs for odd boards, blue for even ones (the default), or any pack.",
)
@click.option("--redo", is_flag=True, help="Make boards again that are made already.")
@click.option("--redo-unconfirmed", is_flag=True, help="Make boards again whose number nobody confirmed.")
@click.option("--show-cards", is_flag=True, help="Name cards on stops; for those who don't play. Put on record.")
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
    assistant: bool,
    codes: Path | None,
    reader: str | None,
    boards: str | None,
    copies: int,
    order: str,
    packs: str | None,
    redo: bool,
    redo_unconfirmed: bool,
    show_cards: bool,
    patience: float,
    data: Path | None,
    evidence: Path | None,
) -> Outcome:
    """Make the boards of FILE on a dealing machine, one after the other.

    Boards that the journal knows as good are not made again; after any interruption the same command goes on.
    No card is shown: who deals may play the boards.
    """
    from dealer.duplication.job import JobOptions
    from dealer.duplication.options import PackRule
    from dealer.generate import parse_numbers
    from firmware_bridge.cli.deal_seal import open_deals
    from firmware_bridge.cli.evening_view import choose_view
    from firmware_bridge.cli.keys import EnterKey
    from firmware_bridge.service.dealing import make_boards, shortfall
    from firmware_bridge.service.evidence import prepare_evidence
    from firmware_bridge.service.host import host_identity
    from firmware_bridge.service.logfile import close_log, open_log
    from firmware_bridge.service.reading import record_showing

    deals = open_deals(file)
    good = deals.require_good(str(file))
    subset = None if boards is None else parse_numbers(boards)
    directory = data_directory(data)
    url = url or load_config(directory).machine
    if assistant and (codes or reader) is None and sys.stdin is None:
        raise ConfigError("nobody can type cards here.", next_step="Start it in a terminal.")
    if not assistant and not url:
        raise ConfigError(
            "no dealing machine is named.",
            next_step="Name it with --machine URL (see: devices), or use --assistant to sort by hand.",
        )
    machine, keyboard = _by_hand(codes, reader) if assistant else (url, EnterKey())
    ensure_directory(directory)
    if evidence is not None:
        prepare_evidence(evidence, deals.set_id or file.name)
    if show_cards:
        record_showing(directory, "duplicate --show-cards", str(file))
    options = JobOptions(
        reconnect_s=0.1 if assistant else patience,
        silence_s=3600.0 if assistant else JobOptions().silence_s,
        redo=redo,
        redo_unconfirmed=redo_unconfirmed,
        show_cards=show_cards,
        packs=PackRule(packs or load_config(directory).packs),
    )
    view = choose_view(quiet=assistant, enter=sys.stdin is not None and sys.stdin.isatty())
    log = open_log(directory)
    try:
        summary = run_async(
            make_boards(
                machine,
                directory,
                host_identity(directory),
                good,
                set_id=deals.set_id or None,
                copies=copies,
                order=order,
                subset=subset,
                on_progress=view,
                on_job=keyboard.listen,
                options=options,
                evidence=evidence,
            )
        )
    except DeviceError as error:
        if assistant and error.code == "machine-lost":
            raise DeviceError(
                "nobody names cards any more.",
                where="--assistant",
                next_step="Start the same command again: the board in work is begun anew, the others are kept.",
                code="input-ended",
            ) from None
        raise
    finally:
        keyboard.close()
        view.close()
        close_log(log)
    text = f"{summary.copies_good} of {summary.planned} boards are good."
    return Outcome(summary.as_dict(), text, error=shortfall(summary))


def _by_hand(codes: Path | None, reader: str | None) -> tuple[Any, Any]:
    """The sorting assistant as a machine, and the keyboard that feeds it."""
    from firmware_bridge.cli.assistant import Keyboard, load_reader, read_codes
    from firmware_bridge.clock import SystemClock

    hands = Keyboard({} if codes is None else read_codes(codes), None if reader is None else load_reader(reader))

    class Listener:
        def listen(self, job: Any) -> None:
            hands.confirm = job.confirm

        def close(self) -> None:
            pass

    return hands.machine(SystemClock()), Listener()
