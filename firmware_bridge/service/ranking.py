"""From the current results of an event to its rankings, and how people and programs read them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from terminals.scoring.profile import PLAIN, Profile
from terminals.scoring.ranking import RankRow
from terminals.scoring.session import score_session
from terminals.store.results import CurrentResult
from terminals.sync.setup import EventSetup
from terminals.sync.tables import scoring_input

GROUP_NAMES = {"NS": "North-South", "EW": "East-West"}


@dataclass(frozen=True, slots=True)
class GroupRanking:
    """One ranking, best first. name: "" when there is one winner, else the direction (and section)."""

    name: str
    rows: tuple[RankRow, ...]


def rank_event(
    setup: EventSetup, current: Iterable[CurrentResult], profile: Profile = PLAIN
) -> tuple[GroupRanking, ...]:
    """One ranking for each winner group. Contestants without any result are left out. Raises EntryError."""
    data = scoring_input(setup, current)
    score = score_session(data.lines, fields=data.fields, groups=data.groups, profile=profile)
    alone = len(data.groups) == 1
    return tuple(
        GroupRanking("" if alone else group.name, tuple(rows))
        for group, rows in zip(data.groups, score.rankings, strict=True)
    )


def rankings_json(rankings: Iterable[GroupRanking]) -> list[list[dict[str, Any]]]:
    """One list for each winner group: place, tied, pair, percent (two decimals)."""
    return [
        [
            {
                "place": row.place,
                "tied": row.tied,
                "pair": row.contestant.number,
                "percent": float(row.percent_text),
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
        lines = [title, "Place  Pair        %  Boards"]
        lines += [
            f"{row.place_text:>5}  {row.contestant.number:>4}  {row.percent_text:>7}  {row.boards:>6}"
            for row in ranking.rows
        ]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
