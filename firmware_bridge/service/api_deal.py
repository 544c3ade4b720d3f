"""Routes of the dealing screen: sets of deals, the job on the machine. No route gives or takes a single card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from firmware_bridge.errors import EntryError
from firmware_bridge.service import desk_deal_record
from firmware_bridge.service.api_access import Caller
from firmware_bridge.service.api_operation import ROOT, Operation
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_dealing import DealingDesk
from firmware_bridge.service.desk_values import text_of, whole_of

Body = Mapping[str, Any]


def operations(dealing: DealingDesk | None) -> list[Operation]:
    """What the dealing screen may do."""

    def there() -> DealingDesk:
        if dealing is None:
            raise EntryError("this service does no dealing.", code="no-dealing")
        return dealing

    async def state(request: Request, desk: Desk, caller: Caller) -> Response:
        return JSONResponse(there().view())

    async def generate(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
        first = whole_of(body, "first", 1, 999, 1)
        await there().generate(first, whole_of(body, "last", first, 999))
        return JSONResponse(there().view())

    async def load(request: Request, desk: Desk, caller: Caller, data: bytes) -> Response:
        await there().load(data, request.query_params.get("name", "")[:80])
        return JSONResponse(there().view())

    async def start(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
        await there().start(whole_of(body, "copies", 1, 9, 1))
        return JSONResponse(there().view())

    async def confirm(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
        there().confirm(whole_of(body, "board", 0, 999, 0))
        return JSONResponse(there().view())

    async def stop(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
        await there().stop()
        return JSONResponse(there().view())

    async def record(request: Request, desk: Desk, caller: Caller) -> Response:
        return JSONResponse(await desk_deal_record.record_view(desk.directory, there().set_id))

    async def cleaned(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
        await desk_deal_record.cleaned(desk.directory, text_of(body, "machine", 16))
        return JSONResponse(await desk_deal_record.record_view(desk.directory, there().set_id))

    here, post = f"{ROOT}/deal", "POST"
    return [
        Operation("GET", here, "assistant", "Machine, set and job.", state),
        Operation(
            post, f"{here}/generate", "assistant", "A new random set.", generate, {"first?": "board", "last": "board"}
        ),
        Operation(
            post,
            f"{here}/load",
            "assistant",
            "The boards of a deal file.",
            load,
            {},
            "application/octet-stream",
            query={"name": "of the file"},
        ),
        Operation(
            post, f"{here}/start", "assistant", "Make what is not made yet.", start, {"copies?": "of each board"}
        ),
        Operation(
            post,
            f"{here}/confirm",
            "assistant",
            "The board in the machine is the one shown.",
            confirm,
            {"board?": "as it was shown"},
        ),
        Operation(post, f"{here}/stop", "assistant", "Stop the machine.", stop, {}),
        Operation("GET", f"{here}/record", "assistant", "Attempts, sets made here, health of the machines.", record),
        Operation(
            post, f"{here}/cleaned", "assistant", "The machine was cleaned.", cleaned, {"machine": "16 hex digits"}
        ),
    ]
