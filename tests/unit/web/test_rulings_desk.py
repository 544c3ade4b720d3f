"""Rulings in a running event: previewed, recorded, appealed, contradicted, taken back, seen wherever results are."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest
from web_fakes import Client, service

from firmware_bridge.clock import ManualClock
from terminals.interop.results_json import read_results_json
from terminals.interop.usebio_read import read_usebio
from terminals.result import Assigned
from terminals.settings import EventSettings
from terminals.store import desk as desk_store

PLAY = {"section": "A", "board": 1, "ns": 1, "ew": 4}
BY = {"actor": "Anna", "reason": "Hesitation before the save"}
WEIGHTED = {**PLAY, **BY, "score": "60% +420, 40% -50"}
PLAYS = ((1, 4, "="), (2, 6, "+1"), (3, 5, "-1"))
"""Board 1 of mitchell:3x2: pairs and what North made in 4 spades."""


async def post(client: Client, name: str, body: dict[str, Any]) -> dict[str, Any]:
    found = await client.post(f"/actions/{name}", body)
    assert found.status_code == 200, found.text
    value: dict[str, Any] = found.json()
    return value


async def refused(client: Client, name: str, body: dict[str, Any]) -> dict[str, Any]:
    found = await client.post(f"/actions/{name}", body)
    assert found.status_code in (400, 404, 409), found.text
    error: dict[str, Any] = found.json()["error"]
    return error


async def filled(client: Client) -> None:
    for ns, ew, tricks in PLAYS:
        body = {**PLAY, "ns": ns, "ew": ew, "contract": "4S N", "tricks": tricks, "actor": "Tables"}
        await post(client, "correct", body)


async def values(client: Client) -> dict[int, tuple[str, str]]:
    groups = (await client.get("/ranking")).json()
    return {row["pair"]: (row["place"], row["value"]) for group in groups for row in group["rows"]}


async def rulings(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = (await client.get("/rulings")).json()
    return found


def running(tmp_path: Path, run: Callable[[Client], Awaitable[None]], **more: Any) -> None:
    async def main() -> None:
        async with service(tmp_path, **more) as client:
            await filled(client)
            await run(client)

    asyncio.run(main())


def test_a_weighted_ruling_is_previewed_then_counts_for_everybody_and_can_be_undone(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        before = await values(client)
        stored = len(client.desk.store.read(lambda c: desk_store.desk_events(c, client.desk.event)))
        shown = await post(client, "ruling/preview", WEIGHTED)
        assert await values(client) == before, "looking stores nothing"
        assert len(client.desk.store.read(lambda c: desk_store.desk_events(c, client.desk.event))) == stored
        assert len(shown["effects"]) == 6, "the effect on every total"
        made = await post(client, "ruling", WEIGHTED)
        after = await values(client)
        assert {one["pair"]: (one["after"]["place"], one["after"]["value"]) for one in shown["effects"]} == after
        assert {one["pair"] for one in shown["changes"]} == {1, 4, 2, 6, 3, 5} - {
            pair for pair in before if before[pair] == after[pair]
        }
        # 450 beats 420 and -50; the ruling is worth 0.6 * 2 + 0.4 * 1; -50 meets it as 0.4 of a tie
        lines = {line["ns"]: line for line in (await client.get("/boards/A/1")).json()["lines"]}
        points = [Fraction(lines[ns]["ns_points"]) for ns in (1, 2, 3)]
        assert points == [Fraction("1.6"), 4, Fraction("0.4")]
        assert sum(points) == 6, "n (n - 1)"
        assert lines[1]["text"] == "60% +420, 40% -50"
        assert [one["law"] for one in lines[1]["rulings"]] == ["12C1(c)"]
        (listed,) = (await rulings(client))["rulings"]
        assert (listed["law"], listed["reason"], listed["by"]) == ("12C1(c)", BY["reason"], "Anna")
        trail = (await client.get("/play?section=A&board=1&ns=1&ew=4")).json()
        assert trail["events"][-1]["note"] == f"ruling {listed['ruling']}, Law 12C1(c): {BY['reason']}"
        undone = await post(client, "undo", {"action": made["action"], "actor": "Anna"})
        assert await values(client) == before
        assert (await rulings(client))["rulings"] == []
        trail = (await client.get("/play?section=A&board=1&ns=1&ew=4")).json()
        assert [one["kind"] for one in trail["events"]] == ["ruled", "ruled", "undone"], "undoing is a new event"
        await post(client, "undo", {"action": undone["action"], "actor": "Anna"})
        assert await values(client) == after, "and can be undone itself"

    running(tmp_path, run)


@pytest.mark.parametrize(
    ("score", "kind"),
    [
        ({"score": "+420"}, "assigned"),
        ({"score": "4s n 10"}, "played"),
        ({"score": "20% +420, 20% -50, 20% +450, 20% +170, 20% -100"}, "assigned"),
        ({"score_ns": "-50", "score_ew": "AVE+"}, "assigned"),
        ({"score_ns": "1/3 +420, 2/3 -50", "score_ew": "-50"}, "assigned"),
        ({"score": "AVE+/AVE-"}, "artificial"),
        ({"score": "55%"}, "artificial"),
        ({"score": "55% +1 IMP/45% -1 IMP"}, "artificial"),
        ({"score": "not played"}, "not-played"),
        ({"stands": True}, "played"),
    ],
)
def test_every_kind_of_ruling_on_a_result(tmp_path: Path, score: dict[str, Any], kind: str) -> None:
    async def run(client: Client) -> None:
        made = await post(client, "ruling", {**PLAY, **BY, **score})
        assert made["ruling"]["counts"]
        trail = (await client.get("/play?section=A&board=1&ns=1&ew=4")).json()
        assert trail["content"]["is"] == kind
        assert ("(+1/-1 IMPs)" in trail["text"]) is ("IMP" in score.get("score", ""))
        ours = {row.play: row for row in client.desk.rows.values() if row.play.ns == 1}
        assert all(row.ruled for row in ours.values())
        await post(client, "ruling-withdraw", {"ruling": made["ruling"]["ruling"], **BY})
        trail = (await client.get("/play?section=A&board=1&ns=1&ew=4")).json()
        assert trail["text"] == "4S N=", "the result of the table stands again"

    running(tmp_path, run)


def test_a_proposed_ruling_counts_when_it_is_confirmed(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        before = await values(client)
        made = await post(client, "ruling", {**WEIGHTED, "propose": True})
        number = made["ruling"]["ruling"]
        assert made["ruling"]["state"] == "proposed"
        assert await values(client) == before
        shown = await post(client, "ruling-confirm/preview", {"ruling": number, **BY})
        assert shown["changes"]
        assert (await refused(client, "ruling-appeal", {"ruling": number, **BY, "section": "A", "pair": 1}))["code"]
        confirmed = await post(client, "ruling-confirm", {"ruling": number, "actor": "Bea"})
        assert [(step["state"], step["by"]) for step in confirmed["ruling"]["steps"]] == [
            ("proposed", "Anna"),
            ("confirmed", "Bea"),
        ]
        assert await values(client) != before
        await refused(client, "undo", {"action": made["action"], "actor": "Anna"})
        await post(client, "undo", {"action": confirmed["action"], "actor": "Anna"})
        assert (await rulings(client))["rulings"][0]["state"] == "proposed"
        assert await values(client) == before
        await post(client, "ruling-withdraw", {"ruling": number, **BY})
        error = await refused(client, "ruling-confirm", {"ruling": number, **BY})
        assert error["code"] == "bad-step"

    running(tmp_path, run)


def test_contradictory_rulings_are_refused_with_the_law(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        for wrong, law in (
            ({"score": "60% +420, 60% -50"}, "12C1"),
            ({"score": "60% +420, 30% -50"}, "12C1"),
            ({"score": ", ".join(["10% +420"] * 6)}, "12C1"),
            ({"score": "AVE+/AVE-", "reason": ""}, "needs a reason"),
            ({"score": "+420", "stands": True}, "stands"),
            ({"score": "+420", "law": "94"}, "no Law"),
            ({"score": "+420", "score_ns": "+50"}, "both sides"),
            ({}, "law is wanted"),
            ({"law": "82"}, "decides nothing"),
            ({"score": "+420", "edition": "laws-1987"}, "no ruleset"),
        ):
            answer = await client.post("/actions/ruling", {**PLAY, **BY, **wrong})
            assert answer.status_code in (400, 409), answer.text
            assert law in answer.json()["error"]["what"], answer.text
        assert (await rulings(client))["rulings"] == []
        first = (await post(client, "ruling", WEIGHTED))["ruling"]["ruling"]
        again = {**PLAY, **BY, "score": "AVE+/AVE-"}
        error = await refused(client, "ruling", again)
        assert error["code"] == "contradictory-ruling"
        assert "Law 12C1(c)" in error["what"]
        for act, body in (
            ("correct", {"contract": "3NT N", "tricks": "="}),
            ("erase", {}),
            ("swap", {}),
            ("not-played", {}),
            ("artificial", {"ns_score": "AVE+", "ew_score": "AVE", "note": "x"}),
        ):
            assert (await refused(client, act, {**PLAY, "actor": "Bea", **body}))["code"] == "contradictory-ruling"
        second = await post(client, "ruling", {**again, "replaces": first})
        states = {one["ruling"]: one["state"] for one in (await rulings(client))["rulings"]}
        assert states == {first: "changed", second["ruling"]["ruling"]: "confirmed"}
        await post(client, "undo", {"action": second["action"], "actor": "Anna"})
        (left,) = (await rulings(client))["rulings"]
        assert (left["ruling"], left["state"]) == (first, "confirmed")
        trail = (await client.get("/play?section=A&board=1&ns=1&ew=4")).json()
        assert trail["text"] == "60% +420, 40% -50"
        third = await post(client, "ruling", {**again, "replaces": first})
        await post(client, "ruling-withdraw", {"ruling": third["ruling"]["ruling"], **BY})
        trail = (await client.get("/play?section=A&board=1&ns=1&ew=4")).json()
        assert trail["text"] == "4S N=", "with the last of a chain everything that it replaced is gone"

    running(tmp_path, run)


def test_an_artificial_score_for_a_played_board_needs_a_reason(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        body = {**PLAY, "ns_score": "AVE+", "ew_score": "AVE-", "actor": "Anna"}
        assert (await refused(client, "artificial", body))["code"] == "contradictory-ruling"
        await post(client, "artificial", {**body, "note": "board fouled by a spectator"})
        await post(client, "artificial", {**body, "board": 2})

    running(tmp_path, run)


def test_appeals_and_the_correction_period(tmp_path: Path) -> None:
    clock = ManualClock()

    async def run(client: Client) -> None:
        number = (await post(client, "ruling", WEIGHTED))["ruling"]["ruling"]
        appeal = {"ruling": number, "actor": "Anna", "section": "A", "pair": 4, "agreed": True}
        assert (await rulings(client))["appeals"] == "not-started"
        await post(client, "publish", {"actor": "Anna"})
        found = await rulings(client)
        assert (found["correction"], found["appeals"]) == ("open", "open")
        assert found["provisional"] == ["the correction period is open"]
        assert "92A" in (await refused(client, "ruling-appeal", {**appeal, "pair": 2}))["what"]
        assert "92D" in (await refused(client, "ruling-appeal", {**appeal, "agreed": False}))["what"]
        clock.advance(29 * 60)
        await post(client, "ruling-appeal", appeal)
        found = await rulings(client)
        alerts = (await client.get("/desk")).json()["alerts"]
        assert [one["code"] for one in alerts if one["kind"] == "ruling"] == ["ruling-appealed"]
        assert found["provisional"][0] == f"ruling {number} is under appeal"
        assert found["rulings"][0]["counts"], "an appealed ruling counts until the decision"
        assert (await client.get("/desk")).json()["event"]["appeals"] == 1
        upheld = await post(client, "ruling-uphold", {"ruling": number, "actor": "The committee"})
        assert [step["state"] for step in upheld["ruling"]["steps"]] == ["confirmed", "appealed", "upheld"]
        await post(client, "undo", {"action": upheld["action"], "actor": "Anna"})
        decided = {**PLAY, "actor": "The committee", "reason": "no damage", "authority": "committee", "law": "93B"}
        await post(client, "ruling", {**decided, "score": "+420", "replaces": number})
        assert (await rulings(client))["provisional"] == ["the correction period is open"]
        other = (await post(client, "ruling", {**PLAY, **BY, "ns": 2, "ew": 6, "score": "AVE-/AVE+"}))["ruling"]
        clock.advance(2 * 60)
        await client.desk.finish_if_due()
        late = {**appeal, "ruling": other["ruling"], "pair": 2}
        assert "92B" in (await refused(client, "ruling-appeal", late))["what"]
        found = await rulings(client)
        assert (found["correction"], found["appeals"], found["second"]) == ("over", "over", True)

    running(tmp_path, run, clock=clock)


def test_after_the_correction_period_everything_that_changes_a_total_needs_a_second_name(tmp_path: Path) -> None:
    clock = ManualClock()

    async def run(client: Client) -> None:
        first = await post(client, "ruling", WEIGHTED)
        fine = {"section": "A", "pair": 1, "amount": "-5", "unit": "percent", **BY}
        given = await post(client, "penalty", fine)
        proposed = await post(client, "ruling", {**PLAY, **BY, "ns": 2, "ew": 6, "score": "+50", "propose": True})
        await post(client, "publish", {"actor": "Anna"})
        clock.advance(timedelta(minutes=31).total_seconds())
        await client.desk.finish_if_due()
        before = await values(client)
        third = {**PLAY, **BY, "ns": 3, "ew": 5, "score": "+50"}
        acts: list[tuple[str, dict[str, Any]]] = [
            ("ruling", third),
            ("ruling-confirm", {"ruling": proposed["ruling"]["ruling"], **BY}),
            ("ruling-withdraw", {"ruling": first["ruling"]["ruling"], **BY}),
            ("undo", {"action": first["action"], **BY}),
            ("penalty", fine),
            ("penalty", {"undo": given["penalties"][0]["number"], **BY}),
            ("scoring", {"profile": "ebu", **BY}),
            ("correct", {**PLAY, "ns": 3, "ew": 5, "contract": "3NT N", "tricks": "=", "actor": "Anna"}),
        ]
        for name, body in acts:
            for second in ("", "anna", " Anna "):
                error = await refused(client, name, {**body, "second": second})
                assert error["code"] == "needs-two-names", (name, error)
                assert "79C" in error["what"]
        assert await values(client) == before
        await post(client, "ruling", {**third, "second": "The chairman"})
        assert await values(client) != before
        step = (await rulings(client))["rulings"][0]["steps"][0]
        assert (step["by"], step["second"]) == ("Anna", "The chairman")
        await post(client, "ruling", {**PLAY, **BY, "ns": 1, "ew": 4, "board": 2, "score": "+50", "propose": True})

    running(tmp_path, run, clock=clock)


def test_a_penalty_is_a_ruling_apart_from_the_boards(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        before = await values(client)
        board = (await client.get("/boards/A/1")).json()
        given = await post(client, "penalty", {"section": "A", "pair": 1, **BY})
        assert given["ruling"]["law"] == "90"
        assert given["penalties"][0]["amount"] == "-1/4", "the standard penalty of the profile"
        after = await values(client)
        assert float(after[1][1]) == pytest.approx(float(before[1][1]) - 25)
        assert (await client.get("/boards/A/1")).json() == board
        card = (await client.get("/pairs/A/1")).json()
        assert [one["reason"] for one in card["penalties"]] == [BY["reason"]]
        assert (await refused(client, "penalty", {"section": "A", "pair": 1, "actor": "Anna"}))["code"]
        error = await refused(client, "penalty", {"section": "A", "pair": 1, "unit": "imps", "amount": "-3", **BY})
        assert "does not fit" in error["what"]
        assert await values(client) == after, "a penalty that does not fit leaves the ranking as it is"
        await post(client, "penalty", {"undo": given["penalties"][0]["number"], **BY})
        assert await values(client) == before

    running(tmp_path, run)


def test_an_act_whose_answer_got_lost_is_done_once(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        head = client.head(client.role("director"))

        async def fine(key: str | None, pair: int = 1) -> httpx.Response:
            body = {"section": "A", "pair": pair, **BY}
            keyed = {**head, "idempotency-key": key} if key is not None else head
            return await client.http.post("/api/v1/actions/penalty", json=body, headers=keyed)

        async def fines() -> int:
            return len((await client.get("/pairs/A/1")).json()["penalties"])

        first, meanwhile = await asyncio.gather(fine("one"), fine("one"))
        again = await fine("one")
        assert first.json() == meanwhile.json() == again.json()
        assert again.headers["content-type"] == "application/json"
        assert await fines() == 1
        refused = await fine("one", pair=2)
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "key-used")
        for wrong in ("", "k" * 65):
            assert (await fine(wrong)).status_code == 400
        await fine("two")
        await fine(None)
        await fine(None)
        assert await fines() == 4, "another act, or one without a key"

        # what failed has changed nothing: it may be done under the same key
        body = {"section": "A", "pair": 77, **BY}
        keyed = {**head, "idempotency-key": "three"}
        for _ in range(2):
            assert (await client.http.post("/api/v1/actions/penalty", json=body, headers=keyed)).is_error
        assert (await fine("three")).is_success

    running(tmp_path, run)


def test_a_fouled_board_by_rounds_and_by_a_read_back(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        before = await values(client)
        timed = {"board": 1, "changes": [{"section": "A", "from_round": 2, "form": "B"}], **BY}
        shown = await post(client, "fouled/preview", timed)
        assert shown["groups"] == {"": 1, "B": 2}
        assert await values(client) == before
        made = await post(client, "fouled", timed)
        assert made["ruling"]["law"] == "87"
        lines = {line["ns"]: line for line in (await client.get("/boards/A/1")).json()["lines"]}
        forms = {ns: [one["form"] for one in line["rulings"]] for ns, line in lines.items()}
        first = next(one for one in shown["proposal"] if not one["form"])
        assert forms[first["ns"]] == []
        assert lines[first["ns"]]["percent"] == "60.0", "the only score of a form (Law 87B)"
        assert sum(Fraction(lines[ns]["ns_points"]) for ns in forms if forms[ns]) == 2 * 2, "two scores, factored"
        assert (await refused(client, "fouled", timed))["code"] == "contradictory-ruling"
        number = made["ruling"]["ruling"]
        named = [{"section": "A", "ns": 2, "ew": 6, "form": "C"}]
        await post(client, "fouled", {"board": 1, "forms": named, "replaces": number, **BY})
        await refused(client, "ruling-withdraw", {"ruling": number + 2, **BY})
        (kept,) = [one for one in (await rulings(client))["rulings"] if one["counts"]]
        await post(client, "ruling-withdraw", {"ruling": kept["ruling"], **BY})
        assert await values(client) == before
        read = {"board": 1, "readings": [{"section": "A", "after_round": n, "same": n < 2} for n in (1, 2, 3)], **BY}
        shown = await post(client, "fouled/preview", read)
        assert [one["form"] for one in shown["proposal"]] == ["", "", "B"]
        assert shown["uncertain"] == 0
        same = {"board": 1, "readings": [{"section": "A", "after_round": 3, "same": True}], **BY}
        assert (await refused(client, "fouled/preview", same))["code"] == "not-fouled"
        end = {"board": 1, "readings": [{"section": "A", "after_round": 3, "same": False}], **BY}
        assert (await refused(client, "fouled/preview", end))["code"] == "not-fouled", "nothing is proven"
        digest = {"board": 1, "readings": [{"section": "A", "after_round": 3, "digest": "00" * 8}], **BY}
        assert (await refused(client, "fouled/preview", digest))["code"] == "no-deals"

    running(tmp_path, run)


def test_a_form_that_was_marked_otherwise_has_its_own_vulnerability(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        """Board 1 is marked for nobody; all three tables played it with North-South vulnerable (Laws 2, 87A)."""
        assert {line["score"] for line in (await client.get("/boards/A/1")).json()["lines"]} == {420, 450, -50}
        fouled = {"board": 1, "changes": [{"section": "A", "from_round": 1, "form": "B"}], **BY}
        assert "NS, EW or All" in (await refused(client, "fouled", {**fouled, "vulnerable": "us"}))["what"]
        made = await post(client, "fouled", {**fouled, "vulnerable": "NS"})
        lines = (await client.get("/boards/A/1")).json()["lines"]
        assert {line["score"] for line in lines} == {620, 650, -100}
        assert sorted(Fraction(line["ns_points"]) for line in lines) == [0, 2, 4], "one form, compared as a whole"
        assert "marked NS vulnerable" in made["ruling"]["text"]
        assert b"620" in (await client.get("/files/csv")).content
        await post(client, "undo", {"action": made["action"], "actor": "Anna"})
        assert {line["score"] for line in (await client.get("/boards/A/1")).json()["lines"]} == {420, 450, -50}

    running(tmp_path, run)


def test_exports_show_rulings(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        await post(client, "ruling", WEIGHTED)
        await post(client, "fouled", {"board": 1, "forms": [{"section": "A", "ns": 2, "ew": 6, "form": "B"}], **BY})
        await post(client, "penalty", {"section": "A", "pair": 3, **BY})
        word = "Law 12C1(c): Hesitation before the save (Anna)."
        texts = {}
        for name in ("usebio", "pbn", "csv", "bridgewebs", "json", "ranking-csv"):
            found = await client.get(f"/files/{name}")
            assert found.status_code == 200, found.text
            texts[name] = found.text
        assert all(word in texts[name] for name in ("usebio", "pbn", "csv", "json"))
        assert all("Law 87" in texts[name] for name in ("usebio", "pbn", "csv", "json"))
        for event in (read_usebio(texts["usebio"].encode()), read_results_json(texts["json"].encode())):
            (ruled,) = (one.line.result for one in event.lines if isinstance(one.line.result, Assigned))
            assert isinstance(ruled.ns, tuple)
            assert [outcome.weight for outcome in ruled.ns] == [Fraction(3, 5), Fraction(2, 5)]
        assert "-25" in texts["ranking-csv"]
        assert "60" in texts["bridgewebs"]
        await client.post("/actions/publish", {"actor": "Anna"})
        public = (await client.get("/public/boards/A/1", None)).json()
        assert {line["text"] for line in public["lines"]} >= {"60% +420, 40% -50"}
        assert ["12C1(c)"] in [line["laws"] for line in public["lines"]]
        assert "Hesitation" not in json.dumps(public)

    running(tmp_path, run)


def test_rulings_survive_a_restart(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        made = await post(client, "ruling", WEIGHTED)
        await post(client, "penalty", {"section": "A", "pair": 3, **BY})
        number = made["ruling"]["ruling"]
        await post(client, "ruling-appeal", {"ruling": number, "section": "A", **BY, "pair": 1, "agreed": True})

    running(tmp_path, run)
    seen: list[Any] = []

    async def again() -> None:
        for _ in range(2):
            async with service(tmp_path) as client:
                seen.append((await values(client), await rulings(client)))
                assert await client.desk.store.rebuild(client.desk.setup.id) == 0

    asyncio.run(again())
    assert seen[0] == seen[1]
    assert [one["state"] for one in seen[0][1]["rulings"]] == ["confirmed", "appealed"]


def test_a_ruling_is_the_directors_and_a_veiled_board_stays_veiled(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        made = await post(client, "ruling", WEIGHTED)
        assistant = client.role("assistant")
        for name, body in (
            ("ruling", {**WEIGHTED, "board": 2}),
            ("correct", {**PLAY, "ns": 2, "ew": 6, "ns_outcomes": "4S N = 60%, 4S N -1 40%", "actor": "Zoe"}),
            ("undo", {"action": made["action"], "actor": "Zoe"}),
        ):
            assert (await client.post(f"/actions/{name}", body, assistant)).status_code == 403, name
        found = (await client.get("/rulings", client.role("viewer"))).json()
        assert found["rulings"][0]["text"].endswith("60% +420, 40% -50")
        await client.post("/actions/settings", {"settings": {"playing_director": ["A2"]}})
        await post(client, "erase", {**PLAY, "ns": 2, "ew": 6, "actor": "Anna"})
        found = await rulings(client)
        assert found["rulings"][0]["text"] == "board 1"
        assert "420" not in json.dumps(found)
        for path in ("/rulings", "/log", "/play?section=A&board=1&ns=1&ew=4", "/boards/A/1", "/desk"):
            seen = (await client.get(path)).text
            assert "Hesitation" not in seen, path
            assert '"weight"' not in seen, path
            assert "60% +420" not in seen, path
        assert (await refused(client, "ruling", {**WEIGHTED, "ns": 3, "ew": 5}))["code"] == "veiled"

    running(tmp_path, run, settings=EventSettings(confirm=False))


def test_a_result_for_two_who_never_meet_is_taken_said_and_stays_on_the_list_until_it_is_right(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        async def listed() -> list[str]:
            return [a["code"] for a in (await client.get("/desk")).json()["alerts"] if a["kind"] == "warning"]

        stray = {**PLAY, "ew": 6, "contract": "4S N", "tricks": "=", "actor": "Anna"}
        shown = await post(client, "correct/preview", stray)
        done = await post(client, "correct", stray)
        assert shown["notes"] == done["notes"]
        assert "1 and 6 are not scheduled to meet on board 1" in done["notes"][0]
        assert done["unscheduled"]["due"] == [
            {"pair": 1, "round": 1, "table": 1, "against": 4},
            {"pair": 6, "round": 3, "table": 2, "against": 2},
        ]
        assert await listed() == ["not-in-movement"]
        await post(client, "leave", {**PLAY, "ew": 6, "actor": "Anna"})
        assert await listed() == [], "looked at, right as it is"
        ruled = await post(client, "ruling", {**PLAY, **BY, "ns": 3, "score": "AVE+/AVE-"})
        assert "not scheduled" in ruled["notes"][-1]
        assert await listed() == ["not-in-movement"]
        assert "notes" not in await post(client, "correct", {**PLAY, "contract": "pass", "actor": "Anna"})
        await post(client, "swap", {**PLAY, "actor": "Anna"})
        assert len(await listed()) == 1, "the other way round is still this board between these two"
        await post(client, "correct", {**PLAY, "contract": "pass", "actor": "Anna"})
        assert len(await listed()) == 2, "until both ways have a result"

    running(tmp_path, run)


def test_rulings_are_numbered_one_after_the_other_whatever_else_happens(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        await refused(client, "ruling", {**WEIGHTED, "score": "60% +420, 20% -50"})
        await client.desk.log("call", section=1, table=1, state=1, round=1)
        first = await post(client, "ruling", WEIGHTED)
        assert first["ruling"]["ruling"] == 1
        await post(client, "undo", {"action": first["action"], "actor": "Anna"})
        second = await post(client, "ruling", WEIGHTED)
        assert second["ruling"]["ruling"] == 2, "a number is never given twice"
        third = await post(client, "ruling", {**WEIGHTED, "score": "AVE", "replaces": 2})
        assert (third["ruling"]["ruling"], third["ruling"]["replaces"]) == (3, 2)
        await post(client, "undo", {"action": third["action"], "actor": "Anna"})
        kept = {one["ruling"]: one["state"] for one in (await rulings(client))["rulings"]}
        assert kept == {2: "confirmed"}

    running(tmp_path, run)
