"""Beginning an event and what happens to its plan, over the interface: sections, files, draws, late pairs, undoing."""

from __future__ import annotations

import asyncio
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import web_fakes
from web_fakes import Client, Page, service

from firmware_bridge.service import api_table, desk_sections, desk_setup
from terminals.movement import written
from terminals.movement.catalog import build
from terminals.sync.seats import sitting
from terminals.sync.tables import cells

ONE = 0x1111_2222_3333_4444


@pytest.fixture(autouse=True)
def _without_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_fakes, "routes", list)


async def ok(client: Client, path: str, body: Any = None) -> Any:
    found = await (client.get(path) if body is None else client.post(path, body))
    assert found.status_code == 200, found.text
    return found.json()


async def refused(client: Client, path: str, body: Any, code: str, status: int = 409) -> str:
    found = await client.post(path, body)
    assert found.status_code == status, found.text
    assert found.json()["error"]["code"] == code, found.text
    return str(found.json()["error"]["what"])


async def play(client: Client, letter: str = "A", rounds: range = range(1, 2), tricks: int = 9) -> int:
    """A result for every board of these rounds; later boards and tables make fewer tricks."""
    count = 0
    for cell in cells(client.desk.setup, client.desk.rows.values()):
        if cell.section == letter and cell.round in rounds and (cell.result is None or cell.result.content is None):
            body = {"section": letter, "board": cell.board, "ns": cell.ns, "ew": cell.ew, "actor": "Ann"}
            made = str(max(6, tricks - cell.table % 4))
            await ok(client, "/actions/correct", {**body, "contract": "1NT N", "tricks": made})
            count += 1
    return count


async def change(client: Client, kind: str, **values: Any) -> Any:
    """Preview, then apply; the preview says what the change does."""
    body = {"section": "A", "event": {"kind": kind, **values}, "actor": "Ann"}
    before = client.desk.setup
    seen = await ok(client, "/plan/preview", body)
    assert client.desk.setup == before, "a preview changes nothing"
    done = await ok(client, "/plan/change", {**body, "seen": seen["version"]})
    assert {key: done[key] for key in seen} == seen
    assert seen["proof"]["replays"] == 0
    assert client.desk.setup.plan_version == before.plan_version + 1
    return done


async def take_back(client: Client, position: int, **more: Any) -> None:
    await ok(client, "/plan/undo", {"section": "A", "position": position, "actor": "Ann", **more})


def movement(client: Client, at: int = 0) -> Any:
    found = client.desk.setup.sections[at].movement
    assert found is not None
    return found


# --- beginning -----------------------------------------------------------------------------------------------------


def test_sections_of_any_movement_begin_in_one_event(tmp_path: Path) -> None:
    own, csv = written.to_yaml(build("howell:3x3")), written.to_csv(build("mitchell:5x4"))
    sections = [
        {"movement": "mitchell:7x4,missing=ew"},
        {"name": "D", "file": own, "boards": "17-31"},
        {"name": "C", "file": csv},
        {"name": "E", "pairs": 9, "boards": "1-10, 21-35"},
        {"name": "F", "movement": "swiss-pairs:8x7", "seeding": "random"},
        {"name": "AA"},
    ]

    async def run() -> None:
        async with service(tmp_path, None) as client:
            seen = await ok(client, "/setup/check", {"sections": sections})
            assert [one["name"] for one in seen] == ["A", "D", "C", "E", "F", "AA"]
            assert seen[1]["boards"] == "17-31"
            done = await ok(
                client, "/setup/start", {"name": "Open", "sections": sections, "settings": {"across": True}}
            )
            assert done["copies"]["3"] >= 3, "every section plays with boards of its own"
            assert any("no movement yet" in one for one in done["warnings"])
            assert any("not played in every section" in one for one in done["warnings"])
            found = {one["section"]: one for one in (await ok(client, "/plan"))["sections"]}
            assert found["A"]["tables"] == 7
            assert found["D"]["boards"] == "17-31"
            assert found["C"]["kind"] in ("own", "odd")
            assert found["AA"]["movement"] is None
            plan = client.desk.setup.table_plan(4, 1)
            assert plan is not None
            assert plan.rounds[0].first_board == 17
            assert client.desk.setup.settings.across is True
            await ok(client, "/actions/settings", {"settings": {"across": False}})
            assert client.desk.setup.settings.across is False

    asyncio.run(run())


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"movement": "mitchell:7x4", "boards": "1-27"}, "28 boards, the list has 27"),
        ({"movement": "mitchell:7x4", "boards": "1-8,5-40"}, "Board 5 is in the list twice"),
        ({"movement": "mitchell:7x4", "boards": "990-1020"}, "no board and no run"),
        ({"movement": "mitchell:3x4", "boards": "1-3,21-40"}, "boards that follow each other"),
        ({"file": "round;table;ns;ew;boards\n1;1;1;1;1-2\n1;2;3;4;3-4"}, "error"),
        ({"file": "seatings:\n  - {round: 1, table: 1, ns: 1, ew: x, boards: 1-2}"}, "ew"),
        ({"file": "hello"}, "header"),
        ({"movement": "mitchell:7x4", "seeding": "random"}, "Swiss"),
        ({"movement": "swiss-pairs:6x7", "seeding": [1, 2, 3]}, "names everybody once"),
        ({"movement": "nothing:7x4"}, "no movement"),
        ({"size": 7}, "no 'size'"),
        ({"name": "AB", "movement": "mitchell:7x4"}, "no section"),
        ("A", "names and values"),
    ],
)
def test_a_section_that_can_not_be_is_refused_with_its_place(tmp_path: Path, section: Any, words: str) -> None:
    async def run() -> None:
        async with service(tmp_path, None) as client:
            found = await client.post("/setup/start", {"sections": [{"movement": "mitchell:5x2"}, section]})
            assert found.status_code == 400, found.text
            error = found.json()["error"]
            assert words in error["what"]
            assert "section" in error["where"] or "section" in error["what"]
            assert not client.desk.has_event

    asyncio.run(run())


@pytest.mark.parametrize("spec", ["swiss-pairs:6x4", "swiss-pairs:6x28"])
def test_rounds_that_no_scale_covers_are_refused_before_anybody_plays(tmp_path: Path, spec: str) -> None:
    async def run() -> None:
        async with service(tmp_path, None) as client:
            found = await client.post("/setup/start", {"spec": spec})
            assert (found.status_code, found.json()["error"]["code"]) == (409, "vp-boards-unknown")
            assert not client.desk.has_event
            await ok(client, "/setup/start", {"spec": spec, "scale": "none"})
            refused = await client.post("/actions/scoring", {"scale": "percent", "actor": "Ann"})
            assert refused.json()["error"]["code"] == "vp-boards-unknown"
            await ok(client, "/actions/scoring", {"method": "cross_imps", "scale": "profile", "actor": "Ann"})
            back = await client.post("/actions/scoring", {"method": "matchpoints", "actor": "Ann"})
            assert back.json()["error"]["code"] == "vp-boards-unknown"

    asyncio.run(run())


def test_only_the_swiss_section_is_ranked_by_rounds_unless_the_director_says_so(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, None) as client:
            sections = [{"name": "A", "movement": "mitchell:3x3"}, {"name": "B", "movement": "swiss-pairs:6x6"}]
            await ok(client, "/setup/start", {"sections": sections})
            for section in client.desk.setup.sections:
                assert section.movement is not None
                for at, one in enumerate(section.movement.seatings):
                    for board in one.boards:
                        play = {"section": section.letter, "board": board, "ns": one.ns, "ew": one.ew}
                        await ok(client, "/actions/correct", {**play, "contract": "3NT N", "tricks": str(5 + at % 7)})
            units = {group["rows"][0]["section"]: group["unit"] for group in await ok(client, "/ranking")}
            assert units == {"A": "percent", "B": "vps"}
            totals = [Fraction(row["value"].removesuffix("%")) for row in (await ok(client, "/ranking"))[0]["rows"]]
            assert sum(totals) == 50 * len(totals)

    asyncio.run(run())


def test_begun_before_set_up_is_complete(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, None) as client:
            await ok(client, "/setup/start", {"sections": [{"name": "A"}], "settings": {"confirm": False}})
            page = Page(client, 1, ONE)
            api_table.WAIT_S = 10_000.0  # a page is never made to wait for a plan that there is not
            await page.hello()
            await page.exchange(records=[page.record(1, 1, 4), page.record(9, 1, 5)])
            assert len(client.desk.rows) == 2, "results are held"
            body = {"section": "A", "movement": "mitchell:3x2", "boards": "1-6", "actor": "Ann"}
            seen = await ok(client, "/setup/movement/preview", body)
            assert (seen["held"], len(seen["unbound"])) == (2, 1)
            assert "board 9" in seen["unbound"][0]
            assert client.desk.setup.sections[0].movement is None
            await ok(client, "/setup/movement", body)
            grid = (await ok(client, "/desk"))["grid"]
            assert grid["counts"]["stored"] == 1
            assert [one["board"] for one in grid["others"]] == [9]
            await page.hear("TABLE_PLAN")
            # a section more, and another movement in place of the first: an event, and undone
            await ok(client, "/setup/movement", {"section": "B", "movement": "howell:2x4"})
            assert [one.letter for one in client.desk.setup.sections] == ["A", "B"]
            again = {"section": "A", "movement": "howell:3x1", "boards": "1-5"}
            assert "twice" in await refused(client, "/setup/movement", again, "plan-refused")
            other = {"section": "A", "movement": "howell:3x1", "boards": "11-15"}
            assert "outside" in await refused(client, "/setup/movement", other, "results-outside")
            await ok(client, "/setup/movement", {**other, "anyway": True})
            assert movement(client).kind == "howell"
            await take_back(client, 0)
            assert movement(client).kind != "howell"

    asyncio.run(run())


def test_an_event_does_not_take_the_place_of_one_whose_first_result_came_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, real = threading.Event(), threading.Event(), desk_sections.sections_from

    def slow(body: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return real(body)

    async def run() -> None:
        async with service(tmp_path, "mitchell:3x2") as client:
            monkeypatch.setattr(desk_setup, "sections_from", slow)
            asked = asyncio.create_task(client.post("/setup/start", {"spec": "howell:3x1"}))
            assert await asyncio.to_thread(begun.wait, 60)
            await play(client)
            go_on.set()
            found = await asked
            assert (found.status_code, found.json()["error"]["code"]) == (409, "event-under-way")
            assert movement(client).kind == "mitchell"

    asyncio.run(run())


def test_tables_begin_with_the_first_round_while_the_movement_is_chosen(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, None) as client:
            await ok(client, "/setup/start", {"sections": [{"movement": "mitchell:5x4,rounds=1"}]})
            await play(client)
            whole = {"section": "A", "movement": "mitchell:5x4"}
            done = await ok(client, "/setup/movement", whole)
            assert (done["ok"], done["orphans"]) == (True, [])
            assert movement(client).rounds == 5
            counts = (await ok(client, "/desk"))["grid"]["counts"]
            assert (counts["expected"], counts["stored"]) == (100, 20)
            await refused(client, "/plan/undo", {"section": "A", "position": 3}, "entry")
            await take_back(client, 0)
            assert movement(client).rounds == 1

    asyncio.run(run())


def test_same_as_last_thursday(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, None) as client:
            sections = [{"movement": "mitchell:5x4,missing=ew"}, {"movement": "howell:3x4"}]
            settings: dict[str, Any] = {
                "director_pin": "4711",
                "playing_director": ["A1"],
                "across": True,
                "correction_minutes": 20,
            }
            settings["profile"] = "ebu"
            first = {"name": "Thursday", "sections": sections, "settings": settings, "method": "butler"}
            event = (await ok(client, "/setup/start", first))["event"]
            await ok(client, "/deal/generate", {"first": 1, "last": 20})
            await change(client, "late-pair", round=2, place="phantom")
            await play(client, "A", range(1, 2))
            await ok(client, "/setup/start", {"name": "Between", "instead": True, "spec": "howell:2x2"})
            listed = await ok(client, "/setup/events")
            assert [one["name"] for one in listed] == ["Between", "Thursday"]
            assert listed[1]["event"] == event
            done = await ok(client, "/setup/start", {"again": event, "name": "Next Thursday"})
            desk = client.desk
            assert movement(client) == build("mitchell:5x4,missing=ew"), "as announced, without the late pair"
            assert movement(client, 1) == build("howell:3x4")
            assert (desk.setup.settings.across, desk.setup.settings.correction_minutes) == (True, 20)
            assert desk.setup.settings.profile == "ebu"
            assert (await ok(client, "/desk"))["event"]["method"] == "butler"
            assert desk.setup.settings.director_pin == ""
            assert desk.setup.settings.playing_director == ()
            assert not desk.rows
            assert not desk.facts.deal_set
            assert done["ask"] == ["the deals", "the director's PIN", "the playing director's pair"]
            assert f"{desk.setup.id:016x}" != event
            await refused(client, "/setup/start", {"again": "x"}, "bad-value", 400)
            await refused(client, "/setup/start", {"again": "00000000000000aa"}, "no-event")

    asyncio.run(run())


def test_settings_that_can_not_be_are_refused_at_the_start(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, None) as client:
            for settings in ({"profile": "nobody"}, {"profile": "../x"}, {"across": 1}, {"wind": True}):
                found = await client.post("/setup/start", {"spec": "howell:2x2", "settings": settings})
                assert found.status_code in (400, 409), settings
            assert not client.desk.has_event

    asyncio.run(run())


# --- Swiss ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("spec", "sitting"), [("swiss-pairs:7x5", 7), ("swiss-teams:5x6", 10)])
def test_a_swiss_event_is_drawn_round_by_round(tmp_path: Path, spec: str, sitting: int) -> None:
    async def run() -> None:
        async with service(tmp_path, None) as client:
            await ok(client, "/setup/start", {"sections": [{"movement": spec}]})
            page = Page(client, 1, ONE)
            await page.hello()
            assert (await client.get("/table", page.token)).json()["draws"] is True, "it waits after the last round"
            await refused(client, "/plan/draw", {}, "boards-missing")
            met: set[frozenset[int]] = set()
            byes = []
            size = movement(client).boards_per_round
            for number in range(1, 4):
                await play(client, rounds=range(number, number + 1), tricks=6 + number)
                seen = await ok(client, "/plan/draw/preview", {})
                assert movement(client).rounds == number, "a preview draws nothing"
                looked = {"couples": seen["couples"], "seen": seen["version"]}
                turned = [*reversed(seen["couples"])]
                await refused(client, "/plan/draw", {**looked, "couples": turned}, "draw-changed")
                done = await ok(client, "/plan/draw", {**looked, "actor": "Ann"})
                assert (done["couples"], done["bye"]) == (seen["couples"], seen["bye"])
                assert done["repeats"] == []
                assert done["round"] == movement(client).rounds == number + 1
                assert done["boards"] == f"{number * size + 1}-{(number + 1) * size}"
                byes.append(done["bye"])
                for couple in done["couples"]:
                    assert frozenset(couple) not in met
                    met.add(frozenset(couple))
                ranked = done["ranking"]
                assert len(ranked) == len(set(ranked)) == len(movement(client).contestants)
            assert len(set(byes)) == 3
            await page.hear("TABLE_PLAN", lambda plan: len(plan["rounds"]) == 4)
            assert len(movement(client).pairs) == sitting
            # an undrawn round comes back as another draw; one with results stays
            await take_back(client, 2)
            assert movement(client).rounds == 3
            order = list(reversed(ranked))
            again = await ok(client, "/plan/draw", {"ranking": order, "absent": [], "actor": "Ann"})
            assert again["ranking"] == order
            await play(client, rounds=range(4, 5))
            await refused(client, "/plan/undo", {"section": "A", "position": 4}, "results-outside")
            shown = (await ok(client, "/plan"))["sections"][0]
            assert [one["undone"] for one in shown["events"]] == [False, False, True, False, False]
            assert shown["swiss"] is True

    asyncio.run(run())


def test_a_swiss_event_that_people_join_and_leave(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, None) as client:
            await ok(client, "/setup/start", {"spec": "swiss-pairs:6x7", "settings": {"across": True}})
            await play(client)
            await refused(client, "/plan/draw", {"absent": [99]}, "bad-value", 400)
            await refused(client, "/plan/draw", {"ranking": [1, 2, 3]}, "bad-ranking", 400)
            await change(client, "withdrawn", pair=2, round=2, standing=False)
            done = await ok(client, "/plan/draw", {"join": [7], "absent": [5]})
            playing = {one for couple in done["couples"] for one in couple} | {done["bye"]}
            assert playing - {0} == {1, 3, 4, 6, 7}
            await play(client, rounds=range(2, 3))
            done = await ok(client, "/plan/draw", {"first_board": 20})
            playing = {one for couple in done["couples"] for one in couple} | {done["bye"]}
            assert playing - {0} == {1, 3, 4, 5, 6, 7}
            assert done["boards"] == "20-26"
            late = {"section": "A", "event": {"kind": "late-pair", "round": 3}}
            assert (await client.post("/plan/preview", late)).status_code == 409

    asyncio.run(run())


def test_only_swiss_events_are_drawn(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            await refused(client, "/plan/draw", {}, "not-swiss")

    asyncio.run(run())


# --- things that happen --------------------------------------------------------------------------------------------


def test_a_late_pair_of_every_kind(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path / "a", "mitchell:5x4,missing=ew") as client:
            await play(client, rounds=range(1, 2))
            sat = movement(client).sit_outs[1]
            missed = list(sat.boards[:1])
            verdict = {"state": "artificial", "ns": 60, "ew": 40}
            done = await change(client, "late-pair", round=2, missed=missed, verdict=verdict)
            assert any("60 % / 40 %" in one for one in done["unplayed"])
            assert done["results_after"] > done["results_before"]
            late = max(movement(client).pairs)
            assert late == 10
            seat = movement(client).seat(late, 2)
            assert not set(missed) & set(seat.boards)
            await play(client, rounds=range(2, 6))
            ranked = {row["pair"]: row for group in await ok(client, "/ranking") for row in group["rows"]}
            assert 10 in ranked
            opponent = next(p for p in (seat.ns, seat.ew) if p != late)
            assert ranked[opponent]["boards"] == len(movement(client).boards_of(opponent)) + 1, "the average counts"
        async with service(tmp_path / "b", "mitchell:7x2") as client:
            await change(client, "late-pair", round=2, place="rover", side="NS")
            assert len(movement(client).plays(15)) >= 3
        async with service(tmp_path / "c", "howell:5x2") as client:
            await change(client, "late-pair", round=2, place="appendix")
            assert max(s.table for s in movement(client).plays(11)) == 6
            page = Page(client, 6, ONE)
            await page.hello()
            plan = next(m for m in page.messages if m["kind"] == "TABLE_PLAN")
            assert {11} <= {one[side] for one in plan["rounds"] for side in ("ns", "ew")}, "the new table has a card"

    asyncio.run(run())


def test_an_early_end_removes_rounds_and_makes_nothing_not_played(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "mitchell:9x2") as client:
            await play(client, rounds=range(1, 2))
            await change(client, "curtailed", after_round=6)
            desk = (await ok(client, "/desk"))["grid"]
            assert desk["counts"]["expected"] == 6 * 9 * 2
            assert "not-played" not in desk["counts"]
            plan = client.desk.setup.table_plan(1, 1)
            assert plan is not None
            assert len(plan.rounds) == 6
            assert plan.rounds[-1].next_ns == 255, "terminals end there"
            await take_back(client, 0)
            assert movement(client).rounds == 9
            await play(client, rounds=range(2, 3))
            body = {"section": "A", "event": {"kind": "curtailed", "after_round": 1}}
            found = await client.post("/plan/change", body)
            assert found.status_code == 409
            assert "Round 2 has results already" in found.json()["error"]["what"]

    asyncio.run(run())


def test_a_pair_leaves_and_a_stand_by_comes(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "mitchell:5x2") as client:
            await play(client, rounds=range(1, 2))
            await change(client, "withdrawn", pair=3, round=3, standing=True)
            assert len(movement(client).plays(3)) == 2
            shown = (await ok(client, "/plan"))["sections"][0]
            assert shown["gone"] == [3]
            assert shown["without_standing"] == []
            done = await change(client, "stand-by", pair=99, instead_of=8, round=2)
            assert any("99" in one for one in done["changes"])
            assert len(movement(client).plays(99)) == 4
            assert 99 in movement(client).contestants
            await take_back(client, 1)
            assert 99 not in movement(client).pairs
            await take_back(client, 0)
            assert movement(client) == build("mitchell:5x2")

    asyncio.run(run())


def test_a_substitute_is_on_record_and_sits_there_in_these_rounds(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "mitchell:5x2") as client:
            people = [{"pair": 3, "players": [{"name": "Anna", "number": "7"}, {"name": "Jan"}]}]
            await ok(client, "/setup/people", {"people": people})

            def sits() -> list[str]:
                found = (sitting(client.desk.people, "A", 3, number)[0] for number in range(1, 6))
                return [one.name if one is not None else "" for one in found]

            await change(client, "substituted", pair=3, player="anna", substitute="Zofia", round=2, to_round=3)
            shown = (await ok(client, "/plan"))["sections"][0]
            assert shown["substitutes"] == ["Zofia plays for anna in pair 3 from round 2 to 3 (Law 3)"]
            assert shown["events"][0]["actor"] == "Ann"
            assert sits() == ["Anna", "Zofia", "Zofia", "Anna", "Anna"]
            await change(client, "substituted", pair=3, player="Anna", substitute="Ewa", round=4)
            assert sits() == ["Anna", "Zofia", "Zofia", "Ewa", "Ewa"]
            assert client.desk.names_of("A", 3) == "Anna - Jan", "the contestants stay who they are"
            await take_back(client, 1)
            await take_back(client, 0)
            assert sits() == ["Anna"] * 5
            assert (await ok(client, "/plan"))["sections"][0]["substitutes"] == []

    asyncio.run(run())


def test_time_ran_out_for_a_board(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "mitchell:3x4") as client:
            page = Page(client, 1, ONE)
            await page.hello()
            boards = movement(client).at(1, 1).boards
            done = await change(client, "unstarted", round=1, table=1, boards=[boards[1]])
            assert done["results_after"] == done["results_before"] - 1
            plan = client.desk.setup.table_plan(1, 1)
            assert plan is not None
            assert (plan.rounds[0].first_board, plan.rounds[0].board_count) == (1, 4), "a run with a hole"
            for _ in range(20):
                await page.exchange()
                if any(m["kind"] == "TEXT" and "do not play board 2" in m["text"] for m in page.messages):
                    break
                await asyncio.sleep(0.05)
            else:
                raise AssertionError("the table was not told")
            await take_back(client, 0)
            assert movement(client) == build("mitchell:3x4")

    asyncio.run(run())


def test_wrong_pairs_sat_down_and_results_follow_who_played(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "mitchell:7x2") as client:
            await play(client, rounds=range(1, 3))
            third = movement(client).in_round(3)
            one, two = third[0], third[1]
            swapped = [{"table": one.table, "ns": one.ns, "ew": two.ew}]
            event: dict[str, Any] = {
                "round": 3,
                "tables": swapped,
                "then": "return",
                "verdict": {"state": "not-played"},
            }
            body: dict[str, Any] = {"section": "A", "event": {"kind": "played-as", **event}}
            seen = await ok(client, "/plan/preview", body)
            assert set(seen["ways"]) == {"return", "follow"}
            assert seen["ways"]["follow"]["ok"] is True
            assert seen["moves"] == []
            await change(client, "played-as", **event)
            assert movement(client).at(3, one.table).ew == two.ew
            assert movement(client).at(3, two.table).ew == one.ew, "the other table follows"
            await play(client, rounds=range(3, 4))
            assert not (await ok(client, "/desk"))["grid"]["others"]
            body = {"section": "A", "position": 0}
            undone = await ok(client, "/plan/undo/preview", body)
            assert len(undone["moves"]) == 4, "taken back, the results are those of the plan's pairs"
            await take_back(client, 0)
            assert movement(client) == build("mitchell:7x2")
            assert not (await ok(client, "/desk"))["grid"]["others"]

    asyncio.run(run())


def test_results_that_were_keyed_in_under_the_plan_follow_the_pairs_that_sat_there(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "mitchell:7x2") as client:
            await play(client, rounds=range(1, 4))
            third = movement(client).in_round(3)
            one, two = third[0], third[1]
            texts = {row.play.board: str(row.content) for row in client.desk.rows.values() if row.play.ns == one.ns}
            tables = [{"table": one.table, "ns": one.ns, "ew": two.ew}]
            done = await change(client, "played-as", round=3, tables=tables)
            assert len(done["moves"]) == 4, "two boards at each of two tables"
            assert not (await ok(client, "/desk"))["grid"]["others"]
            for board in one.boards:
                trail = await ok(client, f"/play?section=A&board={board}&ns={one.ns}&ew={two.ew}")
                assert trail["text"] == texts[board]
                assert [event["kind"] for event in trail["events"]] == ["moved-here"]
                assert trail["events"][0]["actor"] == "Ann"
            # taken back: the results go back to the pairs of the plan
            await take_back(client, 0)
            assert movement(client) == build("mitchell:7x2")
            assert not (await ok(client, "/desk"))["grid"]["others"]
            trail = await ok(client, f"/play?section=A&board={one.boards[0]}&ns={one.ns}&ew={one.ew}")
            assert trail["text"] == texts[one.boards[0]]

            # another number from a round that has results already
            done = await change(client, "renumbered", pair=one.ns, number=30, round=3)
            assert len(done["moves"]) == 2
            assert not (await ok(client, "/desk"))["grid"]["others"]
            assert len((await ok(client, "/pairs/A/30"))["lines"]) == 6
            await take_back(client, 2)
            assert len((await ok(client, f"/pairs/A/{one.ns}"))["lines"]) == 6

    asyncio.run(run())


def test_what_a_later_event_needs_is_undone_last_and_undoing_can_be_undone(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "mitchell:5x4,missing=ew") as client:
            await change(client, "late-pair", round=2, place="phantom")
            with_pair = movement(client)
            await change(client, "withdrawn", pair=10, round=4)
            body = {"section": "A", "position": 0}
            found = await client.post("/plan/undo", body)
            assert found.status_code == 409
            assert "event 1" in found.json()["error"]["where"]
            await take_back(client, 1)
            await take_back(client, 0)
            assert movement(client) == build("mitchell:5x4,missing=ew")
            await take_back(client, 3)
            assert movement(client) == with_pair
            again = await client.post("/plan/undo", {"section": "A", "position": 3})
            assert (again.status_code, again.json()["error"]["code"]) == (409, "taken-back-already")
            plan = (await ok(client, "/plan"))["sections"][0]["events"]
            assert [one["position"] for one in plan if one["undone"]] == [1, 3]
            wrong = await client.post("/plan/undo", {"section": "A", "position": 77})
            assert wrong.status_code == 409
            said = wrong.json()["error"]
            assert "no change 77" in said["what"]
            assert "0 (" in said["what"]
            assert "td plan" in str(said)

    asyncio.run(run())


def test_a_change_of_plan_survives_a_restart(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "mitchell:5x4,missing=ew") as client:
            await change(client, "late-pair", round=2, place="phantom")
            before = movement(client)
        async with service(tmp_path) as client:
            assert movement(client) == before
            shown = (await ok(client, "/plan"))["sections"][0]
            assert [one["kind"] for one in shown["events"]] == ["late-pair"]
            await take_back(client, 0)
            assert movement(client) == build("mitchell:5x4,missing=ew")

    asyncio.run(run())


def test_a_movement_that_another_program_has_changed_is_the_plan_from_then_on(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "mitchell:5x4,missing=ew") as client:
            await change(client, "late-pair", round=2, place="phantom")
            desk = client.desk
            await desk.change_setup(desk.setup.with_movement(1, build("howell:4x3")))
            assert (await ok(client, "/plan"))["sections"][0]["kind"] == "howell"
            done = await change(client, "curtailed", after_round=5)
            assert movement(client).kind == "howell"
            assert done["position"] == 2
            kinds = [one["kind"] for one in (await ok(client, "/plan"))["sections"][0]["events"]]
            assert kinds == ["late-pair", "replanned", "curtailed"]
            await take_back(client, 2)
            assert movement(client) == build("howell:4x3")
            await take_back(client, 1)
            assert movement(client).kind == build("mitchell:5x4").kind

    asyncio.run(run())


def test_two_sections_of_different_size_apart_and_across_also_after_play(tmp_path: Path) -> None:
    async def values(client: Client) -> list[dict[tuple[str, int], str]]:
        return [
            {(row["section"], row["pair"]): row["value"] for row in group["rows"]}
            for group in await ok(client, "/ranking")
        ]

    async def run() -> None:
        async with service(tmp_path, None) as client:
            sections = [{"movement": "mitchell:5x2"}, {"movement": "mitchell:7x2,missing=ew", "boards": "1-14"}]
            await ok(client, "/setup/start", {"sections": sections})
            for letter, rounds in (("A", range(1, 6)), ("B", range(1, 8))):
                for number in rounds:
                    await play(client, letter, range(number, number + 1), tricks=7 + number % 4)
            apart = await values(client)
            assert [len(one) for one in apart] == [5, 5, 7, 6]
            assert {section for section, _ in apart[0]} == {"A"}
            await ok(client, "/actions/settings", {"settings": {"across": True}})
            across = await values(client)
            assert [len(one) for one in across] == [12, 11]
            assert any("not played in every section" in one for one in (await ok(client, "/plan"))["warnings"])
            assert {name: value for one in across for name, value in one.items()} != {
                name: value for one in apart for name, value in one.items()
            }
            await ok(client, "/actions/settings", {"settings": {"across": False}})
            assert await values(client) == apart
            wanted = (await ok(client, "/deal"))["wanted"]
            assert wanted == {"first": 1, "last": 14, "copies": 2}

    asyncio.run(run())


def test_an_individual_whose_player_leaves(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "rainbow:5x2") as client:
            await play(client, rounds=range(1, 2))
            done = await change(client, "withdrawn", pair=3, round=2, standing=False)
            assert any("sits out" in one for one in done["changes"])
            for number in range(2, movement(client).rounds + 1):
                await play(client, rounds=range(number, number + 1))
            rows = [row["pair"] for group in await ok(client, "/ranking") for row in group["rows"]]
            assert sorted(rows) == [one for one in range(1, 21) if one != 3]

    asyncio.run(run())


def test_two_directors_change_one_plan_after_the_other(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "mitchell:9x2,missing=ew") as client:
            late = {"section": "A", "event": {"kind": "late-pair", "round": 2, "place": "phantom"}}
            early = {"section": "A", "event": {"kind": "curtailed", "after_round": 6}}
            first, second = await asyncio.gather(client.post("/plan/change", late), client.post("/plan/change", early))
            assert (first.status_code, second.status_code) == (200, 200)
            assert movement(client).rounds == 6
            assert 18 in movement(client).pairs
            # settings and the way of scoring live in the same row of the store: neither writes over a plan
            back = {"section": "A", "position": 1, "actor": "Ann"}
            answers = await asyncio.gather(
                client.post("/plan/undo", back),
                client.post("/actions/settings", {"settings": {"lead": False}}),
                client.post("/plan/change", {"section": "A", "event": {"kind": "withdrawn", "pair": 1, "round": 5}}),
                client.post("/actions/settings", {"settings": {"across": True}}),
            )
            assert [one.status_code for one in answers] == [200] * 4
            assert movement(client).rounds == 9
            assert len(movement(client).plays(1)) == 4
            assert (client.desk.setup.settings.lead, client.desk.setup.settings.across) == (False, True)
            kinds = [one["kind"] for one in (await ok(client, "/plan"))["sections"][0]["events"]]
            assert kinds == ["late-pair", "curtailed", "undone", "withdrawn"]
            # what was looked at before another change came is not what would be done now
            event = {"section": "A", "event": {"kind": "curtailed", "after_round": 8}}
            seen = (await ok(client, "/plan/preview", event))["version"]
            await ok(client, "/plan/undo", {"section": "A", "position": 3})
            await refused(client, "/plan/change", {**event, "seen": seen}, "plan-changed")
            await refused(client, "/setup/movement", {"movement": "howell:4x3", "seen": seen}, "plan-changed")
            assert movement(client).rounds == 9
            seen = (await ok(client, "/plan/preview", event))["version"]
            await ok(client, "/plan/change", {**event, "seen": seen})
            assert movement(client).rounds == 8

    asyncio.run(run())


# --- teams, people, cards, going home ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec", ["head-to-head:3x8", "round-robin:6x4", "american-whist:5x4", "multiple-teams:6x3", "swiss-teams:6x6"]
)
def test_a_team_event_begins_with_its_roster(tmp_path: Path, spec: str) -> None:
    async def run() -> None:
        async with service(tmp_path, None) as client:
            begin = {"sections": [{"movement": spec}], "name": "League"}
            done = await ok(client, "/setup/start", begin)
            assert done["sections"][0]["format"] == "teams"
            players = [{"name": f"Player {n}", "number": str(n)} for n in range(1, 6)]
            people = [{"team": 1, "name": "Alfa", "players": players}, {"team": 2, "name": "Beta"}]
            assert (await ok(client, "/setup/people", {"people": people}))["stored"] == 7
            away = movement(client).teams[0].pairs[1]
            assert client.desk.names_of("A", away) == "Player 3 - Player 4"
            wrong = {"people": [{"team": 99, "players": []}]}
            assert (await client.post("/setup/people", wrong)).status_code == 404
            for round_number in range(1, movement(client).rounds + 1):
                await play(client, rounds=range(round_number, round_number + 1), tricks=7 + round_number % 3)
            rows = [row["pair"] for group in await ok(client, "/ranking") for row in group["rows"]]
            assert sorted(rows) == list(movement(client).contestants), "teams are ranked"
            items = {one["key"]: one for one in await ok(client, "/checklist")}
            assert items["results"]["done"] is True
            assert items["players"]["done"] is False
            for name in ("usebio", "csv", "ranking"):
                found = await client.get(f"/files/{name}")
                assert found.status_code == 200, found.text

    asyncio.run(run())


@pytest.mark.parametrize(
    ("scoring", "total"),
    [
        ({"method": "imps", "scale": "continuous"}, 20),
        ({"method": "imps", "scale": "none"}, 0),
        ({"method": "board_a_match"}, 8),
        ({"method": "imps", "scale": "discrete"}, 20),
    ],
)
def test_how_a_team_event_is_scored_is_said_at_the_start(tmp_path: Path, scoring: dict[str, str], total: int) -> None:
    async def run() -> None:
        async with service(tmp_path, None) as client:
            await ok(client, "/setup/start", {"sections": [{"movement": "head-to-head:1x4"}], **scoring})
            await play(client)
            rows = [row for group in await ok(client, "/ranking") for row in group["rows"]]
            assert sum(float(row["value"]) for row in rows) == pytest.approx(total)
            # the same again: scored in the same way
            await ok(client, "/setup/start", {"again": True, "instead": True})
            await play(client)
            again = [row["value"] for group in await ok(client, "/ranking") for row in group["rows"]]
            assert again == [row["value"] for row in rows]
            await refused(
                client, "/setup/start", {"spec": "howell:2x2", "instead": True, "method": "x"}, "bad-value", 400
            )

    asyncio.run(run())


def test_guide_cards_and_table_cards_are_those_of_the_plan_now(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "mitchell:5x4,missing=ew") as client:
            before = (await client.get("/plan/cards/guide?section=A")).content
            assert before.startswith(b"%PDF")
            await change(client, "late-pair", round=2, place="phantom")
            assert (await client.get("/plan/cards/guide?section=A")).content != before
            assert (await client.get("/plan/cards/tables?section=A&paper=letter")).content.startswith(b"%PDF")
            assert (await client.get("/plan/cards/hands")).status_code == 404
            assert (await client.get("/plan/cards/guide?section=B")).status_code == 409
            assert (await client.get("/plan/cards/guide?paper=a0")).status_code == 400

    asyncio.run(run())


def test_what_is_left_before_going_home(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "mitchell:3x2") as client:

            async def items() -> dict[str, Any]:
                return {one["key"]: one for one in await ok(client, "/checklist")}

            first = await items()
            assert first["results"]["words"] == "18 results are missing."
            assert not any(first[key]["done"] for key in ("results", "players", "exports", "backup"))
            await play(client, rounds=range(1, 4))
            people = [
                {"pair": pair, "players": [{"name": "A", "number": "1"}, {"name": "Guest"}]} for pair in range(1, 7)
            ]
            await ok(client, "/setup/people", {"people": people})
            assert (await items())["players"]["details"][:2] == ["A1", "A2"], "a guest has no number yet"
            for one in people:
                one["players"] = [{"name": "A", "number": "1"}, {"name": "B", "number": "2"}]
            await ok(client, "/setup/people", {"people": people})
            assert (await client.get("/export")).status_code == 200
            assert (await client.get("/backup")).status_code == 200
            await ok(client, "/actions/publish", {"actor": "Ann"})
            assert all(one["done"] for one in (await items()).values())

    asyncio.run(run())


def test_proposals_for_a_room_of_several_sections(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, None) as client:
            ways = await ok(client, "/setup/propose", {"pairs": 27, "minutes": 210, "sections": 2})
            assert ways
            assert [one["name"] for one in ways[0]["sections"]] == ["A", "B"]
            begin = [{"name": one["name"], "movement": one["spec"]} for one in ways[0]["sections"]]
            done = await ok(client, "/setup/start", {"sections": begin})
            assert sum(one["contestants"] for one in done["sections"]) == 27
            assert max(done["copies"].values()) == ways[0]["copies"]
            kinds = {one["kind"] for one in await ok(client, "/setup/kinds")}
            assert {"mitchell", "howell", "swiss-teams", "scissors", "rainbow"} <= kinds

    asyncio.run(run())


def test_a_pair_shows_another_number_and_keeps_what_it_has_played(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "mitchell:5x2") as client:
            people = [{"pair": 3, "players": [{"name": "Anna"}, {"name": "Jan"}]}]
            await ok(client, "/setup/people", {"people": people})
            await play(client, rounds=range(1, 3))
            before = {row["pair"]: row for group in await ok(client, "/ranking") for row in group["rows"]}
            done = await change(client, "renumbered", pair=3, number=33, round=3)
            assert done["proof"]["replays"] == 0
            seat = movement(client).seat(33, 3)
            assert movement(client).at(3, seat.table).ns == 33
            plan = client.desk.setup.table_plan(1, 3)
            assert plan is not None
            assert [one.ns for one in plan.rounds] == [3, 3, 33, 33, 33]
            assert plan.rounds[1].next_ns == 3, "the way to the next table is not lost with the old number"
            after = {row["pair"]: row for group in await ok(client, "/ranking") for row in group["rows"]}
            assert 3 not in after
            assert (after[33]["value"], after[33]["boards"]) == (before[3]["value"], before[3]["boards"])
            await play(client, rounds=range(3, 6))
            card = await ok(client, "/pairs/A/33")
            assert len(card["lines"]) == 10
            assert card["names"] == "Anna - Jan"
            assert {one["pair"] for group in await ok(client, "/ranking") for one in group["rows"]} == {
                *range(1, 11)
            } - {3} | {33}
            # nobody else may take the number, and what the pair plays counts as before
            body = {"section": "A", "event": {"kind": "renumbered", "pair": 4, "number": 33, "round": 4}}
            assert (await client.post("/plan/preview", body)).status_code == 409
            items = {one["key"]: one for one in await ok(client, "/checklist")}
            assert items["results"]["done"] is True
            for name in ("usebio", "pbn", "csv", "scorecards"):
                found = await client.get(f"/files/{name}")
                assert found.status_code == 200, found.text
            assert b"Anna" in (await client.get("/files/usebio")).content

    asyncio.run(run())
