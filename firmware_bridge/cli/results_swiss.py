"""``results swiss``: the standing of a Swiss pairs event in victory points, ready for the next draw."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import click

from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.cli.results_paper import movement_of
from firmware_bridge.errors import ConfigError


@click.command("swiss")
@click.argument("movement")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--profile", default="plain", show_default=True, metavar="NAME|FILE.toml", help="Scoring profile.")
@click.option("--carry", multiple=True, metavar="PAIR=VP", help="Carried over from an earlier stage. May be repeated.")
@command("results swiss")
def swiss(movement: str, file: Path, profile: str, carry: tuple[str, ...]) -> Outcome:
    """Rank Swiss pairs by victory points: MOVEMENT is the drawn .yaml file, FILE the results so far."""
    from terminals.interop.result_files import read_results_file
    from terminals.interop.swiss_pairs import swiss_standing
    from terminals.scoring.profile_file import load_profile
    from terminals.scoring.rounding import decimal_text

    carried: dict[int, Fraction] = {}
    for text in carry:
        match = re.fullmatch(r"(\d{1,4})=(-?\d{1,4}(?:\.\d{1,2})?)", text.strip(), re.ASCII)
        if match is None or int(match[1]) in carried:
            raise ConfigError(f"{text[:20]!r} is no carry-over.", where="--carry", next_step="Write it like 3=12.5.")
        carried[int(match[1])] = Fraction(match[2])
    event = read_results_file(file)
    found = swiss_standing(movement_of(movement), event, load_profile(profile), carried)
    people = {one.contestant.number: one.names for one in event.entrants}
    rows = [
        {"place": row.place_text, "pair": row.contestant.number, "vp": row.value_text, "boards": row.boards}
        for row in found.ranking
    ]
    rounds = [
        {
            "round": number,
            "pair": one.contestant.number,
            "percent": None if one.percent is None else decimal_text(one.percent),
            "vp": int(one.vp) if one.vp.denominator == 1 else float(one.vp),
        }
        for number, made in found.rounds.items()
        for one in made
    ]
    order = ",".join(str(row.contestant.number) for row in found.ranking)
    lines = ["Place  Pair      VP  Boards"]
    lines += [
        f"{row.place_text:>5}  {row.contestant.number:>4}  {row.value_text:>6}  {row.boards:>6}  "
        f"{people.get(row.contestant.number, '')}".rstrip()
        for row in found.ranking
    ]
    lines += ["", f"The next round: firmware-bridge movement draw {movement} --ranking {order} --out {movement}"]
    return Outcome({"ranking": rows, "rounds": rounds, "order": order}, "\n".join(lines))
