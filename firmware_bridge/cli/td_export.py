"""``td export``: a sheet or result file of the running event, or of an earlier one."""

from __future__ import annotations

from pathlib import Path, PurePath
from urllib.parse import quote

import click

from dealer.files import write_file
from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.cli.td import Service, td
from firmware_bridge.config import data_directory
from firmware_bridge.errors import ConfigError

KINDS = (
    *("ranking", "travellers", "scorecards", "hands", "usebio", "pbn", "json", "csv", "ranking-csv", "bridgewebs"),
    *("recorded-pbn", "recorded-json"),
)


@td.command("export")
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="File to write.")
@click.option("--event", default="", help="An earlier event, by its id; see td events.")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory of the service.")
@command("td export")
def export(kind: str, out: str, event: str, data: Path | None) -> Outcome:
    """Write a sheet or result file, as the desk does under End; also of an event that is over."""
    path = f"/setup/events/{quote(event, safe='')}/files/{kind}" if event else f"/files/{kind}"
    name, content = Service(data_directory(data)).file(path)
    wanted, given = PurePath(name).suffix, PurePath(out).suffix
    if given.lower() != wanted:
        raise ConfigError(
            f"this is a {wanted[1:]} file.",
            where=out,
            next_step=f"Call it {PurePath(out).with_suffix(wanted)}.",
            code="usage",
        )
    write_file(out, content)
    return Outcome({"out": out, "bytes": len(content)}, f"{name} is in {out}.")
