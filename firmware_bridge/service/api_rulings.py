"""Routes that show rulings, the matches of teams, and how the event is scored. Acts on them are ``desk_actions``."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from firmware_bridge.service import desk_ruling_views, desk_scoring
from firmware_bridge.service.api_access import Caller
from firmware_bridge.service.api_operation import ROOT, Operation
from firmware_bridge.service.desk import Desk


async def rulings(request: Request, desk: Desk, caller: Caller) -> Response:
    """Every ruling with its history, where the periods of Laws 79C and 92B stand, why results are provisional."""
    return JSONResponse(desk_ruling_views.rulings_view(desk))


async def matches(request: Request, desk: Desk, caller: Caller) -> Response:
    """Matches of team sections with IMPs, victory points and boards."""
    return JSONResponse(desk_scoring.matches_view(desk))


async def scoring(request: Request, desk: Desk, caller: Caller) -> Response:
    """How the event is scored now."""
    return JSONResponse(desk_scoring.scoring_view(desk.setup, desk.conditions))


def operations() -> list[Operation]:
    """What may be looked at."""
    return [
        Operation("GET", f"{ROOT}/rulings", "viewer", "Rulings, appeals, the correction period.", rulings),
        Operation("GET", f"{ROOT}/matches", "viewer", "Matches of teams.", matches),
        Operation("GET", f"{ROOT}/scoring", "viewer", "How the event is scored.", scoring),
    ]
