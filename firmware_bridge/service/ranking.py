"""Rankings of an event, and how people and programs read them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from firmware_bridge.db import Connection
from terminals.scoring.ranking import RankRow
from terminals.store import desk as desk_store
from terminals.store import results
from terminals.sync.conditions import decided
from terminals.sync.event_score import IMPS, PERCENT, POINTS, VPS, score_event
from terminals.sync.setup import EventSetup
from terminals.sync.tables import scoring_input

GROUP_NAMES = {"NS": "North-South", "EW": "East-West"}
UNIT_WORDS = {PERCENT: "%", IMPS: "IMPs", POINTS: "Points", VPS: "VP"}


@dataclass(frozen=True, slots=True)
class GroupRanking:
    """One ranking, best first. name: "" when there is one winner, else the direction (and section)."""

    name: str
    rows: tuple[RankRow, ...]
    unit: str = PERCENT


def rank_stored(connection: Connection, setup: EventSetup) -> tuple[GroupRanking, ...]:
    """One ranking for each winner group of an event in the store, by its own conditions: scoring, profile, rulings,
    penalties. Contestants without any result are left out. Raises EntryError.
    """
    rows = results.current(connection, desk_store.event_hex(setup.id))
    score = score_event(setup, rows, decided(connection, setup).conditions(setup))
    groups = scoring_input(setup, []).groups
    alone = len(groups) == 1
    return tuple(
        GroupRanking("" if alone else group.name, tuple(rows), unit)
        for group, rows, unit in zip(groups, score.rankings, score.units, strict=True)
    )


def rankings_json(rankings: Iterable[GroupRanking]) -> list[list[dict[str, Any]]]:
    """One list for each winner group: place, tied, pair, value and its unit, and ``percent`` where that is the unit."""
    return [
        [
            {
                "place": row.place,
                "tied": row.tied,
                "pair": row.contestant.number,
                **({"percent": float(row.value_text)} if ranking.unit == PERCENT else {}),
                "value": row.value_text,
                "unit": ranking.unit,
            }
            for row in ranking.rows
        ]
        for ranking in rankings
    ]


def rankings_text(rankings: Iterable[GroupRanking]) -> str:
    """For a terminal: one block for each winner group."""
    blocks = []
    for ranking in rankings:
        title = GROUP_NAMES.get(ranking.name, ranking.name) or "Ranking"
        lines = [title, f"Place  Pair  {UNIT_WORDS[ranking.unit]:>7}  Boards"]
        lines += [
            f"{row.place_text:>5}  {row.contestant.number:>4}  {row.value_text:>7}  {row.boards:>6}"
            for row in ranking.rows
        ]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
