"""What a table may look at: travellers, the ranking, its own boards so far. Nothing of a board that somebody who now
sits there has not played yet, and never an opening lead.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from firmware_bridge.errors import EntryError
from firmware_bridge.service.api_access import Caller
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_scorecards import credited, scorecard_view
from firmware_bridge.service.desk_view import board_view, ranking_view
from terminals.movement.model import Format, Seating
from terminals.store.results import CurrentResult
from terminals.store.values import PlayKey, PlayStatus
from terminals.sync.setup import Section, section_letter


def seated(desk: Desk, caller: Caller) -> tuple[int, int, int] | None:
    """(round, ns, ew) of the table now: the newest round in which it has a result, or which its terminal shows."""
    seating = seating_now(desk, caller)
    return None if seating is None else (seating.round, seating.ns, seating.ew)


def seating_now(desk: Desk, caller: Caller) -> Seating | None:
    """Who sits at the table now, as far as can be told; None without a movement, or when nobody does."""
    letter = section_letter(caller.section)
    section = desk.setup.section(caller.section)
    if section is None or section.movement is None:
        return None
    newest = max(
        (row.round for row in desk.rows.values() if (row.play.section, row.table) == (letter, caller.table)), default=0
    )
    for one in desk.service.collector.terminals:
        if one.seat == (caller.section, caller.table) and one.status is not None:
            newest = max(newest, one.status.round)
    return section.movement.at(newest, caller.table)


def played_by(row: CurrentResult, section: Section) -> tuple[int, ...]:
    """Who has played this: two pairs, or the four players of an individual."""
    if section.movement is not None and section.movement.format is Format.INDIVIDUAL:
        ns, ew = credited(row, section)
        return (*ns, *ew)
    return row.play.ns, row.play.ew


def open_boards(desk: Desk, section: Section, seating: Seating) -> set[int]:
    """Boards that everybody who sits there has played."""
    played: dict[int, set[int]] = {one: set() for one in seating.contestants}
    for row in desk.rows.values():
        if row.play.section == section.letter and row.content is not None:
            for one in played_by(row, section):
                if one in played:
                    played[one].add(row.play.board)
    return set.intersection(*played.values()) if played else set()


async def traveller(request: Request, desk: Desk, caller: Caller) -> Response:
    """A board's traveller, if everybody now at the table has played it and the settings allow it."""
    board = number_of(request.path_params["board"])
    settings = desk.setup.settings_of(caller.section)
    seating, section = seating_now(desk, caller), desk.setup.section(caller.section)
    closed = EntryError("this board can't be shown here now.", where=f"board {board}", code="withheld")
    if not settings.traveller or seating is None or section is None:
        raise closed
    if board not in open_boards(desk, section, seating):
        raise closed
    letter, ns, ew = section.letter, seating.ns, seating.ew
    own = desk.rows.get(PlayKey(letter, board, ns, ew)) or desk.rows.get(PlayKey(letter, board, ew, ns))
    if own is not None and settings.confirm and own.status is PlayStatus.ENTERED:
        raise closed
    view = board_view(desk, letter, board, public=True, veiled=False)
    for line in view["lines"]:
        del line["hidden"]
        if not settings.percentages:
            line["percent"] = line["ns_points"] = line["ew_points"] = None
        line["own"] = (line["ns"], line["ew"]) in ((ns, ew), (ew, ns))
        if not settings.names:
            line["ns_names"] = line["ew_names"] = ""
    return JSONResponse(view)


async def ranking(request: Request, desk: Desk, caller: Caller) -> Response:
    if not desk.setup.settings_of(caller.section).ranking:
        raise EntryError("the ranking is not shown at the tables.", code="withheld")
    seating = seating_now(desk, caller)
    return JSONResponse({"groups": ranking_view(desk), "own": [] if seating is None else list(seating.contestants)})


async def recap(request: Request, desk: Desk, caller: Caller) -> Response:
    """The boards so far of somebody who sits at the table now: those that everybody there has played."""
    number = number_of(request.path_params["pair"])
    settings = desk.setup.settings_of(caller.section)
    seating, section = seating_now(desk, caller), desk.setup.section(caller.section)
    closed = EntryError("this can't be shown here now.", code="withheld")
    if not settings.traveller or seating is None or section is None or number not in seating.contestants:
        raise closed
    shown = open_boards(desk, section, seating)
    movement = section.movement
    team = None if movement is None else movement.team_of(number)
    view = scorecard_view(desk, section.letter, number if team is None else team.number)
    # Of a team only the boards of the pair that sits here; what its team-mates did is for after the match.
    lines = [one for one in view["lines"] if one["board"] in shown and (team is None or one["own"] == number)]
    if not settings.percentages:
        lines = [{**line, "percent": None, "points": None} for line in lines]
    if not settings.names:
        lines = [{**line, "names": ""} for line in lines]
    return JSONResponse({**view, "pair": number, "lines": lines, "names": view["names"] if settings.names else ""})


def number_of(text: str) -> int:
    """A whole number of four digits at most. Raises EntryError."""
    if not text.isascii() or not text.isdigit() or len(text) > 4:
        raise EntryError("a number is wanted.", code="bad-value")
    return int(text)
