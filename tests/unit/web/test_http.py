"""What an unfriendly network sends: no token, wrong tokens, long bodies, foreign forms, strange paths."""

from __future__ import annotations

import asyncio
import re
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from web_fakes import service

from firmware_bridge.errors import StoreError
from firmware_bridge.service.api import operations
from firmware_bridge.service.api_access import Access, Caller, Failures
from firmware_bridge.service.api_guard import MAX_BODY
from firmware_bridge.web.pages import read_files


def test_every_operation_asks_for_the_token_that_its_row_names(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            for one in operations(client.desk):
                path = re.sub(r"\{\w+\}", "1", one.path)
                json = {} if one.fields is not None else None
                if one.role:
                    for token, wanted in ((None, 401), ("wrong-wrong-wrong", 401)):
                        client.desk.failures.__init__(client.desk.clock.monotonic)  # type: ignore[misc]
                        found = await client.http.request(one.method, path, json=json, headers=client.head(token))
                        assert found.status_code == wanted, one.path
                lower = {
                    "table": "director",
                    "late": "director",
                    "viewer": "",
                    "assistant": "viewer",
                    "director": "assistant",
                    "": "",
                }
                other = lower[one.role]
                if other:
                    token = client.role(other)
                    found = await client.http.request(one.method, path, json=json, headers=client.head(token))
                    assert found.status_code == 403, one.path
                if one.role in ("viewer", "assistant", "director"):
                    found = await client.http.request(one.method, path, json=json, headers=client.head(client.table(1)))
                    assert found.status_code == 403, one.path

    asyncio.run(run())


def test_wrong_tokens_are_slowed_down_and_the_right_one_waits_too(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            codes = [(await client.get("/desk", f"guess-{n:04}-guess")).status_code for n in range(25)]
            assert codes[:20] == [401] * 20
            assert codes[20:] == [429] * 5
            found = await client.get("/desk")
            assert found.status_code == 429
            assert int(found.headers["retry-after"]) > 0

    asyncio.run(run())


def test_failures_are_forgotten_after_the_window_and_memory_is_bounded() -> None:
    now = [0.0]
    failures = Failures(lambda: now[0], limit=3, window=60, addresses=5)
    for _ in range(3):
        failures.add("a")
    assert failures.wait("a") == pytest.approx(60)
    now[0] = 61
    assert failures.wait("a") == 0
    for n in range(50):
        failures.add(f"b{n}")
    assert len(failures._seen) == 5


def test_bodies_have_a_limit_declared_or_not(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            head = {**client.head(client.role("director")), "content-type": "application/json"}

            async def drip() -> AsyncIterator[bytes]:
                for _ in range(MAX_BODY // 1000 + 5):
                    yield b" " * 1000

            for content in (b" " * (MAX_BODY + 1), drip()):
                found = await client.http.post("/api/v1/actions/message", content=content, headers=head)
                assert found.status_code == 413

    asyncio.run(run())


def test_a_form_of_another_site_is_refused(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            head = client.head(client.role("director"))
            for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"):
                found = await client.http.post(
                    "/api/v1/actions/message", content=b'{"text": "hello"}', headers={**head, "content-type": kind}
                )
                assert found.status_code == 415
            found = await client.get("/desk")
            assert "set-cookie" not in found.headers
            assert "access-control-allow-origin" not in found.headers

    asyncio.run(run())


def test_every_answer_carries_the_security_headers(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            for path in ("/t/abc", "/desk", "/static/base.js", "/api/v1/health", "/nothing", "/api/v1/desk", "/qr.svg"):
                found = await client.http.get(path)
                policy = found.headers["content-security-policy"]
                assert "script-src 'self'" in policy
                assert "unsafe" not in policy
                assert "frame-ancestors 'none'" in policy
                assert found.headers["x-content-type-options"] == "nosniff"
                assert found.headers["referrer-policy"] == "no-referrer"

    asyncio.run(run())


def test_no_path_leads_out_of_the_pages(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            for name in (
                "..%2f..%2fpyproject.toml",
                "%2e%2e/pages.py",
                "../access.json",
                "..\\..\\x",
                "a%00b",
                "desk.html",
            ):
                found = await client.http.get(f"/static/{name}")
                assert found.status_code == 404, name
                found = await client.http.get(f"/messages/{name}")
                assert found.status_code == 404, name

    asyncio.run(run())


def test_pages_have_no_inline_code_and_ask_nobody_else() -> None:
    for name, data in read_files().items():
        text = data.decode()
        assert not re.search(r"https?://(?!www\.w3\.org/(2000/svg|1999))", text), name
        if name.endswith(".html"):
            assert not re.search(r"<script(?![^>]*\bsrc=)", text), name
            assert not re.search(r"\son\w+=|<style|style=", text), name
        if name.endswith(".js"):
            assert not re.search(
                r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text
            ), name


def test_codes_are_private_and_last(tmp_path: Path) -> None:
    first = Access.open(tmp_path)
    path = tmp_path / "access.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = Access.open(tmp_path)
    assert again.codes == first.codes
    assert again.caller(first.codes["viewer"].upper()) == Caller("viewer")
    assert len(set(first.codes.values())) == 3
    assert not any(code in repr(first) for code in first.codes.values())
    again.renew_code("director")
    assert Access.open(tmp_path).caller(first.codes["director"]) is None
    path.write_text('{"secret": "00"}')
    with pytest.raises(StoreError):
        Access.open(tmp_path)


def test_a_renewed_code_ends_the_old_one_also_on_open_pages(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            old = dict(client.desk.access.codes)
            told: list[str] = []
            client.desk.access.on_renewed = lambda: told.append(client.role("director"))
            listening = client.desk.stream.subscribe()
            for role in ("viewer", "assistant", "director"):
                found = (await client.post("/codes/renew", {"role": role}, client.role("director"))).json()
                assert found == {"role": role, "code": client.role(role)}
                assert (await client.get("/desk", old[role])).status_code == 401
                assert (await client.get("/desk", client.role(role))).status_code == 200
            assert listening.lost, "it has to come back, with a code that is good"
            assert told[-1] == client.role("director") != old["director"]
            assert (await client.post("/codes/renew", {"role": "table"})).status_code == 400
            assert (await client.post("/codes/renew", {"role": "viewer"}, client.role("assistant"))).status_code == 403
        assert Access.open(tmp_path).codes == client.desk.access.codes

    asyncio.run(run())


def test_a_renewed_card_makes_the_old_one_worthless(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            old = client.table(2)
            found = await client.post("/cards/renew", {"section": "A", "table": 2})
            new = found.json()["token"]
            assert new != old
            assert (await client.get("/table", old)).status_code == 401
            assert (await client.get("/table", new)).json()["table"] == 2

    asyncio.run(run())


@given(st.text(max_size=80))
def test_no_text_is_a_token_by_chance(text: str) -> None:
    access = Access(Path("nowhere"), bytes(32), {"director": "abcd-efgh-jkmn"}, {})
    access._index()
    found = access.caller(text)
    assert (found is not None) == (text.strip().lower() == "abcd-efgh-jkmn" and len(text) <= 64)


def test_the_document_describes_every_route_and_nothing_else(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            found = (await client.http.get("/api/v1/openapi.json")).json()
            described = {(path, method.upper()) for path, one in found["paths"].items() for method in one}
            assert described == {(one.path, one.method) for one in operations(client.desk)}
            for path, methods in found["paths"].items():
                for method, one in methods.items():
                    assert one["summary"], (path, method)
                    assert set(re.findall(r"\{(\w+)\}", path)) == {
                        p["name"] for p in one.get("parameters", ()) if p["in"] == "path"
                    }

    asyncio.run(run())
