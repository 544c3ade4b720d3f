"""``machine``: how a dealing machine is doing, and what to clean before it stops a board."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.cli.running import run_async
from firmware_bridge.config import data_directory, ensure_directory
from firmware_bridge.errors import ConfigError


@click.group()
def machine() -> None:
    """Health of the dealing machines that made boards here."""


@machine.command("health")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory.")
@command("machine health")
def health(data: Path | None) -> Outcome:
    """Print the figures of each machine since it was cleaned, and warn before faults.

    Slower feeding means a dirty roller, a smaller margin dirty optics; packs and faces that are hard to read are worn.
    """
    reports = run_async(_reports(ensure_directory(data_directory(data))))
    fields = [_fields(report) for report in reports]
    text = "\n\n".join(_text(report) for report in reports) or "No machine has dealt a board here yet."
    return Outcome({"machines": fields}, text)


@machine.command("cleaned")
@click.argument("machine_id", required=False)
@click.option("--data", type=click.Path(path_type=Path), help="Data directory.")
@command("machine cleaned")
def cleaned(machine_id: str | None, data: Path | None) -> Outcome:
    """Say that rollers and optics have been cleaned: drifts count from now. MACHINE_ID where there are several."""
    chosen = run_async(_clean(ensure_directory(data_directory(data)), machine_id))
    return Outcome({"machine": chosen}, f"Machine {chosen}: counting from now.")


@machine.command("test")
@click.option("--machine", "url", help="Device URL of the dealing machine.")
@click.option("--packs", type=click.IntRange(1, 1000), default=1, show_default=True, help="Packs to deal.")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory.")
@command("machine test")
def test(url: str | None, packs: int, data: Path | None) -> Outcome:
    """Deal sorted packs (spade ace first, two of clubs last) and print which cards are taken for which.

    Nothing of it is kept; spades go to North, hearts to East, diamonds to South, clubs to West.
    """
    from firmware_bridge.config import load_config
    from firmware_bridge.errors import DeviceError
    from firmware_bridge.service.host import host_identity
    from firmware_bridge.service.trying import deal_sorted_packs

    directory = data_directory(data)
    url = url or load_config(directory).machine
    if not url:
        raise ConfigError("no dealing machine is named.", next_step="Name it with --machine URL; see: devices.")
    matrix = run_async(deal_sorted_packs(url, host_identity(ensure_directory(directory)), packs))
    fields = {
        "packs": matrix.packs,
        "cards": matrix.cards,
        "right": matrix.right,
        "misplaced": matrix.misplaced,
        "lowest_margin": matrix.lowest_margin,
        "confusions": [{"came": one.came, "read": one.read, "times": one.times} for one in matrix.confusions()],
    }
    error = None
    if matrix.shifted():
        error = DeviceError(
            "most cards differ from a sorted pack.",
            where=url,
            next_step="Sort the pack: spades, hearts, diamonds, clubs, each from the ace down; then test again.",
            code="pack-not-sorted",
        )
    elif matrix.right < 52 * packs or matrix.misplaced:
        error = DeviceError(
            f"{52 * packs - matrix.right} of {52 * packs} cards were not read as what they are.",
            where=url,
            next_step="Clean reader and rollers; replace cards that stand out.",
            code="misread",
        )
    return Outcome(fields, "\n".join(matrix.rows()), error=error)


async def _reports(directory: Path) -> list[Any]:
    from dealer.health import assess
    from dealer.store.health import HealthStore
    from dealer.store.journal import Journal
    from dealer.store.schema import DEALING_DB

    journal = Journal.open(directory / DEALING_DB)
    try:
        store = HealthStore(journal)
        return [
            assess(history, await store.card_troubles(machine_id))
            for machine_id in await store.machines()
            if (history := await store.history(machine_id))
        ]
    finally:
        journal.close()


async def _clean(directory: Path, machine_id: str | None) -> str:
    from dealer.store.health import HealthStore
    from dealer.store.journal import Journal
    from dealer.store.schema import DEALING_DB

    journal = Journal.open(directory / DEALING_DB)
    try:
        store = HealthStore(journal)
        known = await store.machines()
        chosen = machine_id or (known[0] if len(known) == 1 else None)
        if chosen is None or chosen not in known:
            raise ConfigError(
                "say which machine was cleaned." if chosen is None else f"no machine {chosen} has dealt here.",
                next_step=f"Known: {', '.join(known) or 'none'}.",
                code="machine-unknown",
            )
        await store.cleaned(chosen)
        return chosen
    finally:
        journal.close()


def _fields(report: Any) -> dict[str, Any]:
    return {
        "machine": report.machine_id,
        "attempts": report.attempts,
        "cards": report.cards,
        "feed_ms": round(report.feed_ms, 3),
        "feed_drift": round(report.feed_drift, 5),
        "margin": round(report.margin, 3),
        "margin_drift": round(report.margin_drift, 5),
        "false_reads_per_100_packs": round(report.per_100_packs, 4),
        "troubles": report.troubles,
        "warnings": [{"code": one.code, "text": one.text} for one in report.warnings],
    }


def _text(report: Any) -> str:
    rows = report.rows()
    width = max(len(name) for name, _ in rows)
    lines = [f"Machine {report.machine_id}", *(f"  {name:<{width}}  {value}" for name, value in rows)]
    for name, plot in (("feed time", report.plot_feed), ("margin", report.plot_margin)):
        if plot:
            lines.append(f"  {name:<{width}}  {plot}")
    lines += [f"  ! {one.text}" for one in report.warnings] or ["  Nothing announces itself."]
    return "\n".join(lines)
