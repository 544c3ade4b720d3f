"""The HTTP interface under ``/api/v1``: one table of operations, from which routes and OpenAPI document are made.

Every operation says which role may call it. Tokens come in the ``Authorization`` header and nowhere else. Errors are
JSON with ``code``, ``what``, ``where``, ``next``.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as package_version
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from firmware_bridge.errors import FirmwareBridgeError, StoreError
from firmware_bridge.service import (
    api_deal,
    api_desk,
    api_late,
    api_plan,
    api_public,
    api_rulings,
    api_table,
    desk_backup,
    desk_recorded,
    earlier,
)
from firmware_bridge.service.api_access import LATE, Caller, origin_of
from firmware_bridge.service.api_guard import Guard
from firmware_bridge.service.api_openapi import document
from firmware_bridge.service.api_operation import ROOT, Operation
from firmware_bridge.service.api_repeats import HEADER, Repeats
from firmware_bridge.service.desk import Desk

PUBLIC = Caller("viewer")
STILL_TAKEN = "Keep the page open: what waits on it is still taken."
UPLOADS = (f"{ROOT}/deal/load", f"{ROOT}/players")


def program_version() -> str:
    try:
        return package_version("firmware-bridge")
    except PackageNotFoundError:
        return "unknown"


def operations(desk: Desk, dealing: Any = None) -> list[Operation]:
    """Every operation of the interface."""
    found = [
        *api_public.operations(),
        *api_table.operations(),
        *api_late.operations(),
        *api_desk.operations(),
        *desk_backup.operations(),
        *desk_recorded.operations(),
        *earlier.operations(),
        *api_rulings.operations(),
        *api_plan.operations(),
        *api_deal.operations(dealing),
    ]

    async def openapi(request: Request, desk: Desk, caller: Caller) -> Response:
        return JSONResponse(document(found, program_version()))

    found.insert(0, Operation("GET", f"{ROOT}/openapi.json", "", "This document.", openapi))
    return found


def make_app(desk: Desk, dealing: Any = None, pages: Sequence[BaseRoute] = ()) -> Starlette:
    """The whole application: the operations, then ``pages`` (routes of ``firmware_bridge.web``)."""
    repeats = Repeats()
    routes: list[BaseRoute] = [
        Route(one.path, _endpoint(desk, one, repeats), methods=[one.method]) for one in operations(desk, dealing)
    ]
    return Starlette(
        routes=[*routes, *pages],
        middleware=[Middleware(Guard, uploads=UPLOADS)],
        exception_handlers={HTTPException: _http_error, Exception: _fault},
    )


def _endpoint(desk: Desk, operation: Operation, repeats: Repeats) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            caller = PUBLIC
            if operation.role:
                found = _caller(request, desk)
                if isinstance(found, Response):
                    return found
                if not found.may(operation.role):
                    if found.role == LATE:
                        return error_response(403, "event-over", "this evening is over.", STILL_TAKEN)
                    return error_response(403, "not-allowed", "this token is not for that.")
                caller = found
            if operation.fields is None:
                return await operation.handler(request, desk, caller)
            plain = operation.takes == "application/json"
            # A form of another site can't send this type without asking first, and is refused then.
            if plain and request.headers.get("content-type", "").partition(";")[0].strip().lower() != operation.takes:
                return error_response(415, "not-json", "a JSON body is wanted.", "Send Content-Type: application/json.")
            data = await request.body()
            if operation.role and desk.access.caller(_token(request)) != caller:
                # While the body was on its way another event began, or the code was changed.
                return _unknown_token()
            if not plain:
                return await operation.handler(request, desk, caller, data)
            body = _parsed(data)
            if body is None:
                return error_response(400, "bad-json", "the body is no JSON object.")
            key = request.headers.get(HEADER)
            if key is None or operation.answer:
                return await operation.handler(request, desk, caller, body)
            work = partial(operation.handler, request, desk, caller, body)
            return await repeats.once(_token(request), request.url.path, key, data, work)
        except FirmwareBridgeError as error:
            return _told(error)

    return endpoint


def _parsed(data: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _caller(request: Request, desk: Desk) -> Caller | Response:
    address = origin_of(request.client.host) if request.client is not None else ""
    wait = desk.failures.wait(address)
    if wait:
        answer = error_response(429, "too-many-failures", "too many wrong codes from here.", "Wait a minute.")
        answer.headers["retry-after"] = str(int(wait) + 1)
        return answer
    token = _token(request)
    found = desk.access.caller(token)
    if found is None:
        if token:
            desk.failures.add(address)
        return _unknown_token()
    return found


def _token(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _unknown_token() -> Response:
    answer = error_response(401, "no-token", "a code is wanted.", "Open the page with its link, or type the code.")
    answer.headers["www-authenticate"] = "Bearer"
    return answer


def error_response(status: int, code: str, what: str, next_step: str = "", where: str = "") -> JSONResponse:
    return JSONResponse({"error": {"code": code, "what": what, "where": where, "next": next_step}}, status)


def _told(error: FirmwareBridgeError) -> JSONResponse:
    if isinstance(error, StoreError) and error.code not in ("table-taken",):
        return JSONResponse({"error": error.as_dict()}, 503)
    status = 400 if error.code.startswith("bad-") or error.code in ("usage", "too-long", "no-name") else 409
    if error.code.startswith("no-such") or error.code == "withheld":
        status = 404
    if error.code == "not-allowed":
        status = 403
    return JSONResponse({"error": error.as_dict()}, status)


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    words = {404: "there is nothing here.", 405: "that can't be done here."}.get(status, "it can't be done.")
    answer = error_response(status, "http", words)
    if isinstance(error, HTTPException) and error.headers:
        answer.headers.update(error.headers)
    return answer


async def _fault(request: Request, error: Exception) -> Response:
    return error_response(500, "internal", "a fault of this program.", "Nothing that was stored is lost.")


__all__ = ["ROOT", "Operation", "make_app", "operations"]
