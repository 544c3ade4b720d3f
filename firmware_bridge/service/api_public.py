"""Routes for everybody, without a token: whether the service lives, and the results as far as the event shows them.

While play goes on nothing but the ranking is public, and that only if the director wants it; boards and scorecards
come with the publication, when everybody has played them.
"""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from firmware_bridge.errors import EntryError
from firmware_bridge.service import desk_files, desk_scorecards, desk_view
from firmware_bridge.service.api_access import Caller
from firmware_bridge.service.api_operation import ROOT, Operation
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_checks import deals_of


def public_results(desk: Desk) -> dict[str, Any]:
    """What anybody may see now. ``state``: closed, live, or published."""
    state = "closed"
    if desk.has_event and desk.period.published_at is not None:
        state = "published"
    elif desk.has_event and desk.facts.live:
        state = "live"
    out: dict[str, Any] = {"state": state, "name": desk.setup.name if desk.has_event else "", "event": desk.event}
    if state == "closed":
        return out
    counts = desk_view.grid_view(desk)["counts"]
    out |= {"counts": {name: counts[name] for name in ("expected", "stored")}, "groups": desk_view.ranking_view(desk)}
    if state == "published":
        out["final"] = desk.period.final
        out["sections"] = [
            {
                "letter": s.letter,
                "format": s.movement.format.value,
                "boards": list(s.movement.board_numbers),
                "pairs": list(s.movement.pairs if not s.movement.teams else s.movement.contestants),
            }
            for s in desk.setup.sections
            if s.movement is not None
        ]
    return out


def _published(desk: Desk) -> None:
    if not desk.has_event or desk.period.published_at is None:
        raise EntryError("the results are not published yet.", code="withheld")


async def health(request: Request, desk: Desk, caller: Caller) -> Response:
    return JSONResponse({"ok": True, "storing": not desk.service.collector.trouble})


async def results(request: Request, desk: Desk, caller: Caller) -> Response:
    return JSONResponse(public_results(desk))


async def board(request: Request, desk: Desk, caller: Caller) -> Response:
    _published(desk)
    view = desk_view.board_view(
        desk, request.path_params["section"], _number(request.path_params["board"]), public=True, veiled=False
    )
    deal = deals_of(desk).get(view["board"])
    tables = {} if deal is None else await run_in_threadpool(desk_files.tricks_of, desk, [deal])
    section = desk.setup.section_called(view["section"])
    movement = None if section is None else section.movement
    return JSONResponse(
        {
            **view,
            "deal": desk_files.deal_view(desk, view["board"], tables),
            "numbers": [] if movement is None else list(movement.board_numbers),
            "teams": {} if movement is None else {pair: team.number for team in movement.teams for pair in team.pairs},
        }
    )


async def rounds(request: Request, desk: Desk, caller: Caller) -> Response:
    """Standings after each round, as far as the ranking is public."""
    if public_results(desk)["state"] == "closed":
        raise EntryError("the results are not published yet.", code="withheld")
    published = desk.period.published_at is not None
    return JSONResponse(desk_scorecards.rounds_view(desk, veiled=not published))


async def scorecard(request: Request, desk: Desk, caller: Caller) -> Response:
    _published(desk)
    pair = _number(request.path_params["pair"])
    return JSONResponse(desk_scorecards.scorecard_view(desk, request.path_params["section"], pair))


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 4:
        raise EntryError("a number is wanted.", code="bad-value")
    return int(text)


def operations() -> list[Operation]:
    """What needs no token."""
    here = f"{ROOT}/public"
    return [
        Operation("GET", f"{ROOT}/health", "", "Is the service there, and does it store?", health),
        Operation("GET", f"{here}/results", "", "The results, as far as they are public.", results),
        Operation("GET", f"{here}/rounds", "", "Standings after each round, as far as they are public.", rounds),
        Operation("GET", f"{here}/boards/{{section}}/{{board}}", "", "A traveller, once published.", board),
        Operation("GET", f"{here}/pairs/{{section}}/{{pair}}", "", "A scorecard, once published.", scorecard),
    ]
