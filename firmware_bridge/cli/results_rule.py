"""``results rule``: what rulings do to everybody, and the results with them applied."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from firmware_bridge.cli.out_file import OutFile
from firmware_bridge.cli.output import Outcome, command

if TYPE_CHECKING:
    from terminals.interop.exchange import ExchangeEvent
    from terminals.interop.rulings_file import Written
    from terminals.scoring.rulings import Preview, SessionSetup


@click.command("rule")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("rulings", type=click.Path(path_type=Path))
@click.option("--out", type=OutFile(".json"), help="JSON file to write, with the confirmed rulings applied.")
@click.option("--profile", metavar="NAME|FILE.toml", help="Scoring profile; by default the one that explains the file.")
@click.option("--apart/--across", default=None, help="Score each section by itself, or all as one field.")
@command("results rule")
def rule(file: Path, rulings: Path, out: str | None, profile: str | None, apart: bool | None) -> Outcome:
    """Show the effect of RULINGS, a TOML file, on every total of FILE; with --out apply those that are confirmed."""
    from dealer.files import write_file
    from terminals.interop.rescore import rescored, setup_of
    from terminals.interop.result_files import read_results_file
    from terminals.interop.results_json import write_results_json
    from terminals.interop.rulings_file import noted, read_rulings
    from terminals.scoring.profile_file import load_profile, read_text
    from terminals.scoring.rulings import COUNTING, RulingState, preview_all

    event = read_results_file(file)
    setup = setup_of(event, None if profile is None else load_profile(profile), apart=apart)
    written = read_rulings(read_text(rulings), str(rulings), event, setup.profile)
    shown = [one.ruling for one in written if one.ruling.state in COUNTING | {RulingState.PROPOSED}]
    found = preview_all(shown, [one.line for one in event.lines], setup)
    counting = [one.ruling for one in written if one.ruling.state in COUNTING]
    if out is not None:
        write_file(out, write_results_json(noted(rescored(event, setup, counting), counting)))
    effects = [_effect(event, one) for one in found.effects]
    fields: dict[str, Any] = {
        "rulings": [_ruling(one) for one in written],
        "counting": len(counting),
        "effects": effects,
        "notes": list(found.notes),
        "profile": setup.profile.name,
        "out": out or "",
    }
    return Outcome(fields, _text(written, found, effects, setup, out, len(counting)))


def _ruling(one: Written) -> dict[str, Any]:
    ruling = one.ruling
    return {
        "id": ruling.id,
        "law": ruling.law,
        "state": str(ruling.state),
        "by": ruling.ruled_by,
        "reason": ruling.reason,
        "board": None if one.line is None else one.line.line.board,
    }


def _effect(event: ExchangeEvent, one: Any) -> dict[str, Any]:
    from terminals.scoring.rounding import decimal_text

    entrant = event.entrant(one.contestant)
    return {
        "contestant": str(one.contestant),
        "names": entrant.names if entrant is not None else "",
        "before": None if one.value_before is None else decimal_text(one.value_before),
        "after": None if one.value_after is None else decimal_text(one.value_after),
        "place_before": one.place_before,
        "place_after": one.place_after,
        "changed": one.changed,
    }


def _text(
    written: list[Written],
    found: Preview,
    effects: list[dict[str, Any]],
    setup: SessionSetup,
    out: str | None,
    counting: int,
) -> str:
    lines = [f"Scored by the profile {setup.profile.name}."]
    for one in written:
        ruling = one.ruling
        about = "a penalty" if one.line is None else f"board {one.line.line.board}"
        lines.append(f"{ruling.id:>3}  {about}, Law {ruling.law}, {ruling.state}: {ruling.reason} ({ruling.ruled_by})")
    lines += [f"     Note: {note}" for note in found.notes]
    changed = [one for one in effects if one["changed"]]
    lines += ["", "Effect of all that are not withdrawn" if changed else "Nobody's total changes."]
    for effect in changed:
        before, after = effect["before"] or "-", effect["after"] or "-"
        places = f"{effect['place_before'] or '-':>4} to {effect['place_after'] or '-':<4}"
        lines.append(f"  {effect['contestant']:<8} {before:>8} to {after:<8} {places} {effect['names']}".rstrip())
    if out is not None:
        left = len(written) - counting
        rest = f"; {left} do not count as they stand" if left else ""
        lines += ["", f"{counting} ruling{'s' if counting != 1 else ''} applied in {out}{rest}."]
    return "\n".join(lines)
