"""``td`` for what happens to the plan of a running event: each act can be previewed, and taken back."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.cli.td import Service, td, who
from firmware_bridge.config import data_directory
from firmware_bridge.errors import ConfigError

ROUND = click.IntRange(1, 255)
NUMBER = click.IntRange(1, 4095)
MOST_LINES = 60


def _common(function: Callable[..., Any]) -> Callable[..., Any]:
    function = click.option("--data", type=click.Path(path_type=Path), help="Data directory of the service.")(function)
    function = click.option("--by", "actor", default=None, help="Who decides; your log-in name if left out.")(function)
    function = click.option("--anyway", is_flag=True, help="Although results would be outside of the plan.")(function)
    function = click.option("--preview", is_flag=True, help="Only show what it would do.")(function)
    return click.option("--section", default="A", show_default=True)(function)


def _verdict(function: Callable[..., Any]) -> Callable[..., Any]:
    words = "What stands in place of boards that nobody plays: not-played, or percentages such as 60/40."
    return click.option("--score", default="not-played", show_default=True, help=words)(function)


def verdict_of(text: str, *, provisional: bool = False) -> dict[str, Any]:
    """``not-played`` or ``60/40`` as the service takes it. Raises ConfigError."""
    if text == "not-played":
        return {"state": "not-played"}
    found = re.fullmatch(r"([0-9]{1,3})/([0-9]{1,3})", text)
    if found is None or max(int(found[1]), int(found[2])) > 100:
        raise ConfigError(f"{text[:20]!r} is no score.", where="--score", next_step="Write not-played, or 60/40.")
    return {"state": "artificial", "ns": int(found[1]), "ew": int(found[2]), "provisional": provisional}


def boards_of(option: str, text: str) -> list[int]:
    """``5-8`` or ``5,7`` as numbers. Raises EntryError (exit 2)."""
    from terminals.movement.boards import parse_boards

    return list(parse_boards(text)) if text else []


def _happen(
    kind: str, values: dict[str, Any], section: str, preview: bool, anyway: bool, actor: str | None, data: Path | None
) -> Outcome:
    body = {"section": section, "event": {"kind": kind, **values}, "actor": who(actor), "anyway": anyway}
    found = Service(data_directory(data)).ask("/plan/preview" if preview else "/plan/change", body)
    return Outcome(found, _words(found, section, preview))


def _words(found: dict[str, Any], section: str, preview: bool) -> str:
    lines = list(found["problems"])
    if found["ok"]:
        lines.append(f"Nobody plays a board twice: {found['proof']['counted']} times a pair and a board were counted.")
    lines.append(f"{found['results_before']} results before, {found['results_after']} then.")
    lines += [*found["unplayed"], *found["shares"], *(f"Outside of the plan: {one}" for one in found["orphans"])]
    lines += [*found.get("moves", []), *found["changes"]]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"and {len(lines) - MOST_LINES} lines more"]
    for then, way in found.get("ways", {}).items():
        lines.append(f"--then {then}: {way['results_after']} results, {len(way['unplayed'])} tables lose boards")
    if not preview and "position" in found:
        lines.append(f"Take it back with: firmware-bridge td plan-undo {found['position']} --section {section}")
    return "\n".join(lines)


@td.command("plan")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory of the service.")
@command("td plan")
def plan(data: Path | None) -> Outcome:
    """Every section's movement, and what happened to it."""
    found = Service(data_directory(data)).ask("/plan")
    lines = []
    for one in found["sections"]:
        lines.append(f"Section {one['section']}: {one['movement'] or 'no movement yet'}")
        for event in one["events"]:
            back = "  (taken back)" if event["undone"] else ""
            lines.append(f"  {event['position']:>3}  {event['words']}{back}   {event['actor']}".rstrip())
    return Outcome(found, "\n".join([*lines, *found["warnings"]]))


@td.command("plan-undo")
@click.argument("position", type=click.IntRange(0, 99_999))
@_common
@command("td plan-undo")
def plan_undo(
    position: int, section: str, preview: bool, anyway: bool, actor: str | None, data: Path | None
) -> Outcome:
    """Take a change of the plan back, by its number in td plan; the undoing can be taken back too."""
    body = {"section": section, "position": position, "actor": who(actor), "anyway": anyway}
    found = Service(data_directory(data)).ask(f"/plan/undo{'/preview' if preview else ''}", body)
    return Outcome(found, _words(found, section, preview))


@td.command("draw")
@click.option("--absent", type=NUMBER, multiple=True, help="Does not play in this round. May be repeated.")
@click.option("--join", type=NUMBER, multiple=True, help="Is new from this round on. May be repeated.")
@click.option("--ranking", help="An order in place of the ranking, everybody who plays: 3,1,4,2.")
@click.option("--first-board", type=click.IntRange(1, 999), help="Of the round; the next ones if left out.")
@_common
@command("td draw")
def draw(
    absent: tuple[int, ...],
    join: tuple[int, ...],
    ranking: str | None,
    first_board: int | None,
    section: str,
    preview: bool,
    anyway: bool,
    actor: str | None,
    data: Path | None,
) -> Outcome:
    """Draw the next round of a Swiss event from the ranking of now; nobody meets the same opponents twice."""
    body: dict[str, Any] = {"section": section, "absent": list(absent), "join": list(join), "actor": who(actor)}
    body |= {"anyway": anyway, "first_board": first_board or 0}
    if ranking:
        words = [word for word in re.split(r"[\s,]+", ranking) if word]
        if not all(re.fullmatch(r"[0-9]{1,4}", word) for word in words):
            raise ConfigError(
                "A ranking is numbers, the leader first.", where="--ranking", next_step="Such as 3,1,4,2."
            )
        body["ranking"] = [int(word) for word in words]
    found = Service(data_directory(data)).ask(f"/plan/draw{'/preview' if preview else ''}", body)
    again = {tuple(couple) for couple in found["repeats"]}
    lines = [f"Round {found['round']}, boards {found['boards']}"]
    lines += [f"  {a} - {b}{'   they meet again' if (a, b) in again else ''}" for a, b in found["couples"]]
    lines += [f"  {found['bye']} sits out"] if found["bye"] else []
    lines += [f"  table {one['table']}: {one['ns']} - {one['ew']}" for one in found["tables"]]
    if not preview:
        last = found["positions"][-1]
        lines.append(f"Take it back with: firmware-bridge td plan-undo {last} --section {section}")
    return Outcome(found, "\n".join(lines))


@td.command("late-pair")
@click.argument("round_number", metavar="ROUND", type=ROUND)
@click.option("--place", type=click.Choice(["auto", "phantom", "rover", "appendix"]), default="auto", show_default=True)
@click.option("--pair", type=NUMBER, help="Its number; the next free one if left out.")
@click.option("--side", type=click.Choice(["NS", "EW"]), default="NS", show_default=True, help="Rover, two winners.")
@click.option("--missed", default="", metavar="BOARDS", help="Boards of the round that it can't play any more: 13,14.")
@_verdict
@_common
@command("td late-pair")
def late_pair(
    round_number: int, place: str, pair: int | None, side: str, missed: str, score: str, **common: Any
) -> Outcome:
    """A pair comes late: into an empty seat from now, or roving or at an appendix table from that round on."""
    values: dict[str, Any] = {"round": round_number, "place": place, "pair": pair or 0, "side": side}
    return _happen(
        "late-pair", values | {"missed": boards_of("--missed", missed), "verdict": verdict_of(score)}, **common
    )


@td.command("unstarted")
@click.argument("round_number", metavar="ROUND", type=ROUND)
@click.argument("table", type=click.IntRange(1, 255))
@click.argument("boards")
@click.option("--provisional", is_flag=True, help="The score waits for a pair that may still come.")
@_verdict
@_common
@command("td unstarted")
def unstarted(round_number: int, table: int, boards: str, provisional: bool, score: str, **common: Any) -> Outcome:
    """Boards of a table that nobody will start: td unstarted 3 5 17-18 --score 60/40."""
    values = {"round": round_number, "table": table, "boards": boards_of("BOARDS", boards)}
    return _happen("unstarted", values | {"verdict": verdict_of(score, provisional=provisional)}, **common)


@td.command("end-after")
@click.argument("round_number", metavar="ROUND", type=ROUND)
@_common
@command("td end-after")
def end_after(round_number: int, **common: Any) -> Outcome:
    """End the session after a round: later rounds vanish, and nothing in them becomes "not played"."""
    return _happen("curtailed", {"after_round": round_number}, **common)


@td.command("withdraw")
@click.argument("pair", type=NUMBER)
@click.argument("round_number", metavar="ROUND", type=ROUND)
@click.option("--ranked", is_flag=True, help="It stays in the ranking.")
@click.option("--cancel", is_flag=True, help="Its results count for nobody, as if they had not been played.")
@click.option(
    "--of", "rounds", type=ROUND, help="Rounds in all: its results are cancelled if less than half were played."
)
@_common
@command("td withdraw")
def withdraw(pair: int, round_number: int, ranked: bool, cancel: bool, rounds: int | None, **common: Any) -> Outcome:
    """A pair (or a team) leaves before a round; its opponents sit out, its results stay for them.

    Regulations such as the EBU's White Book (2.4) cancel results of who leaves before half of the rounds: --of 8.
    """
    from terminals.scoring.swiss import cancels

    values: dict[str, Any] = {"pair": pair, "round": round_number, "standing": ranked}
    if cancel or (rounds is not None and cancels(round_number - 1, rounds)):
        values["cancelled"] = True
    return _happen("withdrawn", values, **common)


@td.command("stand-by")
@click.argument("pair", type=NUMBER)
@click.argument("instead_of", type=NUMBER)
@click.argument("round_number", metavar="ROUND", type=ROUND)
@_common
@command("td stand-by")
def stand_by(pair: int, instead_of: int, round_number: int, **common: Any) -> Outcome:
    """PAIR takes over the seats of INSTEAD_OF from a round on, as a contestant of its own."""
    return _happen("stand-by", {"pair": pair, "instead_of": instead_of, "round": round_number}, **common)


@td.command("substitute")
@click.argument("pair", type=NUMBER)
@click.argument("player")
@click.argument("substitute_name", metavar="SUBSTITUTE")
@click.argument("round_number", metavar="ROUND", type=ROUND)
@click.option("--to", "to_round", type=ROUND, help="Last round; the session's if left out.")
@_common
@command("td substitute")
def substitute(
    pair: int, player: str, substitute_name: str, round_number: int, to_round: int | None, **common: Any
) -> Outcome:
    """A substitute plays for a player of a pair (Law 3)."""
    values = {"pair": pair, "player": player, "substitute": substitute_name, "round": round_number}
    return _happen("substituted", values | {"to_round": to_round or 0}, **common)


@td.command("renumber")
@click.argument("pair", type=NUMBER)
@click.argument("number", type=NUMBER)
@click.argument("round_number", metavar="ROUND", type=ROUND)
@_common
@command("td renumber")
def renumber(pair: int, number: int, round_number: int, **common: Any) -> Outcome:
    """PAIR (the number that it began with) shows NUMBER from a round on, and keeps what it has played."""
    return _happen("renumbered", {"pair": pair, "number": number, "round": round_number}, **common)


@td.command("played-as")
@click.argument("round_number", metavar="ROUND", type=ROUND)
@click.argument("tables", nargs=-1, required=True, metavar="TABLE=NS-EW[@BOARDS]...")
@click.option("--then", type=click.Choice(["return", "follow"]), default="return", show_default=True)
@_verdict
@_common
@command("td played-as")
def played_as(round_number: int, tables: tuple[str, ...], then: str, score: str, **common: Any) -> Outcome:
    """A round as it really was: td played-as 3 2=5-11 4=6-9@13-16. Name the tables that differ from the plan; in an
    individual North, East, South and West: 2=1-5-9-13.

    Then the plan is taken up again, or everybody goes on from where he sits now (--then follow).
    """
    seated = []
    for one in tables:
        found = re.fullmatch(r"([0-9]{1,3})=([0-9]{1,4}(?:-[0-9]{1,4}){1,3})(?:@(.+))?", one)
        if found is None:
            raise ConfigError(
                f"{one[:30]!r} is no table.", where="TABLE", next_step="Write it like 2=5-11 or 2=5-11@13-16."
            )
        people = [int(number) for number in found[2].split("-")]
        if len(people) == 3:
            raise ConfigError("Two pairs or four players sit at a table.", where=one[:30])
        seat: dict[str, Any] = {"players": people}
        if len(people) == 2:
            seat = {"ns": people[0], "ew": people[1]}
        seated.append(seat | {"table": int(found[1]), "boards": boards_of("TABLE", found[3] or "")})
    values = {"round": round_number, "tables": seated, "then": then, "verdict": verdict_of(score)}
    return _happen("played-as", values, **common)
