"""``td scoring``, ``td matches``, ``td merge-guest``: how the running event is scored, and who played in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.cli.td import Service, td
from firmware_bridge.cli.td_acts import Act, signed, with_effect
from firmware_bridge.config import data_directory
from firmware_bridge.errors import ConfigError


@td.command("scoring")
@click.option("--method", help="matchpoints, butler, cross_imps, aggregate, imps, board_a_match.")
@click.option("--scale", help="Victory points: profile, continuous, discrete, percent, none, or FILE.toml.")
@click.option("--knockout/--no-knockout", default=None, help="Boards with unequal scores count the mean (Law 12C4).")
@click.option("--carry", multiple=True, metavar="A3=12.5", help="Carried over from an earlier stage. May be repeated.")
@click.option("--profile", metavar="NAME|FILE.toml", help="Scoring profile.")
@click.option("--across/--apart", default=None, help="All sections are one field, or each is its own.")
@click.option("--back", is_flag=True, help="Method, scale, knock-out and carry-over as before the last change.")
@with_effect
@command("td scoring")
def scoring(
    method: str | None,
    scale: str | None,
    knockout: bool | None,
    carry: tuple[str, ...],
    profile: str | None,
    across: bool | None,
    back: bool,
    act: Act,
) -> Outcome:
    """How the event is scored; with options, score it in another way, also after play."""
    wanted: dict[str, Any] = {"method": method, "knockout": knockout, "across": across}
    body = act.body(**{name: value for name, value in wanted.items() if value is not None})
    if back:
        body["back"] = True
    if scale is not None and scale.endswith(".toml"):
        from terminals.scoring.profile_file import load_vp_table

        table = load_vp_table(Path(scale))
        rows = [[low, high, str(won), str(lost)] for low, high, won, lost in table.rows]
        body["table"] = {"name": table.name, "rows": rows}
    elif scale is not None:
        body["scale"] = scale
    if profile is not None and profile.endswith(".toml"):
        from terminals.scoring.profile_file import read_text

        body["profile"] = read_text(Path(profile))
    elif profile is not None:
        body["profile"] = profile
    if carry:
        pairs = [text.partition("=") for text in carry]
        if not all(sign and name and value for name, sign, value in pairs):
            raise ConfigError("that is no carry-over.", where="--carry", next_step="Write it like A3=12.5.")
        body["carried"] = {name.strip().upper(): value.strip() for name, _, value in pairs}
    if set(body) <= {"actor", "second"}:
        found = act.ask("/scoring")
        return Outcome(found, _scoring_text(found))
    return act.run("scoring", body)


def _scoring_text(found: Mapping[str, Any]) -> str:
    profile = found["profile"]
    lines = [
        f"Method: {found['method']}. Victory points: {found['scale']}.",
        f"Profile: {profile['name']}, version {profile['version']} ({profile['title']}).",
        "All sections are one field." if found["across"] else "Each section is a field of its own.",
    ]
    if found["knockout"]:
        lines.append("Boards with unequal scores count the mean (Law 12C4).")
    lines += [f"{name} brings {value}." for name, value in found["carried"].items()]
    return "\n".join(lines)


@td.command("matches")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory of the service.")
@command("td matches")
def matches(data: Path | None) -> Outcome:
    """Matches of teams: IMPs, victory points, boards that still have no result in one room."""
    found = Service(data_directory(data)).ask("/matches")
    lines = []
    for one in found:
        score = f"{one['home_score'] or '-'} : {one['away_score'] or '-'}"
        vps = "" if one["home_vp"] is None else f"  {one['home_vp']} : {one['away_vp']} VP"
        open_ = "" if one["complete"] else f"  {one['compared']} of {one['length']} boards"
        teams = f"{one['section']}{one['home']} - {one['section']}{one['away']}"
        lines.append(f"{one['match']:>3}  {teams}  {score}{vps}{open_}")
    return Outcome({"matches": found}, "\n".join(lines) or "This event has no matches of teams.")


@td.command("merge-guest")
@click.argument("guest")
@click.argument("member", type=click.IntRange(1, 99_999_999))
@signed
@command("td merge-guest")
def merge_guest(guest: str, member: int, act: Act) -> Outcome:
    """GUEST (name or number) is the member with this number: wherever the guest sat, the member sat."""
    found = act.ask("/actions/merge-guest", act.body(guest=guest, member=member))
    return Outcome(found, f"{found['places']} places are now of {found['name']} ({found['number']}).")
