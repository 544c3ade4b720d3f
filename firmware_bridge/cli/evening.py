"""``evening``: a whole club evening, on real devices or on simulated ones."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from firmware_bridge.cli.output import Outcome, command, progress
from firmware_bridge.cli.running import run_async
from firmware_bridge.config import PACKS, data_directory, ensure_directory, load_config
from firmware_bridge.errors import ConfigError


@click.command()
@click.option("--simulate", is_flag=True, help="Start simulated devices instead of using real ones.")
@click.option("--machine", "machine_url", help="Device URL of the dealing machine.")
@click.option("--station", "station_urls", multiple=True, help="Device URL of a base station; may be repeated.")
@click.option("--pairs", type=click.IntRange(3, 400), help="Pairs that play; 13 if nothing is said.")
@click.option("--tables", type=click.IntRange(2, 200), help="Tables; half the pairs if left out.")
@click.option("--boards", type=click.IntRange(2, 99), help="Boards; 28 or what fits the tables if left out.")
@click.option("--copies", type=click.IntRange(1, 9), help="Copies of each board; what the movement needs if left out.")
@click.option("--packs", type=click.Choice(PACKS), help="Red packs for odd boards, blue for even ones; or any pack.")
@click.option("--deals", type=click.Path(path_type=Path), help="Play the boards of this deal file.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="With --simulate: seed of deals and players.")
@click.option(
    "--speed",
    type=click.Choice(["real", "demo", "line", "max"]),
    help="With --simulate: true timings, shortened ones (the default), only the line's pace, or no pacing.",
)
@click.option("--baud", type=click.IntRange(300, 4_000_000), default=115200, show_default=True, help="Simulated lines.")
@click.option(
    "--patience",
    type=click.FloatRange(1, 3600),
    default=60.0,
    show_default=True,
    help="Seconds to wait for a device that is lost, or a base station that is not there yet.",
)
@click.option("--data", type=click.Path(path_type=Path), help="Data directory; the same one resumes the evening.")
@click.option("--evidence", type=click.Path(path_type=Path), help="Write evidence of the run into this new directory.")
@command("evening")
def evening(
    simulate: bool,
    machine_url: str | None,
    station_urls: tuple[str, ...],
    pairs: int | None,
    tables: int | None,
    boards: int | None,
    copies: int | None,
    packs: str | None,
    deals: Path | None,
    seed: int | None,
    speed: str | None,
    baud: int,
    patience: float,
    data: Path | None,
    evidence: Path | None,
) -> Outcome:
    """Make the boards, collect the results, rank: one whole evening.

    Without flags 13 pairs play 28 boards at 7 tables. The same --data goes on with an evening that was interrupted.
    """
    from firmware_bridge.service.evening_plan import EveningRequest

    request = EveningRequest(pairs, tables, boards, copies, seed, deals, simulate)
    if simulate:
        if machine_url or station_urls or packs:
            raise ConfigError(
                "--simulate brings its own devices and packs.",
                next_step="Leave out either --simulate or the device URLs and --packs.",
                code="usage",
            )
        return _simulated(request, speed or "demo", baud, data, evidence)
    if seed is not None or speed is not None:
        raise ConfigError(
            "--seed and --speed belong to --simulate.",
            next_step="Real deals are never made from a seed: whoever knows it knows the cards.",
            code="usage",
        )
    return _real(request, machine_url, station_urls, packs, patience, data, evidence)


def _simulated(request: Any, speed: str, baud: int, data: Path | None, evidence: Path | None) -> Outcome:
    from firmware_bridge.service.ranking import rankings_text
    from firmware_bridge.simulation.evening import run

    with _directory(data) as directory, _watched(directory) as view:
        ended = run_async(run(directory, request, speed, on_event=view, evidence=evidence, baud=baud))
    if data is None:
        ended.fields["data"] = None  # it is gone already
    text = rankings_text(ended.rankings)
    if speed == "max":
        text += "\n\n" + _times_text(ended.fields["seconds"])
    return Outcome(ended.fields, text, error=ended.error)


def _real(
    request: Any,
    machine_url: str | None,
    station_urls: tuple[str, ...],
    packs: str | None,
    patience: float,
    data: Path | None,
    evidence: Path | None,
) -> Outcome:
    from firmware_bridge.service.ranking import rankings_text

    directory = data_directory(data)
    config = load_config(directory)
    machine_url = machine_url or config.machine
    station_urls = station_urls or config.stations
    if not machine_url or not station_urls:
        raise ConfigError(
            "no devices are named." if not machine_url and not station_urls else "a device is not named.",
            next_step="Name them with --machine URL and --station URL, or use --simulate.",
            code="usage",
        )
    with _watched(ensure_directory(directory)) as view:
        fields, rankings, error = run_async(
            _on_devices(request, directory, machine_url, station_urls, packs or config.packs, patience, view, evidence)
        )
    return Outcome(fields, rankings_text(rankings), error=error)


async def _on_devices(
    request: Any,
    directory: Path,
    machine_url: str,
    station_urls: tuple[str, ...],
    packs: str,
    patience: float,
    view: Any,
    evidence: Path | None,
) -> tuple[dict[str, Any], Any, Any]:
    from drivers.registry import check_url
    from firmware_bridge.service import evening as service
    from firmware_bridge.service.dealing import shortfall
    from firmware_bridge.service.evidence import prepare_evidence
    from firmware_bridge.service.host import host_identity
    from firmware_bridge.service.ownership import owned
    from firmware_bridge.service.ranking import rankings_json

    for url in (machine_url, *station_urls):
        check_url(url)
    with owned(directory):
        watch = service.Stopwatch()
        decided = service.prepare(directory, request)
        if evidence is not None:
            prepare_evidence(evidence, f"{decided.plan.event_id:016x}")
        service.announce(decided, view)
        host = host_identity(directory)
        dealt = await service.deal(
            decided,
            directory,
            machine_url,
            host,
            watch,
            on_event=view,
            evidence=evidence,
            patience_s=patience,
            packs=packs,
        )
        outcome = await service.play(
            decided, directory, station_urls, host, watch, on_event=view, evidence=evidence, patience_s=patience
        )
    fields = {
        "simulated": False,
        "data": str(directory),
        **service.summary_fields(decided, dealt, outcome),
        # What a terminal's screen showed is known to its players only.
        "lost": None,
        "duplicated": outcome.duplicated,
        "rankings": rankings_json(outcome.rankings),
        "seconds": watch.rounded(),
    }
    return fields, outcome.rankings, shortfall(dealt)


@contextlib.contextmanager
def _directory(data: Path | None) -> Iterator[Path]:
    """The data directory of a simulated evening: the one that is named, else a fresh one that goes away again."""
    from firmware_bridge.service.ownership import owned

    with contextlib.ExitStack() as stack:
        if data is None:
            path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="firmware-bridge-")))
            progress("The data of this evening is temporary; give --data DIR to keep it.")
        else:
            path = ensure_directory(data_directory(data))
        stack.enter_context(owned(path))
        yield path


@contextlib.contextmanager
def _watched(directory: Path) -> Iterator[Any]:
    from firmware_bridge.cli.evening_view import choose_view
    from firmware_bridge.service.logfile import close_log, open_log

    log = open_log(directory)
    view = choose_view()
    try:
        yield view
    finally:
        view.close()
        close_log(log)


def _times_text(seconds: dict[str, float]) -> str:
    rows = [f"  {value:8.3f} s  {stage}" for stage, value in seconds.items()]
    return "\n".join(["Where the time went", *rows])
