"""The service's small HTTP interface: what is collected, as JSON. Loopback unless told otherwise; it changes nothing.

No opening lead and no deal is given out: other tables have yet to play the board.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from firmware_bridge.errors import ConfigError
from firmware_bridge.service.collecting import Collection
from firmware_bridge.service.ranking import rank_event, rankings_json
from terminals.result import Played
from terminals.sync.setup import section_letter
from terminals.sync.tables import Cell, cells


def make_app(collection: Collection) -> Starlette:
    """Routes: /api/v1/status, /api/v1/results, /api/v1/ranking, /api/v1/terminals."""

    async def status(_request: Request) -> JSONResponse:
        found = cells(collection.setup, collection.current())
        stored = sum(cell.result is not None and cell.result.content is not None for cell in found)
        trouble = collection.service.collector.trouble
        return JSONResponse(
            {
                "event": f"{collection.setup.id:016x}",
                "name": collection.setup.name,
                "results_expected": len(found),
                "results_stored": stored,
                "trouble": trouble,
            }
        )

    async def results(_request: Request) -> JSONResponse:
        return JSONResponse([_cell(cell) for cell in cells(collection.setup, collection.current())])

    async def ranking(_request: Request) -> JSONResponse:
        return JSONResponse(rankings_json(rank_event(collection.setup, collection.current())))

    async def terminals(_request: Request) -> JSONResponse:
        return JSONResponse([_terminal(one) for one in collection.service.collector.terminals])

    return Starlette(
        routes=[
            Route("/api/v1/status", status),
            Route("/api/v1/results", results),
            Route("/api/v1/ranking", ranking),
            Route("/api/v1/terminals", terminals),
        ]
    )


def _cell(cell: Cell) -> dict[str, Any]:
    content = None if cell.result is None else cell.result.content
    return {
        "section": cell.section,
        "round": cell.round,
        "table": cell.table,
        "board": cell.board,
        "ns": cell.ns,
        "ew": cell.ew,
        "state": cell.state.value,
        "result": None if content is None else str(content),
        "tricks": content.tricks if isinstance(content, Played) else None,
    }


def _terminal(terminal: Any) -> dict[str, Any]:
    held = terminal.status
    return {
        "device": f"{terminal.device:016x}",
        "model": terminal.model,
        "admitted": terminal.admitted,
        "present": terminal.present,
        "section": section_letter(terminal.section) if terminal.section else None,
        "table": terminal.table or None,
        "waiting": None if held is None else held.waiting,
        "battery": None if held is None or held.battery == 255 else held.battery,
    }


class _Server(uvicorn.Server):
    """Signals belong to the command that runs the service."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def serving(collection: Collection, host: str, port: int) -> AsyncIterator[str]:
    """Serve while the block runs; gives the URL. Raises ConfigError when the address can't be used."""
    config = uvicorn.Config(
        make_app(collection),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        lifespan="off",
        limit_concurrency=200,
        timeout_keep_alive=5,
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started and not task.done():
        await asyncio.sleep(0.01)
    if task.done():
        # uvicorn ends the process when it can't bind; here that is an error like any other.
        with contextlib.suppress(SystemExit):
            task.result()
        raise _taken(host, port)
    sockets = server.servers[0].sockets
    actual = sockets[0].getsockname()[1] if sockets else port
    try:
        yield f"http://{host}:{actual}"
    finally:
        server.should_exit = True
        await asyncio.wait([task])


def _taken(host: str, port: int) -> ConfigError:
    return ConfigError(
        f"the address {host}:{port} can't be used.",
        next_step="Stop the program that uses it, or choose another port with --port.",
        code="address-in-use",
    )
