"""A contestant's own boards and the course of the ranking: of a pair, of a team at both its tables, of one player.

Who is credited with a result is what scoring says, so that scorecard, chart and ranking speak of the same contestants.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from firmware_bridge.errors import EntryError
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_ruling_views import penalties_view
from firmware_bridge.service.desk_view import place_of, row_view
from terminals.movement.model import Format, Movement
from terminals.scoring.boards import LineScore, SideScore
from terminals.scoring.rounding import decimal_text
from terminals.store.results import CurrentResult
from terminals.store.values import PlayKey
from terminals.sync.setup import Section
from terminals.sync.tables import result_line


def scorecard_view(desk: Desk, section: str, number: int) -> dict[str, Any]:
    """Every board of a contestant, in the order of playing. Raises EntryError for one that there is not."""
    found = desk.setup.section_called(section)
    movement = None if found is None else found.movement
    if found is None or movement is None or number not in _contestants(movement):
        raise EntryError("the event has no such pair.", where=f"{section[:8]}{number}", code="no-such-pair")
    points = _scored(desk)
    lines = []
    for row in desk.rows.values():
        if row.play.section != found.letter or row.content is None:
            continue
        ns, ew = credited(row, found)
        if number not in (*ns, *ew):
            continue
        north_south = number in ns
        scored = points.get(row.play)
        seen = row_view(desk, row)
        side = None if scored is None or seen["hidden"] else (scored.ns if north_south else scored.ew)
        own, others, opponents = (ns, ew, row.play.ew) if north_south else (ew, ns, row.play.ns)
        lines.append(
            {
                "round": place_of(desk, row)[0],
                "table": place_of(desk, row)[1],
                "board": row.play.board,
                "direction": "NS" if north_south else "EW",
                "own": row.play.ns if north_south else row.play.ew,
                "opponents": opponents,
                **_who(desk, found.letter, movement, number, own, others, opponents),
                "text": seen["text"],
                "laws": [one["law"] for one in seen.get("rulings", ())],
                "score": seen["score"] if north_south or seen["score"] is None else -seen["score"],
                "percent": _percent(side),
                "points": None if side is None else decimal_text(side.points, 2),
            }
        )
    lines.sort(key=lambda line: (line["round"], line["board"], line["table"]))
    penalties = [
        {name: one[name] for name in ("amount", "unit", "law", "reason")}
        for one in penalties_view(desk)
        if (one["section"], one["pair"]) == (found.letter, number)
    ]
    names = desk.contestant_names(found.letter, number)
    return {
        "section": found.letter,
        "pair": number,
        "format": movement.format.value,
        "names": names,
        "lines": lines,
        "penalties": penalties,
    }


def _who(
    desk: Desk,
    letter: str,
    movement: Movement,
    number: int,
    own: tuple[int, ...],
    others: tuple[int, ...],
    opponents: int,
) -> dict[str, Any]:
    """Against whom: ``against`` those who are ranked, with names; a player's partner in an individual."""
    if movement.format is not Format.INDIVIDUAL:
        return {"against": list(others), "names": desk.names_of(letter, opponents)}
    names = " - ".join(name for one in others if (name := desk.names_of(letter, one)))
    return {"against": list(others), "names": names, "partner": next((one for one in own if one != number), None)}


def rounds_view(desk: Desk, *, veiled: bool = True) -> list[dict[str, Any]]:
    """Every contestant's standing after each round, for the chart of the ranking; played boards only.

    ``percent`` where boards are scored in percentages, else ``points``: the sum so far, IMPs or total points.
    """
    points = _scored(desk)
    sums: dict[tuple[str, int], dict[int, list[SideScore]]] = defaultdict(lambda: defaultdict(list))
    for row in desk.rows.values():
        scored = points.get(row.play)
        number = place_of(desk, row)[0]
        section = desk.setup.section_called(row.play.section)
        if scored is None or section is None or not number or (veiled and desk.veil.hides(row.play)):
            continue
        for contestants, side in zip(credited(row, section), (scored.ns, scored.ew), strict=True):
            if side is not None:
                for contestant in contestants:
                    sums[section.letter, contestant][number].append(side)
    out = []
    for (letter, contestant), by_round in sorted(sums.items()):
        percent = any(side.percent is not None for sides in by_round.values() for side in sides)
        so_far: list[float] = []
        line: list[float | None] = []
        for number in range(1, max(by_round) + 1):
            sides = by_round.get(number, [])
            values = [side.percent if percent else side.points for side in sides]
            so_far += [float(value) for value in values if value is not None]
            total = sum(so_far) / len(so_far) if percent and so_far else sum(so_far)
            line.append(float(f"{total:.2f}") if so_far else None)
        out.append({"section": letter, "pair": contestant, ("percent" if percent else "points"): line})
    return out


def credited(row: CurrentResult, section: Section) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Numbers of the contestants who score this result North-South and East-West."""
    line = result_line(row, section)
    return (
        tuple(one.number for one in line.ns_players or (line.ns,)),
        tuple(one.number for one in line.ew_players or (line.ew,)),
    )


def _contestants(movement: Movement) -> set[int]:
    teams = {team.number for team in movement.teams}
    return teams if movement.format is Format.TEAMS and teams else {*movement.contestants, *movement.pairs}


def _scored(desk: Desk) -> dict[PlayKey, LineScore]:
    return {
        PlayKey(one.line.section, one.line.board, one.line.ns.number, one.line.ew.number, one.line.play): one
        for scored in desk.score().boards.values()
        for one in scored
    }


def _percent(side: SideScore | None) -> str | None:
    value = None if side is None else side.percent
    return None if value is None else decimal_text(value, 1)
