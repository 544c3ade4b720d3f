"""The desk over the interface: acts, previews, the stream and its resumption, the plan, what the public may see."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from web_fakes import Client, Page, service, until

from firmware_bridge.clock import ManualClock
from firmware_bridge.errors import ConfigError, EntryError
from firmware_bridge.service.desk_stream import Stream, encode
from firmware_bridge.web.publish import Board, from_service, publish
from terminals.settings import EventSettings

ONE = 0x1111_2222_3333_4444
PLAY = {"section": "A", "board": 1, "ns": 1, "ew": 4, "actor": "Ann"}
PLAIN = EventSettings(confirm=False)


def events_of(data: bytes) -> list[tuple[int | None, str, Any]]:
    found = []
    for block in data.decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
        if "event" in lines:
            found.append((int(lines["id"]) if "id" in lines else None, lines["event"], json.loads(lines["data"])))
    return found


async def correct(client: Client, contract: str, tricks: str, **more: Any) -> str:
    found = await client.post("/actions/correct", {**PLAY, "contract": contract, "tricks": tricks, **more})
    assert found.status_code == 200, found.text
    return str(found.json()["action"])


def test_acts_append_and_can_be_undone(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            page = Page(client, 1, ONE)
            await page.hello()
            await page.exchange(records=[page.record(1, 1, 4)])
            action = await correct(client, "4SX N", "-1")
            trail = (await client.get("/play?section=A&board=1&ns=1&ew=4")).json()
            assert [one["kind"] for one in trail["events"]] == ["entered", "ruled"]
            assert trail["text"] == "4SX N-1"
            await client.post("/actions/undo", {"action": action, "actor": "Ann"})
            trail = (await client.get("/play?section=A&board=1&ns=1&ew=4")).json()
            assert trail["text"] == "3NT N="
            assert [one["kind"] for one in trail["events"]] == ["entered", "ruled", "undone"]

    asyncio.run(run())


def test_a_preview_tells_the_effect_and_stores_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            await correct(client, "3NT N", "=")
            await client.post(
                "/actions/correct", {**PLAY, "ns": 3, "ew": 5, "contract": "3NT", "declarer": "N", "tricks": "+1"}
            )
            before = (await client.get("/ranking")).json()
            found = (
                await client.post("/actions/correct/preview", {**PLAY, "contract": "3NT N", "tricks": "+2"})
            ).json()
            changed = {one["pair"]: (one["before"]["value"], one["after"]["value"]) for one in found["changes"]}
            await correct(client, "3NT N", "+2")
            after = {
                row["pair"]: row["value"] for group in (await client.get("/ranking")).json() for row in group["rows"]
            }
            assert {pair: then for pair, (_, then) in changed.items()} == {pair: after[pair] for pair in changed}
            old = {row["pair"]: row["value"] for group in before for row in group["rows"]}
            assert {pair: now for pair, (now, _) in changed.items()} == {pair: old[pair] for pair in changed}

    asyncio.run(run())


def test_two_directors_do_not_overwrite_each_other(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            await correct(client, "3NT N", "=", seen=0)
            found = await client.post("/actions/correct", {**PLAY, "contract": "4S N", "tricks": "=", "seen": 0})
            assert found.status_code == 409
            assert found.json()["error"]["code"] == "changed-meanwhile"

    asyncio.run(run())


def test_a_stream_resumes_where_it_was_cut_off_even_after_a_restart(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            seen = client.desk.cursor
            await correct(client, "3NT N", "=")
            await correct(client, "3NT N", "+1")
            missed = events_of(client.desk.missed(str(seen)))
            assert [kind for _, kind, _ in missed] == ["result", "result"]
            assert missed[-1][2]["text"] == "3NT N+1"
            last = missed[-1][0]
            assert client.desk.missed(str(last)) == b""
            assert events_of(client.desk.missed("nonsense"))[0][1] == "reset"
            assert events_of(client.desk.missed("999999"))[0][1] == "reset"
            assert client.desk.missed(None) == b""
        async with service(tmp_path) as client:
            assert events_of(client.desk.missed(str(last))) == []
            await correct(client, "4S N", "=")
            assert events_of(client.desk.missed(str(last)))[-1][2]["text"] == "4S N="

    asyncio.run(run())


def test_what_happens_while_a_page_connects_is_not_lost(tmp_path: Path) -> None:
    async def run() -> None:
        stream = Stream()
        listening = stream.listen(lambda: encode("missed", {}, 1))
        first = await anext(listening)
        stream.publish(encode("result", {"n": 2}, 2))
        stream.publish(encode("result", {"n": 3}, 3))
        rest = await anext(listening)
        assert [number for number, _, _ in events_of(first + rest)] == [1, 2, 3]
        await listening.aclose()
        assert stream.listeners == 0

    asyncio.run(run())


def test_a_page_that_takes_nothing_is_cut_off_and_nobody_waits_for_it() -> None:
    async def run() -> None:
        stream = Stream()
        slow = stream.subscribe()
        for number in range(2000):
            stream.publish(encode("result", {}, number))
        assert slow.lost
        assert stream.listeners == 0
        assert slow.queue.qsize() <= 512

    asyncio.run(run())


def test_a_late_pair_is_previewed_and_then_in_the_plan_of_the_tables(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "mitchell:5x2,missing=ew") as client:
            before = client.desk.setup.plan_version
            body = {"section": "A", "event": {"kind": "late-pair", "round": 2, "place": "phantom"}}
            seen = (await client.post("/plan/preview", body)).json()
            assert seen["ok"] is True
            assert client.desk.setup.plan_version == before
            assert (await client.post("/plan/change", body)).status_code == 200
            assert client.desk.setup.plan_version == before + 1
            assert client.desk.setup.expected_results() == seen["results_after"]
            undone = {"section": "A", "event": {"kind": "undone", "event": 0}}
            assert (await client.post("/plan/change", undone)).status_code == 200
            assert client.desk.setup.expected_results() == seen["results_before"]
            bad = {"section": "A", "event": {"kind": "curtailed", "after_round": 99}}
            assert (await client.post("/plan/preview", bad)).status_code == 409

    asyncio.run(run())


def test_a_pair_that_left_without_standing_is_not_ranked(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "mitchell:5x2") as client:
            movement = client.desk.setup.sections[0].movement
            assert movement is not None
            tables = movement.in_round(1)[:2]
            for table in tables:
                pairs = {"board": table.boards[0], "ns": table.ns, "ew": table.ew}
                play = {"section": "A", **pairs, "actor": "Ann", "contract": "3NT N"}
                found = await client.post("/actions/correct", {**play, "tricks": "9"})
                assert found.status_code == 200, found.text

            def ranked() -> set[int]:
                return {row.contestant.number for rows in client.desk.score().rankings for row in rows}

            leaves = tables[0].ew
            assert leaves in ranked()
            body = {"section": "A", "event": {"kind": "withdrawn", "pair": leaves, "round": 2, "standing": False}}
            changed = await client.post("/plan/change", body)
            assert changed.status_code == 200, changed.text
            assert ranked() == {tables[0].ns, tables[1].ns, tables[1].ew}

    asyncio.run(run())


def test_an_evening_begins_from_a_proposal_and_again_like_the_last(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, None) as client:
            assert (await client.get("/desk")).json()["event"]["active"] is False
            offers = (await client.post("/setup/propose", {"pairs": 12, "minutes": 200})).json()
            assert len(offers) == 3
            body = {"spec": offers[0]["spec"], "name": "Thursday", "settings": {"director_pin": "4711"}}
            assert (await client.post("/setup/start", body, client.role("assistant"))).status_code == 403
            assert (await client.post("/setup/start", body)).status_code == 200
            first = client.desk.setup
            assert first.sections[0].movement is not None
            assert (await client.post("/setup/start", {"again": True, "name": "Next"})).status_code == 200
            again = client.desk.setup
            assert again.id != first.id
            assert again.sections[0].movement == first.sections[0].movement
            assert again.settings.director_pin == "", "a PIN belongs to one evening"
            assert (await client.post("/setup/start", {"spec": "nothing:1x1"})).status_code == 400

    asyncio.run(run())


def test_closing_a_round_names_what_is_missing_and_invents_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            found = await client.post("/actions/close-round", {"section": "A", "round": 1})
            assert found.status_code == 409
            assert "table 1 board 1" in found.json()["error"]["what"]
            found = await client.post("/actions/close-round", {"section": "A", "round": 1, "anyway": True})
            assert len(found.json()["missing"]) == 6
            assert not any(row.content is not None for row in client.desk.rows.values())

    asyncio.run(run())


def test_final_results_need_two_names(tmp_path: Path) -> None:
    async def run() -> None:
        clock = ManualClock()
        async with service(tmp_path, clock=clock) as client:
            await correct(client, "3NT N", "=")
            assert (await client.post("/actions/publish", {"actor": "Ann"})).status_code == 200
            clock.advance(31 * 60)
            await client.desk.finish_if_due()
            assert (await client.get("/desk")).json()["event"]["final"] is True
            found = await client.post("/actions/correct", {**PLAY, "contract": "4S N", "tricks": "="})
            assert found.json()["error"]["code"] == "needs-two-names"
            await correct(client, "4S N", "=", second="Bob")

    asyncio.run(run())


def test_the_public_sees_nothing_then_the_ranking_then_everything(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            await correct(client, "3NT N", "=")
            for state in ("closed", "live", "published"):
                if state == "live":
                    await client.post("/actions/live", {"on": True})
                if state == "published":
                    await client.post("/actions/publish", {"actor": "Ann"})
                found = (await client.get("/public/results", None)).json()
                assert found["state"] == state
                assert ("groups" in found) == (state != "closed")
                wanted = 200 if state == "published" else 404
                assert (await client.get("/public/boards/A/1", None)).status_code == wanted
                assert (await client.get("/public/pairs/A/1", None)).status_code == wanted
                assert "3NT" not in (await client.get("/public/results", None)).text

    asyncio.run(run())


def test_static_pages_say_what_the_service_says_and_escape_names(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            await correct(client, "3NT N", "=")
            people = {"pair": 1, "players": [{"name": "<b>Zofia</b> & O'Żółć"}, {"name": "Jan"}]}
            await client.post("/table/people", people, client.table(1))
            with pytest.raises(EntryError):
                publish(tmp_path / "web", (await client.get("/public/results", None)).json(), [], [])
            await client.post("/actions/publish", {"actor": "Ann"})
            results = (await client.get("/public/results", None)).json()
            board = Board(
                (await client.get("/public/boards/A/1", None)).json(), {"N": dict.fromkeys(("NT", *"SHDC"), 9)}
            )
            card = (await client.get("/public/pairs/A/1", None)).json()
            written = publish(tmp_path / "web", results, [board], [card])
            assert {path.name for path in written} == {"style.css", "index.html", "board-A-1.html", "pair-A-1.html"}
            for path in written:
                text = path.read_text(encoding="utf-8")
                assert "<b>Zofia" not in text
                assert "<script" not in text
            assert "3NT N=" in (tmp_path / "web" / "board-A-1.html").read_text(encoding="utf-8")
            assert "&lt;b&gt;Zofia" in (tmp_path / "web" / "index.html").read_text(encoding="utf-8")
            (tmp_path / "file").write_text("")
            with pytest.raises(ConfigError):
                publish(tmp_path / "file", results, [], [])

    asyncio.run(run())


def test_a_backup_is_a_whole_database_and_the_desk_knows_that_it_was_made(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            await correct(client, "3NT N", "=")
            found = await client.get("/backup")
            assert found.content.startswith(b"SQLite format 3")
            items = {one["key"]: one["done"] for one in (await client.get("/checklist")).json()}
            assert items["backup"] is True
            assert items["results"] is False

    asyncio.run(run())


def test_an_assistant_corrects_but_does_not_rule_and_a_viewer_only_looks(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            body = {**PLAY, "contract": "3NT N", "tricks": "="}
            assert (await client.post("/actions/correct", body, client.role("viewer"))).status_code == 403
            assert (await client.post("/actions/correct", body, client.role("assistant"))).status_code == 200
            ruling = {**PLAY, "ns_score": "AVE+", "ew_score": "AVE-"}
            assert (await client.post("/actions/artificial", ruling, client.role("assistant"))).status_code == 403
            assert (await client.get("/desk", client.role("viewer"))).json()["role"] == "viewer"

    asyncio.run(run())


def test_a_call_reaches_the_desk_and_the_answer_the_table(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            page = Page(client, 2, ONE)
            await page.hello()
            await page.exchange(call=1, round=1)
            await until(lambda: client.get("/desk"), lambda found: found.json()["alerts"][:1])
            state = (await client.get("/desk")).json()
            assert state["alerts"][0]["kind"] == "call"
            await client.post("/actions/answer-call", {"section": "A", "table": 2, "state": 2})
            await page.hear("CALL_STATE_TOLD", lambda told: told["state"] == 2)
            calls = [a for a in (await client.get("/desk")).json()["alerts"] if a["kind"] == "call"]
            assert [one["code"] for one in calls] == ["coming"], "it stays until it is done"
            await client.post("/actions/answer-call", {"section": "A", "table": 2, "state": 3})
            assert not [a for a in (await client.get("/desk")).json()["alerts"] if a["kind"] == "call"]

    asyncio.run(run())


def test_an_entry_that_looks_wrong_gets_a_neutral_word_and_its_cause_goes_to_the_desk(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            await correct(client, "4S N", "+2")
            entry = {"round": 1, "board": 1, "ns": 2, "ew": 5, "contract": "4S", "declarer": "E", "tricks": 11}
            found = (await client.post("/table/check", entry, client.table(2))).json()
            text = json.dumps(found)
            assert "Check board, declarer, contract, result" in text
            assert "both sides" not in text
            alerts = (await client.get("/desk")).json()["alerts"]
            assert any("both sides" in one["text"] for one in alerts)

    asyncio.run(run())


def test_players_are_found_without_accents_and_a_bad_list_is_refused(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            head = client.head(client.role("director"))
            csv = "number,name\n12,Łukasz Żółć\n".encode()
            found = await client.http.post("/api/v1/players", content=csv, headers={**head, "content-type": "text/csv"})
            assert found.json() == {"players": 1}
            found = await client.get("/table/players?q=lukasz", client.table(1))
            assert found.json() == [{"number": "12", "name": "Łukasz Żółć"}]
            bad = await client.http.post("/api/v1/players", content=b"x", headers={**head, "content-type": "text/csv"})
            assert bad.status_code in (400, 409)
            assert (await client.get("/table/players?q=lukasz", client.table(1))).json(), "the old list stays"

    asyncio.run(run())


def test_a_weighted_and_a_split_ruling(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            ruling = {**PLAY, "ns_outcomes": "4S N = 60%, 4S N -1 40%", "ew_outcomes": "AVE+"}
            found = await client.post("/actions/correct", ruling)
            assert found.status_code == 200, found.text
            trail = (await client.get("/play?section=A&board=1&ns=1&ew=4")).json()
            assert trail["content"]["ns"][0]["weight"] == "3/5"
            assert trail["content"]["ew"] == "AVE+"
            for wrong in ("4S N = 60%", "4S N = 60%, 4S N -1 60%", "4S N", "x y z", "4S N = 0/0", ""):
                found = await client.post("/actions/correct", {**PLAY, "ns_outcomes": wrong})
                assert found.status_code == 400, wrong

    asyncio.run(run())


def test_a_penalty_changes_one_total_and_can_be_taken_back(tmp_path: Path) -> None:
    async def values(client: Client) -> dict[int, str]:
        return {row["pair"]: row["value"] for group in (await client.get("/ranking")).json() for row in group["rows"]}

    async def run() -> None:
        async with service(tmp_path) as client:
            await correct(client, "3NT N", "=")
            before = await values(client)
            body = {"section": "A", "pair": 1, "amount": "-10", "unit": "percent", "reason": "late", "actor": "Ann"}
            given = (await client.post("/actions/penalty", body)).json()["penalties"]
            after = await values(client)
            assert float(after[1]) == pytest.approx(float(before[1]) - 10)
            assert {p: v for p, v in after.items() if p != 1} == {p: v for p, v in before.items() if p != 1}
            assert (await client.post("/actions/penalty", {**body, "amount": "lots"})).status_code == 400
            assert (await client.post("/actions/penalty", {**body, "pair": 99})).status_code == 404
            await client.post("/actions/penalty", {"undo": given[0]["number"], "actor": "Ann"})
            assert await values(client) == before

    asyncio.run(run())


@pytest.mark.parametrize(
    "name", ["ranking", "travellers", "scorecards", "usebio", "pbn", "csv", "ranking-csv", "bridgewebs", "lines"]
)
def test_files_for_people_and_programs(tmp_path: Path, name: str) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            await correct(client, "3NT N", "=")
            found = await client.get(f"/files/{name}")
            assert found.status_code == 200, found.text
            assert len(found.content) > 50
            if name in ("ranking", "travellers", "scorecards"):
                assert found.content.startswith(b"%PDF")
            assert (await client.get("/files/..%2faccess.json")).status_code == 404
            await client.post("/actions/settings", {"settings": {"playing_director": ["A1"]}})
            assert (await client.get(f"/files/{name}")).status_code == 409, "a veiled board is in no file"

    asyncio.run(run())


def test_hands_are_public_after_the_publication_only(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            await client.post("/deal/generate", {"first": 1, "last": 6})
            await correct(client, "3NT N", "=")
            assert (await client.get("/files/hands")).status_code == 404
            for path in ("/desk", "/deal", "/boards/A/1", "/export", "/log", "/table"):
                text = (await client.get(path, client.table(1) if path == "/table" else "")).text
                assert "deal" not in json.loads(text) or path == "/deal", path
            await client.post("/actions/publish", {"actor": "Ann"})
            deal = (await client.get("/public/boards/A/1", None)).json()["deal"]
            assert sorted(len(deal[seat].replace(".", "")) for seat in "NESW") == [13, 13, 13, 13]
            assert (await client.get("/files/hands")).content.startswith(b"%PDF")

    asyncio.run(run())


def test_the_clock_of_the_round_is_told_in_seconds_left(tmp_path: Path) -> None:
    async def run() -> None:
        clock = ManualClock()
        async with service(tmp_path, clock=clock) as client:
            page = Page(client, 1, ONE)
            await page.hello()
            await client.post("/actions/clock", {"round": 2, "minutes": 20})
            await page.exchange()
            told = next(m for m in page.messages if m["kind"] == "CLOCK")
            assert told["clock"] == {"round": 2, "left": 1200}
            assert (await client.get("/desk")).json()["event"]["clock"]["left"] == 1200, "a tablet's clock may be wrong"
            clock.advance(60)
            assert (await client.get("/table", page.token)).json()["clock"]["left"] == 1140

    asyncio.run(run())


def test_a_terminal_is_asked_for_its_records_again(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            page = Page(client, 1, ONE)
            await page.hello()
            await page.exchange(records=[page.record(1, 1, 4)])
            body = {"device": f"{ONE:016x}", "journal": page.journal}
            assert (await client.post("/actions/resend", body)).json() == {"asked": True}
            again = await page.hear("RESEND")
            assert (again["journal_id"], again["from_seq"]) == (page.journal, 1)

    asyncio.run(run())


def test_what_the_service_shows_is_published_as_a_whole(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            await correct(client, "3NT N", "=")
            await client.post("/actions/publish", {"actor": "Ann"})
            paths = ["/public/results", *(f"/public/boards/A/{n}" for n in range(1, 7))]
            paths += [*(f"/public/pairs/A/{n}" for n in range(1, 7)), "/public/rounds"]
            answers = {path: (await client.get(path, None)).json() for path in paths}
            written = from_service(answers.__getitem__, tmp_path / "web")
            names = {path.name for path in written}
            assert len(names) == 2 + 6 + 6
            for path in written:
                for link in re.findall(r'href="([^"]+)"', path.read_text(encoding="utf-8")):
                    assert link in names, f"{path.name} links to {link}"

    asyncio.run(run())


def test_a_new_event_has_the_clubs_pin_unless_it_wants_another_or_none(tmp_path: Path) -> None:
    async def run() -> None:
        (tmp_path / "config.toml").write_text("director_pin = '2741'\n")
        async with service(tmp_path, spec=None) as client:
            for given, wanted in (({}, "2741"), ({"director_pin": "1122"}, "1122"), ({"director_pin": ""}, "")):
                body = {"name": "Club", "spec": "mitchell:3x2", "settings": given, "instead": True}
                assert (await client.post("/setup/start", body)).status_code == 200
                assert client.desk.setup.settings.director_pin == wanted
            again = await client.post("/setup/start", {"name": "Club", "again": True, "instead": True})
            assert client.desk.setup.settings.director_pin == "2741"
            assert "the director's PIN" not in again.json()["ask"]

    asyncio.run(run())
