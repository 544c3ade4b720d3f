"""Routes of the director's desk, and of every program that wants to look at or change the evening."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from firmware_bridge.errors import EntryError
from firmware_bridge.service import desk_alerts, desk_files, desk_scorecards, desk_view, recorded_files
from firmware_bridge.service.api_access import ROLES, Caller
from firmware_bridge.service.api_operation import ROOT, Operation
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_actions import ACTIONS, Action
from firmware_bridge.service.desk_checks import PLAYERS
from firmware_bridge.service.desk_result_acts import preview, rules
from firmware_bridge.service.desk_ruling_views import logged
from firmware_bridge.service.desk_stream import MAX_STREAMS, event_stream
from firmware_bridge.service.desk_values import play_of, seat_of, text_of
from firmware_bridge.service.host import own_addresses
from terminals.players import read_players
from terminals.store import desk as desk_store
from terminals.sync.export import lines as export_lines
from terminals.sync.setup import section_number

Body = Mapping[str, Any]
_EVENT_STREAM = "text/event-stream"


async def state(request: Request, desk: Desk, caller: Caller) -> Response:
    """Everything that the desk shows first."""
    grid = desk_view.grid_view(desk)
    return JSONResponse(
        {
            "role": caller.role,
            "event": desk_view.event_view(desk),
            "grid": grid,
            "alerts": desk_alerts.alerts_view(desk, grid),
            "calls": [
                {"section": section, "table": table, **call} for (section, table), call in desk.facts.calls.items()
            ],
            "stations": sorted({one.station for one in desk.service.collector.terminals if one.present}),
        }
    )


async def status(request: Request, desk: Desk, caller: Caller) -> Response:
    """Counts, for a line of progress."""
    counts = desk_view.grid_view(desk)["counts"]
    return JSONResponse(
        {
            "event": desk.event,
            "name": desk.setup.name,
            "results_expected": counts["expected"],
            "results_stored": counts["stored"],
            "trouble": desk.service.collector.trouble,
        }
    )


async def results(request: Request, desk: Desk, caller: Caller) -> Response:
    grid = desk_view.grid_view(desk)
    return JSONResponse({"cells": grid["cells"], "others": grid["others"]})


async def ranking(request: Request, desk: Desk, caller: Caller) -> Response:
    return JSONResponse(desk_view.ranking_view(desk))


async def rounds(request: Request, desk: Desk, caller: Caller) -> Response:
    return JSONResponse(desk_scorecards.rounds_view(desk))


async def terminals(request: Request, desk: Desk, caller: Caller) -> Response:
    return JSONResponse(desk_alerts.terminals_view(desk))


async def board(request: Request, desk: Desk, caller: Caller) -> Response:
    section, number = request.path_params["section"], request.path_params["board"]
    if not number.isascii() or not number.isdigit() or len(number) > 4:
        raise EntryError("a board number is wanted.", code="bad-value")
    return JSONResponse(desk_view.board_view(desk, section, int(number)))


async def scorecard(request: Request, desk: Desk, caller: Caller) -> Response:
    section, pair = request.path_params["section"], request.path_params["pair"]
    if not pair.isascii() or not pair.isdigit() or len(pair) > 4:
        raise EntryError("a pair number is wanted.", code="bad-value")
    return JSONResponse(desk_scorecards.scorecard_view(desk, section, int(pair)))


async def play(request: Request, desk: Desk, caller: Caller) -> Response:
    """The audit trail of one play."""
    query: dict[str, Any] = dict(request.query_params)
    for name in ("board", "ns", "ew", "play"):
        if name in query:
            text = query[name]
            query[name] = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else text
    return JSONResponse(desk_view.play_view(desk, play_of(query)))


async def log(request: Request, desk: Desk, caller: Caller) -> Response:
    return JSONResponse([logged(desk, one) for one in desk_alerts.log_view(desk)])


async def stream(request: Request, desk: Desk, caller: Caller) -> Response:
    if desk.stream.listeners >= MAX_STREAMS:
        raise EntryError("too many pages listen.", next_step="Close some of them.", code="too-many-streams")
    last = request.headers.get("last-event-id")
    return event_stream(desk.stream.listen(lambda: desk.missed(last)))


async def people(request: Request, desk: Desk, caller: Caller) -> Response:
    found = sorted(desk.people.values(), key=lambda one: (one.section, one.pair, one.seat))
    return JSONResponse(
        [{"section": p.section, "pair": p.pair, "seat": p.seat, "number": p.number, "name": p.name} for p in found]
    )


async def cards(request: Request, desk: Desk, caller: Caller) -> Response:
    """Every table's token, for the printed cards. Whoever sees them can enter results."""
    found = []
    for section in desk.setup.sections:
        last = 0 if section.movement is None else section.movement.tables
        for table in range(1, last + 1):
            token = desk.access.table_token(section.number, table)
            found.append({"section": section.letter, "table": table, "token": token, "path": f"/t/{token}"})
    reachable = desk.listens not in ("127.0.0.1", "::1", "localhost")
    return JSONResponse(
        {"name": desk.setup.name, "tables": found, "addresses": own_addresses(), "reachable": reachable}
    )


async def renew_card(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
    """The table's old card is worth nothing any more."""
    letter, table = seat_of(body)
    return JSONResponse({"token": desk.access.renew_table(section_number(letter), table)})


async def codes(request: Request, desk: Desk, caller: Caller) -> Response:
    """The codes of assistants and viewers, for the director to hand out."""
    return JSONResponse({role: desk.access.codes[role] for role in ROLES if role != "director"})


async def renew_code(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
    """A new code for a role: the old one is worth nothing any more, also on pages that are open with it."""
    role = text_of(body, "role", 20)
    if role not in ROLES:
        raise EntryError(f"a role is one of {', '.join(ROLES)}.", code="bad-value")
    code = desk.access.renew_code(role)
    desk.stream.close()  # open pages come back with the code that they have
    return JSONResponse({"role": role, "code": code})


async def backup(request: Request, desk: Desk, caller: Caller) -> Response:
    """A copy of the whole store as it is now, made while play goes on; save it to a stick."""
    folder = Path(tempfile.mkdtemp(prefix="firmware-bridge-backup-"))
    target = folder / "events.db"

    def clean() -> None:
        target.unlink(missing_ok=True)
        folder.rmdir()

    await asyncio.to_thread(desk.store.backup, target)
    await desk.log("exported", what="backup")
    name = f"firmware-bridge-{desk.clock.wall():%Y-%m-%d-%H%M}.db"
    return FileResponse(target, filename=name, media_type="application/octet-stream", background=BackgroundTask(clean))


async def export(request: Request, desk: Desk, caller: Caller) -> Response:
    """Event, results, ranking and people as JSON. Veiled boards stay veiled."""
    grid = desk_view.grid_view(desk)
    value = {
        "event": desk_view.event_view(desk),
        "results": grid["cells"],
        "others": grid["others"],
        "ranking": desk_view.ranking_view(desk),
    }
    await desk.log("exported", what="json")
    return JSONResponse(value, headers={"content-disposition": 'attachment; filename="results.json"'})


async def file(request: Request, desk: Desk, caller: Caller) -> Response:
    """A printed sheet or a result file, by its kind."""
    name = request.path_params["name"]
    if name == "lines":
        if not caller.may("director"):
            raise EntryError("that file is the director's.", code="withheld")
        desk_files.unveiled(desk)
        event = desk.setup.id
        rows = desk.store.read(lambda c: [json.dumps(one, ensure_ascii=False) for one in export_lines(c, event)])
        data, media, filename = ("\n".join(rows) + "\n").encode(), "application/jsonl", "event.jsonl"
        await desk.log("exported", what="lines")
    else:
        filename, media, data = await run_in_threadpool(desk_files.file_of, desk, name)
        if name != desk_files.HANDS:  # no results are in it
            await desk.log("exported", what=name)
    return Response(data, media_type=media, headers={"content-disposition": f'attachment; filename="{filename}"'})


async def load_players(request: Request, desk: Desk, caller: Caller, data: bytes) -> Response:
    """The club's list of players, a CSV with a header row; it takes the place of the one before."""
    found = read_players(data, PLAYERS)
    rows = [(str(one.number), one.name, one.folded) for one in found]
    await desk.submit(lambda connection: desk_store.save_players(connection, rows))
    return JSONResponse({"players": len(found)})


def _act(name: str, action: Action) -> Any:
    async def run(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
        if not desk.has_event:
            raise EntryError("no event is set up yet.", code="no-event")
        if not caller.may("director") and rules(desk, name, body):
            raise EntryError("a ruling is the director's (Law 12).", code="not-allowed")
        return JSONResponse(await action.run(desk, {"actor": caller.role, **body}))

    return run


def _preview(name: str) -> Any:
    async def run(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
        if not desk.has_event:
            raise EntryError("no event is set up yet.", code="no-event")
        look = ACTIONS[name].look
        return JSONResponse(
            preview(desk, name, body) if look is None else await look(desk, {"actor": caller.role, **body})
        )

    return run


def operations() -> list[Operation]:
    """What the desk may do."""
    key = {"section": "letter", "board": "number", "ns": "pair", "ew": "pair", "play": "instance"}
    get, post = "GET", "POST"
    found = [
        Operation(get, f"{ROOT}/status", "viewer", "Counts.", status),
        Operation(get, f"{ROOT}/desk", "viewer", "Everything that the desk shows first.", state),
        Operation(get, f"{ROOT}/stream", "viewer", "What changes, as it changes.", stream, None, "", _EVENT_STREAM),
        Operation(
            get, f"{ROOT}/results", "viewer", "Every scheduled board, and those that are not scheduled.", results
        ),
        Operation(get, f"{ROOT}/ranking", "viewer", "The ranking now.", ranking),
        Operation(get, f"{ROOT}/rounds", "viewer", "Percentages after each round.", rounds),
        Operation(get, f"{ROOT}/terminals", "viewer", "Every terminal.", terminals),
        Operation(get, f"{ROOT}/boards/{{section}}/{{board}}", "viewer", "A traveller.", board),
        Operation(get, f"{ROOT}/pairs/{{section}}/{{pair}}", "viewer", "A scorecard.", scorecard),
        Operation(get, f"{ROOT}/play", "viewer", "The audit trail of one play.", play, query=key),
        Operation(get, f"{ROOT}/log", "viewer", "What happened at the desk.", log),
        Operation(get, f"{ROOT}/people", "viewer", "Who plays.", people),
        Operation(get, f"{ROOT}/cards", "director", "The tables' tokens, to print.", cards),
        Operation(
            post,
            f"{ROOT}/cards/renew",
            "director",
            "Make a table's card anew.",
            renew_card,
            {"section": "letter", "table": "number"},
        ),
        Operation(get, f"{ROOT}/codes", "director", "Codes for assistants and viewers.", codes),
        Operation(
            post,
            f"{ROOT}/codes/renew",
            "director",
            "A new code for a role; the old one ends.",
            renew_code,
            {"role": ", ".join(ROLES)},
        ),
        Operation(
            get, f"{ROOT}/backup", "director", "A copy of the store.", backup, None, "", "application/octet-stream"
        ),
        Operation(
            get,
            f"{ROOT}/files/{{name}}",
            "viewer",
            f"A sheet or result file: {', '.join([*desk_files.KINDS, *recorded_files.FILES])}, hands, lines.",
            file,
            None,
            "",
            "*/*",
        ),
        Operation(get, f"{ROOT}/export", "viewer", "Results as JSON.", export),
        Operation(post, f"{ROOT}/players", "director", "The club's players.", load_players, {}, "text/csv"),
    ]
    for name, action in ACTIONS.items():
        path = f"{ROOT}/actions/{name}"
        found.append(Operation(post, path, action.role, action.words, _act(name, action), action.fields))
        if action.preview or action.look is not None:
            words = f"What it would do to the ranking: {action.words}"
            found.append(Operation(post, f"{path}/preview", "assistant", words, _preview(name), action.fields))
    return found
