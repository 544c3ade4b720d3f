"""What tables recorded beside a result, for the desk: the auction at once, cards only when everybody has played the
board. A playing director's veil lies over both.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from dealer.cards import card_name
from firmware_bridge.service.api_access import Caller
from firmware_bridge.service.api_operation import ROOT, Operation
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_values import play_of
from terminals.store.values import PlayKey
from terminals.sync.recorded import auction_causes, of_play, result_causes
from terminals.sync.tables import CellState, cells


def recorded_view(desk: Desk, play: PlayKey) -> dict[str, Any]:
    """``auction``: seat, call and alert of each; ``play``: tricks of four cards, None until the board is through."""
    out: dict[str, Any] = {"auction": None, "play": None, "withheld": False, "causes": []}
    if desk.veil.hides(play):
        return {**out, "withheld": True}
    event = desk.event
    told = desk.store.read(lambda c: of_play(c, event, play))
    if told.auction is not None:
        out["dealer"] = told.auction.dealer.letter
        out["auction"] = [
            {"seat": one.seat.letter, "call": str(one.call), "alerted": one.alerted, "standing": one.standing.value}
            for one in told.auction.events
        ]
        out["causes"] += auction_causes(told.auction, play.board)
    row = desk.rows.get(play)
    out["causes"] += result_causes(None if row is None else row.content, told)
    if told.play is not None:
        if through(desk, play):
            played = [{"seat": one.seat.letter, "card": card_name(one.card)} for one in told.play.cards]
            out["play"] = [played[at : at + 4] for at in range(0, len(played), 4)]
        else:
            out["withheld"] = True
    return out


def through(desk: Desk, play: PlayKey) -> bool:
    """Nobody has yet to play the board, in any section."""
    return not any(
        cell.board == play.board and cell.state is CellState.MISSING
        for cell in cells(desk.setup, list(desk.rows.values()), final=desk.period.final)
    )


async def recorded(request: Request, desk: Desk, caller: Caller) -> Response:
    query: dict[str, Any] = dict(request.query_params)
    for name in ("board", "ns", "ew", "play"):
        if name in query:
            text = query[name]
            query[name] = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else text
    return JSONResponse(recorded_view(desk, play_of(query)))


def operations() -> list[Operation]:
    """What may be looked at."""
    key = {"section": "letter", "board": "number", "ns": "pair", "ew": "pair", "play": "instance"}
    words = "Auction and play as the table recorded them."
    return [Operation("GET", f"{ROOT}/recorded", "assistant", words, recorded, query=key)]
