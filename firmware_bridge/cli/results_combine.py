"""``results combine``: sections of one evening, or sessions of one event, as one ranking; master points."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from firmware_bridge.cli.out_file import OutFile
from firmware_bridge.cli.output import Outcome, command


@click.command("combine")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=OutFile(".json"), help="JSON file to write.")
@click.option("--sessions", is_flag=True, help="The files are sessions of one event, not sections of one evening.")
@click.option("--window", type=click.Choice(["session", "stage"]), help="Of Law 12C2(c), in place of the profile's.")
@click.option(
    "--profile", metavar="NAME|FILE.toml", help="Scoring profile; by default the one that explains the files."
)
@click.option("--awards", type=click.Path(path_type=Path), help="TOML table of master points.")
@command("results combine")
def combine(
    files: tuple[Path, ...], out: str, sessions: bool, window: str | None, profile: str | None, awards: Path | None
) -> Outcome:
    """Rank the results of FILES together; with one file and --awards, add master points to it."""
    from dealer.files import write_file
    from terminals.interop.combine import combine_sections, combine_sessions
    from terminals.interop.rescore import setup_of
    from terminals.interop.result_files import read_results_file
    from terminals.interop.results_json import write_results_json
    from terminals.scoring.master_points import load_award_table
    from terminals.scoring.profile import Window
    from terminals.scoring.profile_file import load_profile

    events = [read_results_file(file) for file in files]
    chosen = None if profile is None else load_profile(profile)
    if window is not None:
        base = chosen if chosen is not None else setup_of(events[0]).profile
        chosen = replace(base, percentage_window=Window(window))
    table = None if awards is None else load_award_table(awards)
    event = (combine_sessions if sessions else combine_sections)(events, chosen, table)
    write_file(out, write_results_json(event))
    lines = [f"{len(event.lines)} results, {len(event.entrants)} ranked: {out}."]
    for one in event.entrants[:3]:
        total = "-" if one.total is None else one.total.text
        lines.append(f"  {one.place:>4}  {one.section}{one.label:<5} {total:>8}  {one.names}".rstrip())
    fields = {"out": out, "lines": len(event.lines), "entrants": len(event.entrants)}
    return Outcome(fields, "\n".join(lines))
