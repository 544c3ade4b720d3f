"""Who sits at a table, as its page needs to know beside the plan: teams, and the four players of an individual."""

from __future__ import annotations

from typing import Any

from terminals.movement.model import Format, Movement, Seating
from terminals.movement.swiss import SWISS_PAIRS, SWISS_TEAMS

SEATS = "NESW"


def sitting_view(movement: Movement | None, table: int) -> dict[str, Any]:
    """``format`` of the section; ``teams``: pair -> team; ``seats``: round -> N, E, S, W and ``next_seats``: round ->
    where each of them goes, both in an individual only; ``draws``: after the last round another one may be drawn.
    """
    out: dict[str, Any] = {"format": "pairs", "teams": {}, "seats": {}, "next_seats": {}, "draws": False}
    if movement is None:
        return out
    out["format"] = movement.format.value
    out["draws"] = movement.kind in (SWISS_PAIRS, SWISS_TEAMS)
    out["teams"] = {str(pair): team.number for team in movement.teams for pair in team.pairs}
    if movement.format is Format.INDIVIDUAL:
        here = [one for one in movement.seatings if one.table == table and one.players]
        out["seats"] = {str(one.round): list(one.players) for one in here}
        out["next_seats"] = {
            str(one.round): [_next(movement, player, one.round + 1) for player in one.players]
            for one in here
            if one.round < movement.rounds
        }
    return out


def _next(movement: Movement, player: int, number: int) -> dict[str, Any]:
    """Where a player sits in a round; table 0 when he sits out."""
    found: Seating | None = next(
        (one for one in movement.seatings if one.round == number and player in one.players), None
    )
    if found is None:
        return {"player": player, "table": 0, "seat": ""}
    return {"player": player, "table": found.table, "seat": SEATS[found.players.index(player)]}


def who_sits_here(movement: Movement | None, table: int) -> set[int]:
    """Pairs, or players of an individual, that sit at the table at some time, a sit-out included."""
    if movement is None:
        return set()
    here = {who for one in movement.seatings if one.table == table for who in one.contestants}
    return here | {one.pair for one in movement.sit_outs if one.table == table}
