"""``machine``: how a dealing machine is doing, and what to clean before it stops a board."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dealer.cards import card_name
from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.cli.running import run_async
from firmware_bridge.config import data_directory, ensure_directory
from firmware_bridge.errors import ConfigError, DeviceError, FirmwareBridgeError

MAX_COLUMNS = 13
"""A confusion matrix with more columns does not fit a terminal; it is printed as a list."""


@click.group()
def machine() -> None:
    """Health of the dealing machines that made boards here."""


@machine.command("health")
@click.option("--show-cards", is_flag=True, help="Name the faces that were hard to read; this is put on record.")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory.")
@command("machine health")
def health(show_cards: bool, data: Path | None) -> Outcome:
    """Print the figures of each machine since it was cleaned, and warn before faults.

    Slower feeding means a dirty roller, a smaller margin dirty optics; packs and faces that are hard to read are worn.
    """
    directory = ensure_directory(data_directory(data))
    if show_cards:
        from firmware_bridge.service.reading import record_showing

        record_showing(directory, "machine health --show-cards", "")
    reports = run_async(_reports(directory))
    fields = [{**_fields(report), **(_faces(worn) if show_cards else {})} for report, worn in reports]
    texts = [_text(report) + (_faces_text(worn) if show_cards else "") for report, worn in reports]
    return Outcome({"machines": fields}, "\n\n".join(texts) or "No machine has dealt a board here yet.")


def _faces(worn: Any) -> dict[str, Any]:
    return {"cards": [{"card": card_name(face), "times": times} for face, times in worn.most_common()]}


def _faces_text(worn: Any) -> str:
    named = ", ".join(f"{card_name(face)} {times}" for face, times in worn.most_common(12))
    return f"\n  hard to read, over all packs: {named or 'none'}"


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

    Nothing of it is kept. The cards go in turn to North, East, South and West.
    """
    from firmware_bridge.cli.evening_view import choose_view
    from firmware_bridge.config import load_config
    from firmware_bridge.service.dealing import try_machine
    from firmware_bridge.service.host import host_identity

    directory = data_directory(data)
    url = url or load_config(directory).machine
    if not url:
        raise ConfigError("no dealing machine is named.", next_step="Name it with --machine URL; see: devices.")
    view = choose_view()
    try:
        found = run_async(try_machine(url, host_identity(ensure_directory(directory)), packs, on_progress=view))
    finally:
        view.close()
    fields = {
        "packs": found.packs,
        "cards": found.cards,
        "right": found.right,
        "unread": found.unread,
        "wrong_pockets": found.wrong_pockets,
        "stopped": found.stopped,
        "stops": found.stops,
        "confusions": [{"came": came, "read": read, "times": times} for came, read, times in found.rows()],
        "weakest": [{"card": card_name(card), "margin": margin} for card, margin in found.weakest],
    }
    return Outcome(fields, _confusion_text(found), error=_test_error(found, url))


def _test_error(found: Any, url: str) -> FirmwareBridgeError | None:
    if found.passed:
        return None
    if found.right * 2 < found.cards:
        return DeviceError(
            "most cards differ from a sorted pack.",
            where=url,
            next_step="Sort the pack: spades, hearts, diamonds, clubs, each from the ace down; then test again.",
            code="pack-not-sorted",
        )
    words = f"{found.cards - found.right} of {found.cards} cards were not read as what they are"
    words += f", {found.wrong_pockets} went to another pocket" if found.wrong_pockets else ""
    words += f", {found.stopped} of {found.packs} packs were stopped" if found.stopped else ""
    return DeviceError(
        f"{words}.", where=url, next_step="Clean reader and rollers; replace cards that stand out.", code="test-failed"
    )


def _confusion_text(found: Any) -> str:
    lines = [f"{found.right} of {found.cards} cards read as what they are, {found.unread} not read."]
    matrix = found.matrix()
    if matrix and len(matrix[0]) <= MAX_COLUMNS:
        lines.append("  What came (left) and what it was read as (above); - is a card that was not read:")
        lines += ["  " + " ".join(f"{cell:>5}" for cell in row) for row in matrix]
    else:
        lines += [f"  {came} read as {read}: {times}" for came, read, times in found.rows()]
    lines += [f"  stopped, {why}: {times}" for why, times in sorted(found.stops.items())]
    if found.weakest:
        lines.append(
            "Lowest margins: " + ", ".join(f"{card_name(card)} {margin:.0f}" for card, margin in found.weakest)
        )
    return "\n".join(lines)


async def _reports(directory: Path) -> list[tuple[Any, Any]]:
    from dealer.health import assess
    from dealer.store.health import HealthStore
    from dealer.store.journal import Journal
    from dealer.store.schema import DEALING_DB

    journal = Journal.open(directory / DEALING_DB)
    try:
        store = HealthStore(journal)
        found = []
        for machine_id in await store.machines():
            history, worn = await store.history(machine_id), await store.card_troubles(machine_id)
            if history:
                found.append((assess(history, worn), worn))
        return found
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
        "false_reads_odd": report.reads_odd,
        "false_reads_even": report.reads_even,
        "retries_per_100_packs": round(report.retries_per_100_packs, 4),
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
