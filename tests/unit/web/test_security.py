"""What the pages and the interface withstand, one test for each kind of attack (more in test_http and test_sockets)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from test_sockets import APP
from web_fakes import Page, service

from firmware_bridge.service import api_guard
from firmware_bridge.service.api import operations
from firmware_bridge.service.api_access import ROLES, Access, Caller, origin_of
from firmware_bridge.service.api_guard import MAX_BODY, serving
from firmware_bridge.web.pages import PAGES, page_files, routes, served_files
from firmware_bridge.web.publish import Board, publish

NASTY = "</script><img src=x onerror=alert(1)>\"'&{{desk.title}}"


# --- who may read the codes --------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_everything_that_the_service_keeps_is_its_owners(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path):
            pass

    before = os.umask(0o022)
    try:
        asyncio.run(run())
        os.chmod(tmp_path / "access.json", 0o644)  # as after a copy
        Access.open(tmp_path).renew_code("viewer")
    finally:
        os.umask(before)
    kept = {path.name: path.stat().st_mode & 0o077 for path in tmp_path.rglob("*") if path.is_file()}
    assert {"access.json", "events.db"} <= kept.keys()
    assert set(kept.values()) == {0}, kept


# --- clickjacking ------------------------------------------------------------------------------------------------


def test_no_page_can_be_put_into_a_frame_of_another(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            for path in PAGES:
                found = await client.http.get(path.replace("{token}", client.table(1)).replace("{rest:path}", "x"))
                assert found.status_code == 200, path
                assert found.headers["x-frame-options"] == "DENY"
                assert "frame-ancestors 'none'" in found.headers["content-security-policy"]

    asyncio.run(run())


# --- requests in somebody else's name ----------------------------------------------------------------------------


def test_another_site_gets_no_permission_and_nothing_is_done_without_the_header(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            other = {"origin": "http://evil.example", "access-control-request-method": "POST"}
            code = client.role("director")
            for path in ("/api/v1/actions/message", "/api/v1/table/exchange", "/api/v1/setup/start"):
                asked = await client.http.options(path, headers=other)
                assert asked.status_code in (404, 405)
                assert not [name for name in asked.headers if name.startswith("access-control")]
                # The code in a cookie, in the address or in the body is no code.
                for request in (
                    {"headers": {**other, "cookie": f"token={code}"}, "json": {}},
                    {"headers": other, "json": {"token": code, "authorization": f"Bearer {code}"}},
                    {"headers": other, "json": {}, "params": {"token": code, "authorization": code}},
                ):
                    assert (await client.http.post(path, **request)).status_code == 401

    asyncio.run(run())


# --- script in what people type ----------------------------------------------------------------------------------


def test_what_people_type_is_text_on_every_served_and_written_page(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path / "data") as client:
            page = Page(client, 1, 0xA1)
            await page.hello()
            players = [{"number": "1", "name": NASTY}, {"number": "2", "name": NASTY}]
            await client.post("/table/people", {"pair": 1, "players": players}, page.token)
            for cell in (await client.get("/results")).json()["cells"]:
                key = {name: cell[name] for name in ("section", "board", "ns", "ew")}
                await client.post(
                    "/actions/correct", {**key, "contract": "1NT", "declarer": "N", "tricks": "=", "actor": NASTY[:40]}
                )
            await client.post("/actions/publish", {"actor": "Ann"})

            async def ask(path: str) -> Any:
                return (await client.http.get(f"/api/v1{path}")).json()

            results = await ask("/public/results")
            results["name"] = NASTY
            boards = [Board(await ask("/public/boards/A/1"))]
            cards = [await ask("/public/pairs/A/1")]
            for path in publish(tmp_path / "out", results, boards, cards):
                if path.suffix == ".html":
                    text = path.read_text(encoding="utf-8")
                    assert "<img src=x" not in text, path.name
                    assert "<script" not in text, path.name
                    assert "onerror=alert" not in re.sub(r"&lt;.*?&gt;", "", text)
            # JSON is JSON: no browser takes it for a page.
            found = await client.http.get("/api/v1/public/pairs/A/1")
            assert found.headers["content-type"] == "application/json"
            assert found.headers["x-content-type-options"] == "nosniff"

    (tmp_path / "data").mkdir()
    asyncio.run(run())


def test_a_served_page_runs_nothing_but_its_own_files() -> None:
    for (name, _), data in page_files(served_files()).items():
        html = data.decode()
        for tag in re.findall(r"<script[^>]*>", html):
            assert 'type="application/json" id="words"' in tag or re.search(r'src="/static/[0-9a-f]+/[\w.-]+"', tag), (
                tag
            )
        assert not re.search(r"\son\w+=|javascript:|<style|style=", html), name
        words = html.partition('id="words">')[2].partition("</script>")[0]
        assert "<" not in words
        json.loads(words)


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '"><svg onload=alert(1)>', "x" * 301, ""])
def test_the_picture_of_a_code_holds_none_of_its_text(tmp_path: Path, text: str) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            found = await client.http.get("/qr.svg", params={"text": text})
            if 0 < len(text) <= 300:
                assert found.headers["content-type"].startswith("image/svg+xml")
                assert b"alert" not in found.content
                assert b"script" not in found.content
            else:
                assert found.status_code == 400

    asyncio.run(run())


# --- paths -------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(st.sampled_from("./\\%2eEfF0azdesk.js\0 "), max_size=40), min_size=8, max_size=8))
def test_no_name_leads_to_a_file_that_is_not_listed(names: list[str]) -> None:
    known = {data for name, data in served_files().items() if not name.endswith(".html")}
    app = Starlette(routes=routes())

    async def run() -> None:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://club") as client:
            for name in names:
                for folder in ("static", "static/x", "messages"):
                    try:
                        found = await client.get(f"/{folder}/{name}")
                    except httpx.InvalidURL:  # an address that no client can send
                        continue
                    assert found.status_code in (307, 404) or found.content in known or name.endswith("index.json")

    asyncio.run(run())


# --- guessing ----------------------------------------------------------------------------------------------------


def test_an_ipv6_network_is_one_caller() -> None:
    assert origin_of("2001:db8:1:2::7") == origin_of("2001:db8:1:2:ffff::1")
    assert origin_of("2001:db8:1:3::7") != origin_of("2001:db8:1:2::7")
    assert origin_of("::ffff:10.0.0.9") == origin_of("10.0.0.9") == "10.0.0.9"
    assert origin_of("fe80::1%eth0") == origin_of("fe80::2%eth0")
    assert origin_of("::1") == "::1"
    assert origin_of("") == ""
    assert origin_of("testclient") == "testclient"


def test_wrong_table_tokens_count_too_and_one_address_does_not_lock_out_another(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            for n in range(20):
                assert (await client.get("/table", f"{n:016}")).status_code == 401
            assert (await client.get("/table", client.table(1))).status_code == 429
            transport = httpx.ASGITransport(app=client.http._transport.app, client=("10.0.0.10", 1))  # type: ignore[attr-defined]
            async with httpx.AsyncClient(transport=transport, base_url="http://club") as other:
                found = await other.get("/api/v1/table", headers=client.head(client.table(1)))
                assert found.status_code == 200

    asyncio.run(run())


def test_guessing_the_directors_pin_at_a_phone_is_slowed_down_and_told(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            await client.post("/actions/settings", {"settings": {"director_pin": "4711"}})
            for n in range(5):
                found = (await client.post("/table/pin", {"pin": f"000{n}"}, client.table(2))).json()
                assert found == {"ok": False, "wait": False}
            assert (await client.post("/table/pin", {"pin": "4711"}, client.table(2))).json()["wait"] is True
            assert (await client.post("/table/pin", {"pin": "4711"}, client.table(1))).json()["ok"] is True
            texts = [alert["text"] for alert in (await client.get("/desk")).json()["alerts"]]
            assert "Table A2 tried the director's PIN 5 times in vain." in texts

    asyncio.run(run())


# --- too much, too slow ------------------------------------------------------------------------------------------


def test_bodies_that_are_deep_or_odd_are_answered_with_400(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            head = {**client.head(client.role("director")), "content-type": "application/json"}
            deep = b"[" * (MAX_BODY - 10)
            for content in (deep, b'{"a":' * 10_000, b"\xff\xfe", b"null", b"[]", b"", b'{"text": 1e999}'):
                found = await client.http.post("/api/v1/actions/message", content=content, headers=head)
                assert found.status_code == 400, content[:20]
                assert "error" in found.json()

    asyncio.run(run())


def test_one_address_can_not_take_every_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_guard, "OWN", frozenset())
    monkeypatch.setattr(api_guard, "CONNECTIONS_EACH", 5)

    async def run() -> None:
        async with serving(APP, "127.0.0.1", 0) as url:
            port = int(url.rpartition(":")[2])
            held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(5)]
            await asyncio.sleep(0.05)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            try:
                assert await asyncio.wait_for(reader.read(), 60) == b""
            except ConnectionError:
                pass
            writer.close()
            for _, one in held:
                one.close()
            answer = b""
            async with asyncio.timeout(60):
                while not answer:  # until the service has noticed that the others are gone
                    reader, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.write(b"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    with contextlib.suppress(ConnectionError):
                        answer = await reader.read()
                    writer.close()
            assert answer.startswith(b"HTTP/1.1 200")

    asyncio.run(run())


# --- roles -------------------------------------------------------------------------------------------------------


def test_each_role_may_what_those_below_it_may_and_a_table_nothing_of_the_desk(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            for one in operations(client.desk):
                if one.role not in ROLES:
                    continue
                allowed = [role for role in ROLES if Caller(role).may(one.role)]
                assert allowed == list(ROLES[ROLES.index(one.role) :])
                assert not Caller("table", 1, 1).may(one.role)
            writing = {o.path for o in operations(client.desk) if o.method == "POST" and o.role == "viewer"}
            looking = {"/api/v1/setup/propose", "/api/v1/setup/check"}
            assert writing <= looking, "a viewer changes nothing"

    asyncio.run(run())
