"""``results``: audit, convert, rule on and print result files; an evening on paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from firmware_bridge.cli.out_file import OutFile
from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.cli.results_combine import combine
from firmware_bridge.cli.results_paper import enter, slips
from firmware_bridge.cli.results_rule import rule
from firmware_bridge.cli.results_scale import carry_over_command, mismatch, vps
from firmware_bridge.cli.results_swiss import swiss
from firmware_bridge.errors import ConfigError, EntryError

if TYPE_CHECKING:
    from collections.abc import Callable

    from terminals.interop.exchange import ExchangeEvent
    from terminals.interop.several import Written


@click.group()
def results() -> None:
    """Audit, convert and print results; print and key in pick-up slips."""


@results.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Directory for the pages.")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory of the running service.")
@click.option("--language", default="en", show_default=True, help="Language of the pages, such as pl.")
@command("results publish")
def publish(out: Path, data: Path | None, language: str) -> Outcome:
    """Write the published results of a running service as static pages: ranking, travellers, scorecards."""
    from firmware_bridge.cli.td import Service
    from firmware_bridge.config import data_directory
    from firmware_bridge.web.publish import from_service

    written = from_service(Service(data_directory(data)).ask, out, language)
    return Outcome({"out": str(out), "pages": len(written)}, f"{len(written)} pages in {out}.")


@results.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--profile",
    metavar="NAME|FILE.toml",
    help="Check against this scoring profile only, in place of the one that explains the file best.",
)
@command("results audit")
def audit(file: Path, profile: str | None) -> Outcome:
    """Re-score a published USEBIO or PBN file from its table results and compare every published number.

    Ends with 0 when all are equal, with 1 when some differ.
    """
    from terminals.interop.audit import audit_event
    from terminals.interop.audit_report import audit_text
    from terminals.interop.result_files import read_events_file
    from terminals.scoring.profile_file import load_profile

    chosen = None if profile is None else load_profile(profile)
    events = read_events_file(file)
    try:
        reports = [audit_event(event, chosen) for event in events]
    except EntryError as error:
        if not error.where.startswith(str(file)):
            error.where = ", ".join(part for part in (str(file), error.where) if part)
        raise
    differences = None
    count = sum(len(one.score_mismatches) + len(one.points_mismatches) + len(one.total_mismatches) for one in reports)
    if count:
        differences = EntryError(
            f"{count} published number{'s differ' if count != 1 else ' differs'} from our own count.",
            where=str(file),
            code="differences",
        )
    text = "\n\n".join(audit_text(report, file.name) for report in reports)
    if len(reports) == 1:
        return Outcome({"file": str(file), **reports[0].as_dict()}, text, differences)
    told = [
        {"title": one.title, "kind": event.kind, **one.as_dict()} for one, event in zip(reports, events, strict=True)
    ]
    return Outcome({"file": str(file), "events": told}, text, differences)


WRITERS = {
    "usebio": ".xml",
    "pbn": ".pbn",
    "json": ".json",
    "csv": ".csv",
    "ranking-csv": ".csv",
    "bridgewebs": ".csv",
}


@results.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="File to write.")
@click.option("--to", "name", type=click.Choice(sorted(WRITERS)), help="Format; default: by the extension of --out.")
@click.option("--apart", is_flag=True, help="A file for each event of FILE, also where one could hold them all.")
@command("results convert")
def convert(file: Path, out: str, name: str | None, apart: bool) -> Outcome:
    """Write a result file in another format: USEBIO, PBN, JSON, CSV or for BridgeWebs.

    Of a file with several events, such as teams beside pairs, PBN and BridgeWebs give a file for each.
    """
    from dealer.files import write_file
    from terminals.interop.result_files import read_events_file

    suffix = Path(out).suffix.lower()
    chosen = name or next((key for key, extension in WRITERS.items() if extension == suffix), None)
    if chosen is None:
        raise ConfigError(
            f"The extension {suffix[:12]!r} names no result format.",
            where=f"--out {out}",
            next_step=f"Give --to: {', '.join(sorted(WRITERS))}.",
        )
    made = _written(read_events_file(file), chosen, out, apart)
    for one in made.files:
        write_file(one.name, one.content)
    count = sum(one.lines for one in made.files)
    files = [{"file": one.name, "kinds": list(one.kinds), "lines": one.lines} for one in made.files]
    fields = {"out": made.files[0].name, "format": chosen, "lines": count, "files": files}
    missing = None
    if made.left_out:
        fields["left_out"] = list(made.left_out)
        missing = EntryError(" ".join(made.left_out), where=str(file), code="not-exportable")
    if len(made.files) == 1 and made.files[0].name == out:
        return Outcome(fields, f"{count} results in {out} ({chosen}).", missing)
    return Outcome(fields, "\n".join(f"{one.words} ({chosen})." for one in made.files), missing)


def _written(events: list[ExchangeEvent], name: str, out: str, apart: bool) -> Written:
    from terminals.interop import bridgewebs, pbn_results_write, results_csv, results_json, several, usebio_write

    one_each: dict[str, Callable[[ExchangeEvent], bytes]] = {
        "usebio": usebio_write.write_usebio,
        "pbn": pbn_results_write.write_pbn_results,
        "json": results_json.write_results_json,
        "csv": results_csv.results_csv,
        "ranking-csv": results_csv.ranking_csv,
        "bridgewebs": bridgewebs.write_bridgewebs,
    }
    write = one_each[name]
    if apart or name in ("pbn", "bridgewebs"):
        return several.write_apart(events, out, write)
    return (several.write_listed if name.endswith("csv") else several.write_together)(events, out, write)


@results.command("print")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("what", type=click.Choice(["ranking", "travellers", "scorecards"]))
@click.option("--out", required=True, type=OutFile(".pdf"), help="PDF to write.")
@click.option("--paper", type=click.Choice(["a4", "letter"]), default="a4", show_default=True)
@command("results print")
def print_command(file: Path, what: str, out: str, paper: str) -> Outcome:
    """Print the ranking, the travellers or the scorecards of a result file, black and white."""
    from dealer.files import write_file
    from terminals.interop.print_results import ranking_pdf, scorecards_pdf, travellers_pdf
    from terminals.interop.result_files import read_events_file

    printer = {"ranking": ranking_pdf, "travellers": travellers_pdf, "scorecards": scorecards_pdf}[what]
    write_file(out, printer(*read_events_file(file), page=paper))
    verb = "is" if what == "ranking" else "are"
    return Outcome({"out": out, "printed": what}, f"The {what} {verb} in {out}.")


@results.command()
@click.argument("name", required=False)
@command("results profiles")
def profiles(name: str | None) -> Outcome:
    """List the scoring profiles, or show one with the source of each setting."""
    from terminals.scoring.profile_file import PROFILE_NAMES, load_profile, profile_as_dict

    if name is None:
        found = [load_profile(one) for one in PROFILE_NAMES]
        rows = [{"name": one.name, "version": one.version, "title": one.title} for one in found]
        return Outcome({"profiles": rows}, "\n".join(f"{one.name:<6} {one.title}" for one in found))
    profile = load_profile(name)
    tables = profile_as_dict(profile)
    lines = [f"{profile.name}, version {profile.version}: {profile.title} ({profile.ruleset})"]
    for section, settings in tables.items():
        if section != "profile" and isinstance(settings, dict):
            for key, one in settings.items():
                lines.append(f"  {section}.{key:<{32 - len(section)}} {one['value']!s:<14} {one['source']}")
    return Outcome({"profile": tables}, "\n".join(lines))


results.add_command(slips)
results.add_command(enter)
results.add_command(rule)
results.add_command(combine)
results.add_command(swiss)
results.add_command(vps)
results.add_command(carry_over_command)
results.add_command(mismatch)
