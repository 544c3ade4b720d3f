"""The list of what needs the director: nothing that waits for him is ever left out of it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from web_fakes import Client, Page, service, until

from firmware_bridge.service import desk_alerts
from firmware_bridge.service.desk import Facts
from firmware_bridge.web.pages import read_files
from terminals.store.desk import DeskEvent

ENGLISH = json.loads(read_files()["messages/en.json"])


async def alerts(client: Client) -> list[dict[str, Any]]:
    return list((await client.get("/desk")).json()["alerts"])


def filled(alert: dict[str, Any]) -> str:
    """The words that a page shows for an alert."""
    text = str(ENGLISH[f"alert.{alert['code']}"])
    values = {**alert["values"], "causes": "; ".join(ENGLISH[f"cause.{one}"] for one in alert.get("causes", ()))}
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def test_a_call_stays_on_the_list_until_it_is_done_wherever_it_comes_from(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            desk = client.desk
            # Tables of the movement, and one that it does not have: a call is a call.
            for table in (3, 1, 77):
                await desk.log("call", section=1, table=table, state=1, round=1)
            found = [a for a in await alerts(client) if a["kind"] == "call"]
            assert [a["table"] for a in found] == [3, 1, 77], "longest waiting first"
            assert all(a["rank"] == 1 for a in found)
            await client.post("/actions/answer-call", {"section": "A", "table": 1, "state": 2})
            found = [a for a in await alerts(client) if a["kind"] == "call"]
            assert {(a["table"], a["code"]) for a in found} == {(3, "call"), (77, "call"), (1, "coming")}
            for table in (1, 3, 77):
                await client.post("/actions/answer-call", {"section": "A", "table": table, "state": 3})
            assert not [a for a in await alerts(client) if a["kind"] == "call"]

    asyncio.run(run())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(("call", "call-answered")), st.integers(1, 4), st.integers(0, 3)), max_size=30)
)
def test_open_calls_and_alerts_are_the_same_whatever_happens(events: list[tuple[str, int, int]]) -> None:
    facts = Facts()
    last: dict[int, int] = {}
    for at, (kind, table, state) in enumerate(events, 1):
        facts.take(DeskEvent(kind, {"section": 1, "table": table, "state": state}, "", "", number=at))
        last[table] = state
    shown: dict[int, str] = {}

    class Room:
        pass

    room: Any = Room()
    room.facts = facts
    desk_alerts._calls(room, lambda rank, kind, code, text, values, **more: shown.__setitem__(more["table"], code))
    assert shown == {t: {1: "call", 2: "coming"}[s] for t, s in last.items() if s in (1, 2)}


def test_a_board_that_a_table_left_out_is_named_once_it_has_gone_on(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            page = Page(client, 1, 0xA1)
            await page.hello()
            await page.exchange(records=[page.record(1, 1, 4)])
            assert not [a for a in await alerts(client) if a["kind"] == "missing"]
            await page.exchange(records=[page.record(3, 1, 6, round=2)])
            found = [a for a in await alerts(client) if a["kind"] == "missing"]
            assert [(a["table"], a["values"]["board"], a["values"]["round"]) for a in found] == [(1, 2, 1)]
            await page.exchange(records=[page.record(2, 1, 4)])
            assert not [a for a in await alerts(client) if a["kind"] == "missing"]

    asyncio.run(run())


def test_a_silent_terminal_a_low_battery_and_results_that_do_not_arrive_are_named(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            page = Page(client, 2, 0xA2)
            await page.hello()
            await page.exchange(status={"round": 1, "waiting": 5, "clock": 1, "plan_version": 1, "battery": 9})
            await until(lambda: alerts(client), lambda found: {"battery", "waiting"} <= {a["code"] for a in found})
            found = {a["code"]: a for a in await alerts(client)}
            assert found["battery"]["values"] == {"place": "A2", "percent": 9}
            assert found["waiting"]["values"]["count"] == 5
            for box in client.desk.hub.boxes_at((1, 2)):
                box.last_seen -= 1000
            await client.desk.hub.sweep()
            await until(lambda: alerts(client), lambda found: "silent-waiting" in {a["code"] for a in found})
            found = {a["code"]: a for a in await alerts(client)}
            assert found["silent-waiting"]["rank"] == 2
            for alert in found.values():
                assert filled(alert) == alert["text"], "the page's words are the service's"

    asyncio.run(run())


@pytest.mark.parametrize("veiled", [False, True])
def test_causes_of_a_check_go_to_the_desk_unless_the_board_is_veiled(tmp_path: Path, veiled: bool) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            if veiled:
                await client.post("/actions/settings", {"settings": {"playing_director": ["A1"]}})
            await client.desk.log(
                "entry-check", section="A", table=1, board=5, causes=["far-from-double-dummy", "sign-opposite-to-field"]
            )
            (alert,) = [a for a in await alerts(client) if a["kind"] == "check"]
            assert alert["code"] == ("check-veiled" if veiled else "check")
            assert ("double dummy" in alert["text"]) is not veiled
            assert filled(alert) == alert["text"]

    asyncio.run(run())


def test_every_alert_code_of_the_source_has_words() -> None:
    import inspect
    import re

    source = inspect.getsource(desk_alerts)
    codes = set(re.findall(r'add\(\s*\d, "[a-z-]+", "([a-z-]+)"', source)) | {"call", "coming", "check-veiled"}
    codes |= set(desk_alerts._HELD.values()) | {"contested", "erased-elsewhere", "after-ruling"}
    assert len(codes) > 12
    assert {f"alert.{code}" for code in codes} <= set(ENGLISH)
