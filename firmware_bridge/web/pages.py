"""The pages as files of this package, served from memory with a tag, and the QR codes of the table cards.

There is no path from a request to the file system: what can be asked for is listed once, at the start.
"""

from __future__ import annotations

import hashlib
import io
import json
from importlib import resources
from typing import Any

import segno
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
}
PAGES = {
    "/t/{token}": "terminal.html",
    "/desk": "desk.html",
    "/cards": "cards.html",
    "/deal": "deal.html",
    "/results": "results.html",
    "/results/{rest:path}": "results.html",
}
MAX_QR = 300


class _File:
    def __init__(self, name: str, data: bytes) -> None:
        self.data = data
        self.kind = _TYPES[name.rpartition(".")[2]]
        self.tag = f'"{hashlib.sha256(data).hexdigest()[:20]}"'

    def answer(self, request: Request) -> Response:
        headers = {"etag": self.tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == self.tag:
            return Response(status_code=304, headers=headers)
        return Response(self.data, media_type=self.kind, headers=headers)


def read_files() -> dict[str, bytes]:
    """Every file of the pages: its name ("desk.js", "messages/en.json") and content."""
    root = resources.files("firmware_bridge.web").joinpath("static")
    found = {}
    for item in root.iterdir():
        if item.is_file() and item.name.rpartition(".")[2] in _TYPES:
            found[item.name] = item.read_bytes()
    for item in root.joinpath("messages").iterdir():
        if item.name.endswith(".json"):
            found[f"messages/{item.name}"] = item.read_bytes()
    return found


def routes() -> list[BaseRoute]:
    """Routes of all pages."""
    files = {name: _File(name, data) for name, data in read_files().items()}
    languages = _languages(files)

    async def asset(request: Request) -> Response:
        found = files.get(request.path_params["name"])
        if found is None or found.kind.startswith("text/html"):
            return Response("There is nothing here.", 404, media_type="text/plain")
        return found.answer(request)

    async def message(request: Request) -> Response:
        name = request.path_params["name"]
        if name == "index.json":
            return JSONResponse(languages, headers={"cache-control": "no-cache"})
        found = files.get(f"messages/{name}")
        return Response(status_code=404) if found is None else found.answer(request)

    async def start(request: Request) -> Response:
        return RedirectResponse("/results")

    def page(name: str) -> Any:
        async def show(request: Request) -> Response:
            return files[name].answer(request)

        return show

    return [
        Route("/", start),
        Route("/static/{name}", asset),
        Route("/messages/{name}", message),
        Route("/qr.svg", qr),
        *(Route(path, page(name)) for path, name in PAGES.items() if name in files),
    ]


async def qr(request: Request) -> Response:
    """The QR code of ``text`` as a picture."""
    text = request.query_params.get("text", "")
    if not 0 < len(text) <= MAX_QR:
        return Response("A text of at most 300 letters is wanted.", 400, media_type="text/plain")
    out = io.BytesIO()
    segno.make(text, error="m", micro=False).save(out, kind="svg", scale=4, border=2, xmldecl=False)
    return Response(out.getvalue(), media_type="image/svg+xml", headers={"cache-control": "no-store"})


def _languages(files: dict[str, _File]) -> list[dict[str, str]]:
    found = []
    for name, file in sorted(files.items()):
        if name.startswith("messages/"):
            words = json.loads(file.data)
            code = name.removeprefix("messages/").removesuffix(".json")
            found.append({"code": code, "name": str(words.get("language-name", code))})
    return found
