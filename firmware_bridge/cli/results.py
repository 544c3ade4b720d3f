"""``results``: look at result files that were published."""

from __future__ import annotations

from pathlib import Path

import click

from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.errors import EntryError


@click.group()
def results() -> None:
    """Audit published results."""


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
    from terminals.interop.result_files import read_results_file
    from terminals.scoring.profile_file import load_profile

    chosen = None if profile is None else load_profile(profile)
    event = read_results_file(file)
    try:
        report = audit_event(event, chosen)
    except EntryError as error:
        if not error.where.startswith(str(file)):
            error.where = ", ".join(part for part in (str(file), error.where) if part)
        raise
    differences = None
    if not report.equal:
        count = len(report.score_mismatches) + len(report.points_mismatches) + len(report.total_mismatches)
        differences = EntryError(
            f"{count} published number{'s differ' if count != 1 else ' differs'} from our own count.",
            where=str(file),
            code="differences",
        )
    return Outcome({"file": str(file), **report.as_dict()}, audit_text(report, file.name), differences)
