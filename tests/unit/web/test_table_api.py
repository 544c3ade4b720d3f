"""A browser as a device: records are acknowledged after the commit, and nothing is lost, doubled or leaked."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from web_fakes import Client, Page, service, until

from firmware_bridge.service.api_table import signed
from firmware_bridge.service.browser_hub import decode_record
from firmware_bridge.wire.table_data import acceptance_proof, code_verifier
from terminals.settings import EventSettings
from terminals.store import ledger

ONE, TWO = 0x1111_2222_3333_4444, 0x5555_6666_7777_8888


def test_scanning_the_card_is_the_admission_and_brings_the_plan(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            page = Page(client, 1, ONE)
            answer = await page.hello()
            assert answer["holds"] is True
            kinds = [message["kind"] for message in page.messages]
            assert "ADMIT" in kinds
            plan = await page.hear("TABLE_PLAN")
            assert plan["table"] == 1
            assert plan["event_id"] == f"{77:016x}"  # 64 bits would not fit a number of JavaScript

    asyncio.run(run())


def test_a_record_is_acknowledged_once_it_is_stored_and_a_repeat_changes_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            page = Page(client, 1, ONE)
            await page.hello()
            record = page.record(1, 1, 4)
            await page.exchange(records=[record])
            assert page.acked() == 1
            await page.exchange(records=[record])
            rows = [row for row in client.desk.rows.values() if row.content is not None]
            assert [str(row.content) for row in rows] == ["3NT N="]
            assert rows[0].changes == 1

    asyncio.run(run())


def test_a_restarted_service_asks_who_it_is_and_takes_what_still_waits(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            page = Page(client, 1, ONE)
            await page.hello()
            await page.exchange(records=[page.record(1, 1, 4)])
            kept, token = page.record(2, 1, 4, tricks=8), page.token
        async with service(tmp_path) as client:
            page.client = client
            assert client.table(1) == token, "the printed card must go on working"
            assert (await page.exchange(records=[kept]))["need"] == "hello"
            page.seq = 2
            journal = {"boot_id": 2, "boot_count": 2, "journal_id": page.journal, "oldest_unacked": 2, "next_seq": 3}
            page.after = 0
            await page.exchange(hello=journal)
            await page.exchange(records=[kept])
            assert page.acked() == 2
            assert sum(row.content is not None for row in client.desk.rows.values()) == 2

    asyncio.run(run())


def test_a_second_phone_only_looks_on_until_the_director_lets_it_take_over(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            first, second = Page(client, 1, ONE), Page(client, 1, TWO)
            await first.hello()
            assert (await second.hello())["holds"] is False
            await second.exchange(records=[second.record(1, 1, 4)])
            assert second.acked() == 0
            assert not client.desk.rows
            body = {"device": f"{TWO:016x}", "section": "A", "table": 1}
            assert (await client.post("/actions/replace", body)).status_code == 200
            assert (await second.exchange())["holds"] is True
            await second.hello()
            await second.exchange(records=[second.record(1, 1, 4, seq=1)])
            assert second.acked() == 1
            answer = await first.exchange()
            assert (answer["holds"], answer["sends"]) == (False, True), "what it had not sent still arrives"
            await first.exchange(records=[first.record(2, 1, 4, seq=1)])
            assert first.acked() == 1

    asyncio.run(run())


def test_what_a_phone_was_about_to_store_waits_no_longer_once_another_holds_the_table(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            first, second, third = Page(client, 1, ONE), Page(client, 1, TWO), Page(client, 1, TWO + 1)
            for page in (first, second, third):
                await page.hello()
            shown = {"id": "abc", "round": 1, "board": 1, "ns": 1, "ew": 4, "text": "3NT N =", "score": "+400"}
            await first.exchange(pending=shown)
            assert (await third.exchange())["pending"]["id"] == "abc"
            await client.post("/actions/replace", {"device": f"{TWO:016x}", "section": "A", "table": 1})
            assert (await third.exchange())["pending"] is None
            assert (await first.exchange())["pending"] is None, "nobody accepts his own entry"

    asyncio.run(run())


def test_what_a_silent_phone_was_about_to_store_is_withdrawn(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            first, second = Page(client, 1, ONE), Page(client, 1, TWO)
            await first.hello()
            await second.hello()
            shown = {"id": "abc", "round": 1, "board": 1, "ns": 1, "ew": 4, "text": "3NT N =", "score": "+400"}
            await first.exchange(pending=shown)
            assert (await second.exchange())["pending"]["id"] == "abc"
            hub = client.desk.hub
            hub.box(ONE, (1, 1)).last_seen -= 1000
            await hub.sweep()
            answer = await second.exchange()
            assert answer["pending"] is None
            assert {"kind": "PENDING", "result": None}.items() <= second.messages[-1].items()

    asyncio.run(run())


def test_the_other_phone_accepts_what_the_first_is_about_to_store(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            first, second = Page(client, 1, ONE), Page(client, 1, TWO)
            await first.hello()
            await second.hello()
            shown = {"id": "abc", "round": 1, "board": 1, "ns": 1, "ew": 4, "text": "3NT N =", "score": "+400"}
            await first.exchange(pending=shown)
            assert (await second.exchange())["pending"]["text"] == "3NT N ="
            assert (await second.exchange(answer={"id": "other", "accept": True}))["answered"] is False
            assert (await second.exchange(answer={"id": "abc", "accept": True}))["answered"] is True
            await first.exchange()
            assert {"kind": "ANSWER", "id": "abc", "accept": True}.items() <= first.messages[-1].items()

    asyncio.run(run())


def test_a_traveller_is_withheld_until_both_pairs_now_at_the_table_have_played_the_board(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            one, two = Page(client, 1, ONE), Page(client, 2, TWO)
            await one.hello()
            await two.hello()
            await two.exchange(records=[two.record(3, 2, 5)])
            assert (await client.get("/table/boards/3", one.token)).status_code == 404
            await one.exchange(records=[one.record(1, 1, 4, accepted=False)])
            own = await client.get("/table/boards/1", one.token)
            assert own.status_code == 404, "not before the other side has accepted it"
            assert (await client.get("/table/boards/3", client.table(3))).status_code == 404

    asyncio.run(run())


def test_a_traveller_of_an_earlier_round_is_closed_to_the_pair_that_comes_next(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, settings=EventSettings(confirm=False)) as client:
            page = Page(client, 1, ONE)
            await page.hello()
            await page.exchange(records=[page.record(1, 1, 4), page.record(2, 1, 4)])
            found = await client.get("/table/boards/1", page.token)
            assert found.status_code == 200
            assert "lead" not in found.text
            # Round 2 begins: pair 6 sits down, which has yet to play board 1.
            status = {"round": 2, "waiting": 0, "clock": 1, "plan_version": 0}
            await page.exchange(status=status)
            await until(lambda: client.get("/table/boards/1", page.token), lambda found: found.status_code == 404)

    asyncio.run(run())


def test_bad_posts_are_refused_in_words_and_store_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            token = client.table(1)
            for body in (
                {},
                {"device": "0" * 16},
                {"device": "zz"},
                {"device": 5},
                {"device": f"{ONE:016x}", "hello": 7},
                {"device": f"{ONE:016x}", "hello": {"journal_id": 0}},
                {"device": f"{ONE:016x}", "after": -1},
            ):
                found = await client.post("/table/exchange", body, token)
                assert found.status_code == 400, body
                assert found.json()["error"]["what"]
            page = Page(client, 1, ONE)
            await page.hello()
            for records in (["!!"], ["AAAA"], [7], "x", ["A"] * 17):
                found = await client.post("/table/exchange", {"device": f"{ONE:016x}", "records": records}, token)
                assert found.status_code == 400, records
            assert not client.desk.rows

    asyncio.run(run())


def test_the_pin_can_not_be_found_by_trying(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, settings=EventSettings(director_pin="4711")) as client:
            token = client.table(1)
            assert (await client.post("/table/pin", {"pin": "4711"}, token)).json() == {"ok": True, "wait": False}
            for _ in range(5):
                assert (await client.post("/table/pin", {"pin": "1234"}, token)).json()["ok"] is False
            assert (await client.post("/table/pin", {"pin": "4711"}, token)).json() == {"ok": False, "wait": True}
            assert "4711" not in (await client.get("/table", token)).text
            assert "4711" not in (await client.get("/desk")).text

    asyncio.run(run())


def test_a_pairs_own_code_is_the_first_it_gives_and_is_kept_as_a_digest_only(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            token = client.table(1)
            assert (await client.post("/table/code", {"pair": 4, "code": "7391"}, token)).json()["ok"] is True
            assert (await client.post("/table/code", {"pair": 4, "code": "7392"}, token)).json()["ok"] is False
            assert (await client.post("/table/code", {"pair": 4, "code": "7391"}, token)).json()["ok"] is True
            assert (await client.post("/table/code", {"pair": 99, "code": "7391"}, token)).status_code == 404
            assert "7391" not in (await client.get("/log")).text
            for body in ("x", "AAAA", 7):
                sent = {"pair": 4, "code": "7391", "body": body}
                assert (await client.post("/table/code", sent, token)).status_code == 400
            told = base64.b64encode(bytes(14)).decode()
            found = (await client.post("/table/code", {"pair": 4, "code": "7391", "body": told}, token)).json()
            verifier = code_verifier("7391", client.desk.setup.id, 1, 4)
            proof = acceptance_proof(verifier, client.desk.setup.id, bytes(14))
            assert base64.b64decode(found["proof"]) == proof
            wrong = (await client.post("/table/code", {"pair": 4, "code": "1111", "body": told}, token)).json()
            assert wrong["proof"] == "", "without the code there is no proof"
        async with service(tmp_path) as client:
            assert (await client.post("/table/code", {"pair": 4, "code": "0000"}, token)).json()["ok"] is False
            await client.post("/actions/forget-code", {"section": "A", "pair": 4})
            assert (await client.post("/table/code", {"pair": 4, "code": "0000"}, token)).json()["ok"] is True

    asyncio.run(run())


def test_several_sections_have_tokens_and_tables_of_their_own(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, None) as client:
            body = {"spec": "mitchell:3x2", "name": "Congress", "sections": 2}
            assert (await client.post("/setup/start", body)).status_code == 200
            a, b = client.table(1, 1), client.table(1, 2)
            assert a != b
            assert (await client.get("/table", b)).json()["section"] == "B"
            page = Page(client, 1, ONE)
            page.token = b
            assert (await page.hello())["holds"] is True
            assert client.desk.holder(2, 1) == ONE
            assert client.desk.holder(1, 1) is None

    asyncio.run(run())


def test_an_event_that_wants_keys_takes_browsers_by_their_tables_token(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, settings=EventSettings(need_key=True)) as client:
            page, other = Page(client, 1, ONE), Page(client, 1, TWO)
            assert (await page.hello())["holds"] is True
            await page.exchange(records=[page.record(1, 1, 4)])
            assert page.acked() == 1
            assert (await other.hello())["holds"] is False
            body = {"device": f"{TWO:016x}", "section": "A", "table": 1}
            assert (await client.post("/actions/replace", body)).status_code == 200
            await other.hello()
            await other.exchange(records=[other.record(2, 1, 4)])
            assert other.acked() == 1
            stored = client.desk.store.roster()[TWO].key.hex()
            for path in ("/terminals", "/desk", "/log"):
                assert stored not in (await client.get(path)).text

    asyncio.run(run())


def test_pages_go_on_when_keys_are_wanted_in_mid_event(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            page = Page(client, 1, ONE)
            await page.hello()
            await page.exchange(records=[page.record(1, 1, 4)])
            assert (await client.post("/actions/settings", {"settings": {"need_key": True}})).status_code == 200
            await page.hello()
            assert [m["admitted"] for m in page.messages if m["kind"] == "ADMIT"][-1] == 1
            await page.exchange(records=[page.record(2, 1, 4)])
            assert page.acked() == 2
            assert client.desk.store.read(ledger.alarms) == []

    asyncio.run(run())


def test_a_table_names_only_pairs_that_come_to_it(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            token = client.table(1)
            body = {"pair": 1, "players": [{"name": "Zofia"}, {"name": "Jan"}]}
            assert (await client.post("/table/people", body, token)).status_code == 200
            # Pair 2 sits North-South at table 2 all evening.
            assert (await client.post("/table/people", {**body, "pair": 2}, token)).status_code == 404
            assert (await client.get("/table", token)).json()["names"]["1"] == ["Zofia", "Jan"]
            assert client.desk.names_of("A", 2) == ""

    asyncio.run(run())


async def another_event(client: Client) -> None:
    found = await client.post("/setup/start", {"again": True, "name": "Next", "instead": True})
    assert found.status_code == 200, found.text


def entered(client: Client, event: int) -> list[int]:
    return [row.play.board for row in client.desk.store.current(event) if row.content is not None]


@pytest.mark.parametrize("need_key", [False, True])
def test_a_record_of_a_page_that_is_read_late_belongs_to_the_event_of_its_card(tmp_path: Path, need_key: bool) -> None:
    async def run() -> None:
        async with service(tmp_path, settings=EventSettings(need_key=need_key)) as client:
            page = Page(client, 1, ONE)
            await page.hello()
            await page.exchange(records=[page.record(1, 1, 4)])
            before = client.desk.setup.id
            box = client.desk.hub.box(ONE, (1, 1))
            assert box is not None
            late = page.record(2, 1, 4)
            await another_event(client)
            assert client.desk.setup.id != before
            # The director admits the phone in the new event, and only then what it posted before is read.
            await client.desk.admit(ONE, 1, 1)
            await client.desk.hub.records(box, [signed(client.desk, ONE, decode_record(late))])
            for _ in range(3000):
                if len(entered(client, before)) == 2:
                    break
                await asyncio.sleep(0.01)
            assert entered(client, before) == [1, 2]
            assert entered(client, client.desk.setup.id) == []
            assert client.desk.store.read(ledger.alarms) == []

    asyncio.run(run())


def test_a_post_that_was_on_its_way_when_the_next_event_began_is_not_taken_for_that_one(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            page = Page(client, 1, ONE)
            await page.hello()
            journal = {"boot_id": 1, "boot_count": 1, "journal_id": page.journal, "oldest_unacked": 1, "next_seq": 2}
            body = {"device": f"{ONE:016x}", "hello": journal, "records": [page.record(1, 1, 4)]}
            data = json.dumps(body).encode()

            async def drips() -> AsyncIterator[bytes]:
                yield data[:20]
                await another_event(client)
                yield data[20:]

            head = {**client.head(page.token), "content-type": "application/json"}
            found = await client.http.post("/api/v1/table/exchange", content=drips(), headers=head)
            assert found.status_code == 401
            assert client.desk.holder(1, 1) is None
            assert entered(client, client.desk.setup.id) == []

    asyncio.run(run())
