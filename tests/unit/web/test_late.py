"""What a phone still holds when its evening is over is delivered into that evening; its card gives nothing else."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from web_fakes import Client, Page, service, until

from firmware_bridge.clock import ManualClock
from firmware_bridge.service.past_cards import FILE_NAME, LATE_S, MAX_EVENTS, PastCards
from terminals.settings import EventSettings
from terminals.store import desk as desk_store
from terminals.store import ledger
from terminals.sync.setup import new_event

ONE, TWO = 0x1111_2222_3333_4444, 0x5555_6666_7777_8888


async def another_event(client: Client) -> None:
    found = await client.post("/setup/start", {"again": True, "name": "Next", "instead": True})
    assert found.status_code == 200, found.text


async def deliver(page: Page, *records: str, oldest: int = 0, device: int | None = None) -> httpx.Response:
    body = {"device": f"{device or page.device:016x}", "oldest_unacked": oldest, "records": list(records)}
    return await page.client.post("/table/late", body, page.token)


def entered(client: Client, event: int) -> list[int]:
    return [row.play.board for row in client.desk.store.current(event) if row.content is not None]


def late_alarms(client: Client) -> list[str]:
    return [one.text for one in client.desk.store.read(ledger.alarms) if one.kind == "late"]


async def played(client: Client, device: int = ONE) -> Page:
    """A phone that was admitted, and whose first record was received."""
    page = Page(client, 1, device)
    await page.hello()
    await page.exchange(records=[page.record(1, 1, 4)])
    assert page.acked() == 1
    return page


def kinds(found: httpx.Response) -> list[tuple[str, int]]:
    return [(one["kind"], one.get("upto", one.get("seq"))) for one in found.json()["messages"]]


@pytest.mark.parametrize("need_key", [False, True])
def test_what_waits_on_a_phone_comes_into_the_event_of_its_card(tmp_path: Path, need_key: bool) -> None:
    async def run() -> None:
        async with service(tmp_path, settings=EventSettings(need_key=need_key)) as client:
            page, before = await played(client), client.desk.setup.id
            late = [page.record(2, 1, 4), page.record(3, 1, 4)]
            await another_event(client)
            assert (await client.post("/table/exchange", {"device": f"{ONE:016x}"}, page.token)).status_code == 403
            found = await deliver(page, *late, oldest=2)
            assert found.status_code == 200, found.text
            assert kinds(found) == [("RECORD_ACK", 3)]
            assert set(found.json()) == {"over", "messages"}
            assert found.json()["messages"][0]["crc"], "a cloned phone must see whether its own record is meant"
            assert entered(client, before) == [1, 2, 3]
            assert entered(client, client.desk.setup.id) == []
            assert client.desk.holder(1, 1) is None
            (told,) = late_alarms(client)
            assert told.startswith('Table A1 of "Club night"')
            assert "delivered 2 results late" in told
            assert "export it again" in told
            alerts = (await client.get("/desk")).json()["alerts"]
            assert [one["text"] for one in alerts if one["code"] == "alarm-late"] == [told]
            # ... and what it says can be done
            event = desk_store.event_hex(before)
            assert f"--event {event} " in told
            for kind in ("json", "usebio", "ranking", "csv", "pbn"):
                again = await client.get(f"/setup/events/{event}/files/{kind}")
                assert again.status_code == 200, (kind, again.text)
            lines = (await client.get(f"/setup/events/{event}/files/json")).json()["results"]
            assert sorted(one["board"] for one in lines) == [1, 2, 3]
            assert client.desk.access.caller(client.table(1)) is not None, "the running event goes on as it was"
            running = desk_store.event_hex(client.desk.setup.id)
            assert (await client.get(f"/setup/events/{running}/files/json")).json()["results"] == []
            for unknown in ("0" * 16, "x", "f" * 16, "１" * 16):
                found = await client.get(f"/setup/events/{unknown}/files/json")
                assert (found.status_code, found.json()["error"]["code"]) == (404, "no-such-event")
            viewer = await client.get(f"/setup/events/{event}/files/json", client.role("viewer"))
            assert viewer.status_code == 403
            # The answer was lost: the same again is acknowledged again, and nothing is stored or told twice.
            assert kinds(await deliver(page, *late, oldest=2)) == [("RECORD_ACK", 3)]
            assert len(client.desk.store.read(lambda c: list(ledger.records(c)))) == 3
            assert len(late_alarms(client)) == 1
        async with service(tmp_path) as client:  # also after a restart
            page.client = client
            assert kinds(await deliver(page, page.record(4, 1, 4, round=2), oldest=4)) == [("RECORD_ACK", 4)]
            assert len(entered(client, before)) == 4

    asyncio.run(run())


def test_a_phone_that_was_admitted_and_never_came_through_delivers_its_first_record(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            page, before = Page(client, 1, ONE), client.desk.setup.id
            await page.hello()
            await another_event(client)
            assert kinds(await deliver(page, page.record(1, 1, 4), oldest=1)) == [("RECORD_ACK", 1)]
            assert entered(client, before) == [1]

    asyncio.run(run())


def test_checks_are_those_of_every_record(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            page, before = await played(client), client.desk.setup.id
            await another_event(client)
            # A number is missing; another body under a known number; nonsense goes aside and is acknowledged.
            assert kinds(await deliver(page, page.record(3, 1, 4, seq=3), oldest=3)) == [("RECORD_NAK", 2)]
            other = await deliver(page, page.record(2, 1, 4, seq=1), oldest=1)
            assert kinds(other) == [("RECORD_NAK", 1)]
            assert other.json()["messages"][0]["reason"] == 1
            # An acknowledgement never covers a number that the phone holds and has not posted.
            assert kinds(await deliver(page, page.record(3, 1, 4, seq=3), oldest=2)) == [("RECORD_NAK", 2)]
            damaged = bytearray(base64.b64decode(page.record(2, 1, 4, seq=2)))
            damaged[12] ^= 1
            spoilt = await deliver(page, base64.b64encode(damaged).decode(), oldest=2)
            assert [one["reason"] for one in spoilt.json()["messages"]] == [4]
            assert entered(client, before) == [1]
            senseless = page.record(99, 1, 4, seq=2)
            assert kinds(await deliver(page, senseless, oldest=2)) == [("RECORD_ACK", 2)]
            assert {one.kind for one in client.desk.store.read(ledger.alarms)} >= {"conflict", "quarantine"}
            assert entered(client, before) == [1]
            assert (await deliver(page, *["AAAA"] * 17)).status_code == 400
            assert (await deliver(page, "AAAA")).status_code == 400

    asyncio.run(run())


def test_an_old_card_gives_nothing_and_strangers_deliver_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            page, stranger, before = await played(client), Page(client, 1, TWO), client.desk.setup.id
            await stranger.hello()  # looks on, was never admitted
            await another_event(client)
            for path in ("/table", "/table/ranking", "/table/players", "/table/boards/1", "/desk", "/table/stream"):
                found = await client.get(path, page.token)
                assert (found.status_code, found.json()["error"]["code"]) == (403, "event-over"), path
            hello: dict[str, Any] = {"boot_id": 1, "boot_count": 1, "journal_id": 5, "oldest_unacked": 1, "next_seq": 2}
            for path, body in (
                ("/table/exchange", {"device": f"{ONE:016x}", "hello": hello}),
                ("/table/exchange", {"device": f"{ONE:016x}", "call": 1}),
                ("/table/people", {"pair": 1, "players": []}),
                ("/table/check", {}),
            ):
                assert (await client.post(path, body, page.token)).status_code == 403, path
            assert (await deliver(page)).json() == {"over": True, "messages": []}
            for device in (TWO, 0x9999):
                refused = await deliver(stranger, stranger.record(2, 1, 4, seq=1), oldest=1, device=device)
                assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not-admitted")
            assert entered(client, before) == [1]
            assert (await client.post("/table/late", {"device": f"{ONE:016x}"}, client.table(1))).status_code == 403
            assert (await client.post("/table/late", {"device": f"{ONE:016x}"})).status_code == 403
            # Guessing devices is slowed down like guessing codes.
            answers = [await deliver(stranger, stranger.record(2, 1, 4, seq=1), device=one) for one in range(1, 22)]
            assert answers[-1].status_code == 429
            assert entered(client, before) == [1]

    asyncio.run(run())


def test_a_phone_that_is_not_used_any_more_or_plays_elsewhere_delivers_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            page, before = await played(client), client.desk.setup.id
            await another_event(client)
            token, page.token = page.token, client.table(1)
            page.seq = 1
            await page.hello()
            await page.exchange(records=[page.record(5, 1, 4, round=2)])
            await until(lambda: asyncio.sleep(0, entered(client, client.desk.setup.id)), bool)
            page.token = token
            refused = await deliver(page, page.record(2, 1, 4), oldest=3)
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "other-event")
            await client.desk.refuse(ONE)
            refused = await deliver(page, page.record(2, 1, 4), oldest=3)
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not-admitted")
            assert entered(client, before) == [1]

    asyncio.run(run())


def test_a_code_is_good_for_30_days_and_until_its_card_is_renewed(tmp_path: Path) -> None:
    async def run() -> None:
        clock = ManualClock()
        async with service(tmp_path, clock=clock) as client:
            page = await played(client)
            other = client.table(2)
            await client.post("/cards/renew", {"section": "A", "table": 2})
            await another_event(client)
            assert (await client.post("/table/late", {"device": f"{ONE:016x}"}, other)).status_code == 401
            clock.advance(LATE_S - 60)
            assert kinds(await deliver(page, page.record(2, 1, 4), oldest=2)) == [("RECORD_ACK", 2)]
            clock.advance(120)
            assert (await deliver(page, page.record(3, 1, 4), oldest=3)).status_code == 401
            assert "page" not in json.dumps(json.loads((tmp_path / FILE_NAME).read_text()))
            assert page.token not in (tmp_path / FILE_NAME).read_text()

    asyncio.run(run())


def test_nothing_is_taken_while_the_clock_can_not_be_right(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            page, before = await played(client), client.desk.setup.id
            client.desk.clock.doubt = True
            await another_event(client)
            assert (await deliver(page, page.record(2, 1, 4, seq=2), oldest=2)).status_code == 503
            client.desk.clock.tell(None)
            assert kinds(await deliver(page, page.record(2, 1, 4, seq=2), oldest=2)) == [("RECORD_ACK", 2)]
            assert entered(client, before) == [1, 2]

    asyncio.run(run())


def test_results_of_a_final_event_are_held_and_the_desk_is_told_so(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            page, event = await played(client), client.desk.event
            await client.desk.submit(lambda c: desk_store.append_desk(c, event, desk_store.DeskEvent("final", {})))
            await another_event(client)
            assert kinds(await deliver(page, page.record(2, 1, 4), oldest=2)) == [("RECORD_ACK", 2)]
            held = [row for row in client.desk.store.current(int(event, 16)) if row.play.board == 2]
            assert [row.attention for row in held] == [("held",)]
            assert "is final" in late_alarms(client)[0]

    asyncio.run(run())


def test_which_events_are_over_is_bounded_and_a_damaged_file_opens_nothing(tmp_path: Path) -> None:
    kept: list[Any] = []
    now: list[float | None] = [1e9]
    past = PastCards(lambda: now[0], kept.append)
    events = [new_event(number, "E", {1: None}, EventSettings()) for number in range(1, MAX_EVENTS + 4)]
    for one in events:
        past.begin(one)
    assert not past.takes(events[-1].id), "it is played now"
    assert past.takes(events[-2].id)
    assert not past.takes(events[0].id)
    past.begin(events[-2])
    assert not past.takes(events[-2].id)
    assert past.takes(events[-1].id)
    now[0] = None
    past.begin(None)
    assert past.takes(events[-2].id)
    now[0] = 2e9
    assert past.takes(events[-2].id), "its end was not known: the days are counted from now on"
    assert not past.takes(events[-1].id)
    now[0] = 2e9 + LATE_S + 1
    assert not past.takes(events[-2].id)
    again = PastCards(lambda: 2e9, kept.append)
    file = tmp_path / FILE_NAME
    file.write_text(json.dumps(kept[-1]))
    again.read(file)
    assert again.takes(events[-2].id)
    for text in (
        "",
        "{",
        "[]",
        '{"past": {"x": 1}, "played": null}',
        '{"past": {"1": {"tables": {"99": 1}, "ended": 0}}}',
    ):
        file.write_text(text)
        empty = PastCards(lambda: 2e9, kept.append)
        empty.read(file)
        assert list(empty.tables()) == []
