"""``td start`` and what else begins an event from a command line: sections, an earlier event as a pattern, names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from firmware_bridge.cli.output import Outcome, command, many
from firmware_bridge.cli.td import Service, td
from firmware_bridge.config import data_directory
from firmware_bridge.errors import ConfigError
from terminals.movement import files, written

LONG = 50_000
SOURCE_HELP = (
    "Each SECTION is [LETTER=]MOVEMENT[@BOARDS]: a movement such as mitchell:7x4,missing=ew, a .yaml or .csv file, "
    "pairs:13 for one that fits, or later for none yet. B=own.yaml@17-32 is section B with a file on boards 17 to 32."
)


def data_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--data", type=click.Path(path_type=Path), help="Data directory of the service.")(function)


def section_of(text: str, *, letter: bool = True) -> dict[str, Any]:
    """``B=own.yaml@17-32`` as the service takes it. Raises ConfigError or EntryError (exit 2)."""
    out: dict[str, Any] = {}
    found = re.match(r"([A-Za-z]{1,3})=(.*)", text) if letter else None
    if found is not None:
        out["name"], text = found[1].upper(), found[2]
    source, at, boards = text.rpartition("@")
    if not at:
        source, boards = text, ""
    if boards:
        out["boards"] = boards
    pairs = re.fullmatch(r"pairs:([0-9]{1,3})", source, re.IGNORECASE)
    if pairs is not None:
        out["pairs"] = int(pairs[1])
    elif source.lower().endswith((".yaml", ".yml", ".csv")) or os.path.exists(source):
        movement = files.load(source)  # what is wrong with the file is told with its name and line
        text = files.text_of(source)
        # a room of a hundred tables is too long for a request as YAML, not as CSV
        out["file"] = text if len(text) < LONG or movement.teams else written.to_csv(movement)
    elif source.lower() != "later":
        out["movement"] = source
    return out


def settings_of(given: Sequence[str]) -> dict[str, Any]:
    """``across=yes`` and the like as values: yes and no, numbers, or words. Raises ConfigError."""
    out: dict[str, Any] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise ConfigError(f"{one[:40]!r} is no setting.", where="--setting", next_step="Write it like across=yes.")
        words: dict[str, Any] = {"yes": True, "on": True, "no": False, "off": False}
        number = re.fullmatch(r"[0-9]{1,6}", value) is not None and name != "director_pin"
        out[name] = words[value.lower()] if value.lower() in words else int(value) if number else value
        if name == "playing_director":
            out[name] = [word.upper() for word in re.split(r"[\s,]+", value) if word]
    return out


@td.command("start", epilog=SOURCE_HELP)
@click.argument("sections", nargs=-1, metavar="SECTION...")
@click.option("--again", is_flag=False, flag_value="last", metavar="EVENT", help="Like the last event, or that one.")
@click.option("--name", default="", help="Of the event.")
@click.option("--method", help="matchpoints, cross_imps, butler, aggregate, imps or board_a_match.")
@click.option("--scale", help="Of victory points: profile, continuous, discrete, percent or none.")
@click.option("--knockout", is_flag=True, help="Teams: a board with unequal scores counts the mean (Law 12C4).")
@click.option("--seeding", help="Swiss: random, or everybody, the strongest first: 3,1,4,2.")
@click.option("--setting", multiple=True, metavar="NAME=VALUE", help="Of the event, such as across=yes.")
@click.option("--instead", is_flag=True, help="Although an event is under way; its results are kept.")
@click.option("--check", is_flag=True, help="Only show what it would be.")
@data_option
@command("td start")
def start(
    sections: tuple[str, ...],
    again: str | None,
    name: str,
    method: str | None,
    scale: str | None,
    knockout: bool,
    seeding: str | None,
    setting: tuple[str, ...],
    instead: bool,
    check: bool,
    data: Path | None,
) -> Outcome:
    """Begin an event: one section or several, each with a movement of its own."""
    if bool(sections) == bool(again):
        raise ConfigError("Name sections, or --again.", where="td start", next_step="See: firmware-bridge td start -h")
    service = Service(data_directory(data))
    body: dict[str, Any] = {"name": name, "settings": settings_of(setting), "instead": instead}
    body |= {key: value for key, value in (("method", method), ("scale", scale)) if value}
    if knockout:
        body["knockout"] = True
    if again:
        body["again"] = True if again == "last" else again
    else:
        body["sections"] = [section_of(one) for one in sections]
        for one in body["sections"]:
            if seeding and str(one.get("movement", "")).startswith("swiss-"):
                one["seeding"] = seeding if seeding == "random" else _numbers("--seeding", seeding)
    if check:
        seen = service.ask("/setup/check", {key: body[key] for key in ("sections", "again") if key in body})
        return Outcome({"sections": seen}, "\n".join(_section_words(one) for one in seen))
    done = service.ask("/setup/start", body)
    lines = [_section_words(one) for one in done["sections"]]
    copies = sorted(set(done["copies"].values()))
    if copies and copies != [1]:
        lines.append(f"Copies to deal of each board, all sections together: {' to '.join(map(str, copies))}.")
    lines += [*done["warnings"], *([f"To decide anew: {', '.join(done['ask'])}."] if done["ask"] else [])]
    return Outcome(done, "\n".join(lines))


def _numbers(option: str, text: str) -> list[int]:
    words = [word for word in re.split(r"[\s,]+", text) if word]
    if not words or not all(re.fullmatch(r"[0-9]{1,4}", word) for word in words):
        raise ConfigError(f"{text[:40]!r} is no list of numbers.", where=option, next_step="Write it like 3,1,4,2.")
    return [int(word) for word in words]


def _section_words(one: dict[str, Any]) -> str:
    if one["movement"] is None:
        return f"Section {one['name']}: no movement yet"
    lines = [
        f"Section {one['name']}: {one['movement']}",
        f"  {many(one['tables'], 'table')}, {many(one['rounds'], 'round')}, boards {one['boards']}, "
        f"copies {one['copies']}",
    ]
    lines += [f"  {words}" for words in [*one["announce"], *one["warnings"]][:6]]
    return "\n".join(lines)


@td.command("events")
@data_option
@command("td events")
def events(data: Path | None) -> Outcome:
    """Earlier events, the newest first: begin another like one with td start --again EVENT."""
    found = Service(data_directory(data)).ask("/setup/events")
    lines = [
        f"{one['event']}  {'*' if one['active'] else ' '} {one['name']}: {', '.join(one['movements'])}" for one in found
    ]
    return Outcome({"events": found}, "\n".join(lines) or "There is none yet.")


@td.command("movement", epilog=SOURCE_HELP)
@click.argument("source", metavar="MOVEMENT[@BOARDS]")
@click.option("--section", default="A", show_default=True)
@click.option("--preview", is_flag=True, help="Only show what it would do.")
@click.option("--anyway", is_flag=True, help="Although results would be outside of the plan; none is lost.")
@click.option("--by", "actor", default="", help="Who decides.")
@data_option
@command("td movement")
def movement(source: str, section: str, preview: bool, anyway: bool, actor: str, data: Path | None) -> Outcome:
    """Give a section its movement, also when play has begun, or another one in its place."""
    body = {**section_of(source, letter=False), "section": section, "anyway": anyway, "actor": actor[:40]}
    found = Service(data_directory(data)).ask(f"/setup/movement{'/preview' if preview else ''}", body)
    lines = [_section_words(found)]
    if found["held"]:
        lines.append(f"  {found['held']} results came before it; {len(found['unbound'])} do not fit.")
    lines += [f"  {words}" for words in [*found["unbound"], *found.get("problems", [])][:12]]
    return Outcome(found, "\n".join(lines))


@td.command("people")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--section", default="A", show_default=True)
@data_option
@command("td people")
def people(file: Path, section: str, data: Path | None) -> Outcome:
    """Names from a CSV: pair and its players; for teams number, the team's own name, then its players.

    A player's number stands behind the name: 7;Anna Nowak;1234;Jan Kot;5678.
    """
    from terminals.interop.csv_text import read_csv
    from terminals.interop.result_files import read_bytes

    service = Service(data_directory(data))
    shown = next((one for one in service.ask("/plan")["sections"] if one["section"] == section.upper()), None)
    teams = shown is not None and shown.get("format") == "teams"
    rows: list[dict[str, Any]] = []
    for at, (line, cells) in enumerate(read_csv(read_bytes(file), str(file))):
        if not re.fullmatch(r"[0-9]{1,4}", cells[0], re.ASCII):
            if at == 0:
                continue  # a heading
            raise ConfigError(
                "A number and names are wanted.", where=f"{file}, line {line}", next_step="Write 7;Anna Nowak;Jan Kot."
            )
        own, players = _people(cells[1:], teams)
        row: dict[str, Any] = {"team" if teams else "pair": int(cells[0]), "players": players}
        rows.append(row | ({"name": own} if own else {}))
    found = service.ask("/setup/people", {"section": section, "people": rows})
    return Outcome(found, f"{found['stored']} names.")


def _people(cells: Sequence[str], teams: bool) -> tuple[str, list[dict[str, str]]]:
    """A team's own name, and players; a cell of digits behind a name is that player's number."""
    own = ""
    players: list[dict[str, str]] = []
    for cell in cells:
        if re.fullmatch(r"[0-9]{1,12}", cell, re.ASCII) and players:
            players[-1]["number"] = cell
        elif cell and teams and not own:
            own = cell[:80]
        elif cell:
            players.append({"name": cell[:80]})
    return own, players


@td.command("settings")
@click.argument("given", nargs=-1, required=True, metavar="NAME=VALUE...")
@click.option("--by", "actor", default="", help="Who decides.")
@data_option
@click.option("--section", default="", help="For the terminals of this section only.")
@command("td settings")
def settings(given: tuple[str, ...], actor: str, data: Path | None, section: str) -> Outcome:
    """Change settings of the event, now or after play: td settings across=yes."""
    values = settings_of(given)
    Service(data_directory(data)).ask(
        "/actions/settings", {"settings": values, "actor": actor[:40], "section": section}
    )
    return Outcome({"settings": values}, "Done.")


@td.command("checklist")
@data_option
@command("td checklist")
def checklist(data: Path | None) -> Outcome:
    """What is left before going home."""
    found = Service(data_directory(data)).ask("/checklist")
    lines = []
    for one in found:
        lines.append(f"[{'x' if one['done'] else ' '}] {one['words']}")
        lines += [f"      {detail}" for detail in one["details"]]
    return Outcome({"items": found, "done": all(one["done"] for one in found)}, "\n".join(lines))
