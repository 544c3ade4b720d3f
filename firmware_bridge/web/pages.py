"""The pages as files of this package, served from memory with a tag, and the QR codes of the table cards.

There is no path from a request to the file system: what can be asked for is listed once, at the start. Pages come in
the language that the browser asks for, with their words inside; their files lie under a path that changes with their
content, so that a phone that has been here before asks for nothing but the page.
"""

from __future__ import annotations

import gzip
import hashlib
import io
from functools import lru_cache
from importlib import resources
from typing import Any

import segno
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from firmware_bridge.web.bundle import bundle, lean, style
from firmware_bridge.web.words import DEFAULT, FOLDER, Words, chosen, page_html, read_words

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
SCRIPTS = ("terminal", "deal", "results", "cards")
"""Pages whose modules are joined: all but the desk, to which other modules may be added."""
MAX_QR = 300
LITTLE = 500
"""Bytes below which nothing is compressed."""
FOR_EVER = "public, max-age=31536000, immutable"


class _File:
    def __init__(self, name: str, data: bytes, vary: str = "accept-encoding") -> None:
        self.data = data
        self.kind = _TYPES[name.rpartition(".")[2]]
        self.packed = gzip.compress(data, 9, mtime=0) if len(data) >= LITTLE else b""
        self.tag = hashlib.sha256(data).hexdigest()[:20]
        self.vary = vary

    def answer(self, request: Request, cache: str = "no-cache") -> Response:
        packed = bool(self.packed) and "gzip" in request.headers.get("accept-encoding", "")
        tag = f'"{self.tag}-gz"' if packed else f'"{self.tag}"'
        headers = {"etag": tag, "cache-control": cache, "vary": self.vary}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        if packed:
            headers["content-encoding"] = "gzip"
        return Response(self.packed if packed else self.data, media_type=self.kind, headers=headers)


def read_files() -> dict[str, bytes]:
    """Every file of the pages as it is written: its name ("desk.js", "messages/en.json") and content."""
    root = resources.files("firmware_bridge.web").joinpath("static")
    found = {}
    for item in root.iterdir():
        if item.is_file() and item.name.rpartition(".")[2] in _TYPES:
            found[item.name] = item.read_bytes()
    for item in root.joinpath("messages").iterdir():
        if item.name.endswith(".json"):
            found[f"{FOLDER}{item.name}"] = item.read_bytes()
    return found


def served_files() -> dict[str, bytes]:
    """The files and what is joined from them: ``terminal.all.js``, ``desk.all.css``. Raises BundleError."""
    files = read_files()
    joined = {f"{name}.all.js": bundle(files, f"{name}.js") for name in SCRIPTS}
    joined |= {
        f"{page.removesuffix('.html')}.all.css": style(files, "base.css", page.replace(".html", ".css"))
        for page in set(PAGES.values())
    }
    alone = {name: lean(name, data.decode()).encode() for name, data in files.items() if name.endswith(".js")}
    return {**files, **alone, **joined}


def version_of(files: dict[str, bytes]) -> str:
    """A name for exactly these files."""
    whole = hashlib.sha256()
    for name in sorted(files):
        whole.update(name.encode() + b"\0" + hashlib.sha256(files[name]).digest())
    return whole.hexdigest()[:12]


def page_files(files: dict[str, bytes]) -> dict[tuple[str, str], bytes]:
    """(page, language) -> the page with its words, its files under the path of this version."""
    known, version = read_words(files), version_of(files)
    return {
        (page, code): page_html(
            page, files[page].decode().replace("/static/", f"/static/{version}/"), words, known
        ).encode()
        for page in set(PAGES.values())
        for code, words in known.items()
    }


@lru_cache(maxsize=1)
def _prepared() -> tuple[str, dict[str, Words], dict[str, _File], dict[tuple[str, str], _File]]:
    """Version, words, files and pages; made once in a process."""
    contents = served_files()
    files = {name: _File(name, data) for name, data in contents.items() if not name.endswith(".html")}
    pages = {key: _File(key[0], data, "accept-language, accept-encoding") for key, data in page_files(contents).items()}
    return version_of(contents), read_words(contents), files, pages


def routes() -> list[BaseRoute]:
    """Routes of all pages."""
    version, known, files, pages = _prepared()

    async def asset(request: Request) -> Response:
        found = files.get(request.path_params["name"])
        wanted = request.path_params.get("version")
        if found is None or wanted not in (None, version):
            return Response("There is nothing here.", 404, media_type="text/plain")
        return found.answer(request, "no-cache" if wanted is None else FOR_EVER)

    async def message(request: Request) -> Response:
        name = request.path_params["name"]
        if name == "index.json":
            return JSONResponse(_languages(known), headers={"cache-control": "no-cache"})
        found = files.get(f"{FOLDER}{name}")
        return Response(status_code=404) if found is None else found.answer(request)

    async def start(request: Request) -> Response:
        return RedirectResponse("/results")

    def page(name: str) -> Any:
        async def show(request: Request) -> Response:
            code = chosen(request.headers.get("accept-language", ""), known)
            return pages[name, code if (name, code) in pages else DEFAULT].answer(request)

        return show

    return [
        Route("/", start),
        Route("/static/{name}", asset),
        Route("/static/{version}/{name}", asset),
        Route("/messages/{name}", message),
        Route("/qr.svg", qr),
        *(Route(path, page(name)) for path, name in PAGES.items()),
    ]


async def qr(request: Request) -> Response:
    """The QR code of ``text`` as a picture."""
    text = request.query_params.get("text", "")
    if not 0 < len(text) <= MAX_QR:
        return Response("A text of at most 300 letters is wanted.", 400, media_type="text/plain")
    out = io.BytesIO()
    segno.make(text, error="m", micro=False).save(out, kind="svg", scale=4, border=2, xmldecl=False)
    return Response(out.getvalue(), media_type="image/svg+xml", headers={"cache-control": "no-store"})


def _languages(known: dict[str, Words]) -> list[dict[str, str]]:
    return [{"code": one.code, "name": one.name} for one in known.values()]
