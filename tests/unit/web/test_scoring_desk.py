"""How a running event is scored: matches of teams, rounds in victory points, another method after play, guests."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from web_fakes import Client, service

from firmware_bridge.service.ranking import rank_stored, rankings_json, rankings_text
from terminals.interop.audit import audit_event
from terminals.interop.results_json import read_results_json
from terminals.interop.usebio_read import read_usebio
from terminals.scoring.imps import imps
from terminals.scoring.profile_file import load_profile
from terminals.scoring.vp import continuous_vp, discrete_vp, percent_vp
from terminals.settings import EventSettings
from terminals.store import desk as desk_store
from terminals.sync.setup import EventSetup, new_event

BY = {"actor": "Anna", "reason": "as agreed"}


async def act(client: Client, name: str, body: dict[str, Any]) -> dict[str, Any]:
    found = await client.post(f"/actions/{name}", body)
    assert found.status_code == 200, found.text
    value: dict[str, Any] = found.json()
    return value


async def refused(client: Client, name: str, body: dict[str, Any]) -> str:
    found = await client.post(f"/actions/{name}", body)
    assert found.status_code in (400, 404, 409), found.text
    return str(found.json()["error"]["what"])


async def enter(client: Client, board: int, ns: int, ew: int, contract: str, tricks: str) -> None:
    body = {"section": "A", "board": board, "ns": ns, "ew": ew, "contract": contract, "tricks": tricks, "actor": "x"}
    await act(client, "correct", body)


async def play_all(client: Client, seed: int = 1, rounds: int = 99) -> dict[tuple[int, int, int], int]:
    """A result at every seating; gives (board, ns, ew) -> score for North-South."""
    dice = random.Random(seed)
    movement = client.desk.setup.sections[0].movement
    assert movement is not None
    scores: dict[tuple[int, int, int], int] = {}
    for seating in movement.seatings:
        if seating.round > rounds:
            continue
        for board in seating.boards:
            contract = dice.choice(["3NT N", "4S E", "2H S", "5C W", "1NTX N", "6D S"])
            await enter(client, board, seating.ns, seating.ew, contract, dice.choice(["=", "+1", "-1", "-2"]))
    for cell in (await client.get("/results")).json()["cells"]:
        if cell["score"] is not None:
            scores[cell["board"], cell["ns"], cell["ew"]] = cell["score"]
    return scores


async def values(client: Client) -> dict[int, tuple[str, str]]:
    groups = (await client.get("/ranking")).json()
    return {row["pair"]: (row["place"], row["value"]) for group in groups for row in group["rows"]}


def running(tmp_path: Path, spec: str, run: Callable[[Client], Awaitable[None]], **more: Any) -> None:
    async def main() -> None:
        async with service(tmp_path, spec, EventSettings(confirm=False), **more) as client:
            await run(client)

    asyncio.run(main())


def test_teams_are_ranked_by_the_victory_points_of_their_matches(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('club = "Klub Ósemka"\n', encoding="utf-8")

    async def run(client: Client) -> None:
        scores = await play_all(client)
        movement = client.desk.setup.sections[0].movement
        assert movement is not None
        totals = dict.fromkeys((1, 2, 3, 4), Fraction(0))
        # Every match anew from the plan: home North-South at one table, away at the other, the same boards.
        for home in totals:
            for away in range(home + 1, 5):
                margin = sum(
                    imps(score - scores[board, away, 4 + home])
                    for (board, ns, ew), score in scores.items()
                    if (ns, ew) == (home, 4 + away)
                )
                if not any((ns, ew) == (home, 4 + away) for _, ns, ew in scores):
                    continue
                totals[home] += continuous_vp(margin, 4)
                totals[away] += continuous_vp(-margin, 4)
        shown = await values(client)
        assert {team: Fraction(value) for team, (_, value) in shown.items()} == totals
        (group,) = (await client.get("/ranking")).json()
        assert group["unit"] == "vps"
        matches = (await client.get("/matches")).json()
        assert len(matches) == 6
        assert all(one["complete"] and one["length"] == 4 for one in matches)
        for one in matches:
            assert Fraction(one["home_vp"]) + Fraction(one["away_vp"]) == 20
            assert sum(Fraction(board["home"]) for board in one["boards"]) == Fraction(one["home_score"])
        stored = client.desk.store.read(lambda c: rank_stored(c, client.desk.setup))
        assert {row["pair"]: row["value"] for row in rankings_json(stored)[0]} == {t: v for t, (_, v) in shown.items()}
        assert "VP" in rankings_text(stored)
        text = (await client.get("/files/usebio")).text
        event = read_usebio(text.encode())
        assert len(event.matches) == 6
        assert event.club == "Klub Ósemka"
        assert {one.label: one.total.text for one in event.entrants if one.total is not None} == {
            str(team): value for team, (_, value) in shown.items()
        }
        assert len(read_results_json((await client.get("/files/json")).content).matches) == 6
        ruled = {"section": "A", "board": 1, "ns": 1, "ew": 8, "score": "60% +420, 40% -50", **BY}
        await act(client, "ruling", ruled)
        for reader, name in ((read_usebio, "usebio"), (read_results_json, "json")):
            report = audit_event(reader((await client.get(f"/files/{name}")).content), None)
            assert report.equal, (name, report.total_mismatches, report.points_mismatches)
        for name in ("ranking", "travellers", "scorecards", "csv"):
            assert (await client.get(f"/files/{name}")).status_code == 200
        card = (await client.get("/pairs/A/1")).json()
        assert all(line["points"] is not None for line in card["lines"])

    running(tmp_path, "round-robin:4x4", run)


def test_a_team_event_scored_in_every_way_that_there_is(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        await play_all(client, seed=3)
        by_vps = await values(client)
        matches = (await client.get("/matches")).json()
        assert Fraction(matches[0]["home_vp"]) == continuous_vp(Fraction(matches[0]["home_score"]), 4)
        await act(client, "scoring", {"scale": "discrete", **BY})
        for one in (await client.get("/matches")).json():
            assert Fraction(one["home_vp"]) == discrete_vp(Fraction(one["home_score"]), 4)
        await act(client, "scoring", {"scale": "none", **BY})
        totals = dict.fromkeys((1, 2, 3), Fraction(0))
        for one in (await client.get("/matches")).json():
            assert one["home_vp"] is None
            totals[one["home"]] += Fraction(one["home_score"])
            totals[one["away"]] += Fraction(one["away_score"])
        assert {team: Fraction(value) for team, (_, value) in (await values(client)).items()} == totals
        assert (await client.get("/ranking")).json()[0]["unit"] == "imps"
        await act(client, "scoring", {"method": "board_a_match", **BY})
        points = (await client.get("/matches")).json()
        assert all(Fraction(one["home_score"]) + Fraction(one["away_score"]) == 8 for one in points)
        await act(client, "scoring", {"method": "aggregate", **BY})
        assert (await client.get("/ranking")).json()[0]["unit"] == "points"
        await act(client, "scoring", {"table": {"name": "win", "rows": [[0, 0, 1, 1], [1, None, 2, 0]]}, **BY})
        await act(client, "scoring", {"method": "imps", **BY})
        assert {Fraction(value) for _, value in (await values(client)).values()} <= {Fraction(n) for n in range(9)}
        await act(client, "scoring", {"method": "matchpoints", "scale": "profile", **BY})
        assert (await client.get("/ranking")).json()[0]["unit"] == "percent", "compared with the whole field"
        assert (await client.get("/matches")).json() == []
        await act(client, "scoring", {"method": "imps", **BY})
        assert await values(client) == by_vps, "nothing that was played has changed"

    running(tmp_path, "round-robin:3x4,rounds=3", run)


def test_a_knockout_with_unequal_scores_averages_them(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        # +6 for one team, -2 for the other: the split ruling of Law 12C1, in a match that must have a winner (12C4)
        await enter(client, 1, 1, 4, "4S N", "=")
        await enter(client, 1, 2, 3, "4S N", "=")
        split = {"section": "A", "board": 1, "ns": 1, "ew": 4, "score_ns": "+680", "score_ew": "+500", **BY}
        await act(client, "ruling", split)
        (match,) = (await client.get("/matches")).json()
        assert (match["home_score"], match["away_score"]) == ("6", "-2")
        shown = await client.post("/actions/scoring/preview", {"knockout": True, **BY})
        assert shown.json()["scoring"]["knockout"] is True
        await act(client, "scoring", {"knockout": True, **BY})
        (match,) = (await client.get("/matches")).json()
        assert (match["home_score"], match["away_score"], match["home_vp"]) == ("4", "-4", None)
        assert await values(client) == {1: ("1", "4.00"), 2: ("2", "-4.00")}

    running(tmp_path, "head-to-head:1x2", run)


def test_awards_carry_over_and_penalties_in_victory_points(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        await play_all(client)
        before = {team: Fraction(value) for team, (_, value) in (await values(client)).items()}
        match = (await client.get("/matches")).json()[0]
        award = {"section": "A", "pair": match["home"], "round": match["match"], "vps": "12"}
        shown = (await client.post("/actions/ruling/preview", {**BY, "law": "86D", "award": award})).json()
        assert [one["pair"] for one in shown["changes"] if one["before"]["value"] != one["after"]["value"]] == [
            match["home"]
        ]
        await act(client, "ruling", {**BY, "law": "86D", "award": award})
        now = {team: Fraction(value) for team, (_, value) in (await values(client)).items()}
        assert now[match["home"]] == before[match["home"]] - Fraction(match["home_vp"]) + 12
        assert now[match["away"]] == before[match["away"]]
        assert "already decides" in await refused(client, "ruling", {**BY, "law": "86D", "award": award})
        await act(client, "scoring", {"carried": {"A2": "7.5"}, **BY})
        await act(client, "penalty", {"section": "A", "pair": 3, **BY})
        later = {team: Fraction(value) for team, (_, value) in (await values(client)).items()}
        assert later[2] == now[2] + Fraction("7.5")
        assert later[3] == now[3] - 1, "the standard penalty in victory points"
        wrong = {"section": "A", "pair": 3, "amount": "-1/4", "unit": "top", **BY}
        assert "does not fit" in await refused(client, "penalty", wrong)
        assert "does not fit" in await refused(client, "scoring", {"scale": "none", **BY})
        assert "no such contestant" in await refused(client, "scoring", {"carried": {"A9": "1"}, **BY})
        assert "no contestant" in await refused(client, "scoring", {"carried": {"nine": "1"}, **BY})
        assert {team: Fraction(value) for team, (_, value) in (await values(client)).items()} == later

    running(tmp_path, "round-robin:4x2", run)


def test_a_bye_of_swiss_teams_is_paid(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        await play_all(client)
        shown = await values(client)
        movement = client.desk.setup.sections[0].movement
        assert movement is not None
        (idle,) = {team.number for one in movement.sit_outs if (team := movement.team_of(one.pair)) is not None}
        assert shown[idle][1] == "12.00"

    running(tmp_path, "swiss-teams:5x6", run)


@pytest.mark.parametrize("method", ["matchpoints", "cross_imps", "butler"])
def test_swiss_pairs_are_ranked_by_victory_points(tmp_path: Path, method: str) -> None:
    (tmp_path / "config.toml").write_text('club = "Klub Ósemka"\n', encoding="utf-8")

    async def run(client: Client) -> None:
        await play_all(client, seed=5)
        await act(client, "scoring", {"method": method, **BY})
        assert (await client.get("/ranking")).json()[0]["unit"] == "vps"
        sums: dict[int, list[Fraction]] = {}
        results: dict[int, int] = {}
        tops: dict[int, Fraction] = {}
        for board in range(1, 7):
            lines = (await client.get(f"/boards/A/{board}")).json()["lines"]
            results[board] = len(lines)
            for line in lines:
                for pair, side in ((line["ns"], "ns_points"), (line["ew"], "ew_points")):
                    sums.setdefault(pair, []).append(Fraction(line[side]))
                    tops[pair] = tops.get(pair, Fraction(0)) + 2 * (len(lines) - 1)
        for pair, (_, value) in (await values(client)).items():
            if method == "matchpoints":
                wanted = percent_vp(sum(sums[pair]) * 100 / tops[pair], 6)
            elif method == "butler":
                wanted = continuous_vp(sum(sums[pair]), 6)
            else:  # three results a board: the average of two comparisons, over sqrt(3), is twice that over sqrt(3)
                margin = float(sum(sums[pair])) * 2 / 3**0.5
                wanted = continuous_vp(int(abs(margin) + 0.5) * (1 if margin >= 0 else -1), 6)
            assert Fraction(value) == wanted, (pair, method)
        assert "percentage" in await refused(client, "scoring", {"method": "cross_imps", "scale": "percent", **BY})
        for reader, name in ((read_usebio, "usebio"), (read_results_json, "json")):
            report = audit_event(reader((await client.get(f"/files/{name}")).content), None)
            assert report.equal, (name, report.total_mismatches, report.points_mismatches)
            assert report.totals_checked == 12  # two for each table of the round, one for each pair
        if method == "matchpoints":
            text = (await client.get("/files/usebio")).text
            assert "<MATCH_SCORING_METHOD>VPS</MATCH_SCORING_METHOD>" in text
            assert "<TOTAL_SCORE>" in text
            assert "<CLUB_NAME>Klub Ósemka</CLUB_NAME>" in text
        await act(client, "scoring", {"scale": "none", **BY})
        assert (await client.get("/ranking")).json()[0]["unit"] != "vps"

    running(tmp_path, "swiss-pairs:6x6", run)


def test_the_method_changes_after_play_and_nothing_else_does(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        await play_all(client)
        percent = await values(client)
        events = client.desk.store.read(lambda c: len(desk_store.desk_events(c, client.desk.event)))
        shown = (await client.post("/actions/scoring/preview", {"method": "cross_imps", **BY})).json()
        assert await values(client) == percent
        assert client.desk.store.read(lambda c: len(desk_store.desk_events(c, client.desk.event))) == events
        assert {one["after"]["unit"] for one in shown["effects"]} == {"imps"}
        await act(client, "scoring", {"method": "cross_imps", **BY})
        imps_now = await values(client)
        assert {one["pair"]: one["after"]["value"] for one in shown["effects"]} == {
            pair: value for pair, (_, value) in imps_now.items()
        }
        for line in (await client.get("/boards/A/1")).json()["lines"]:
            assert Fraction(line["ns_points"]) == -Fraction(line["ew_points"])
        sums: dict[int, Fraction] = {}
        for board in range(1, 7):
            for line in (await client.get(f"/boards/A/{board}")).json()["lines"]:
                for pair, side in ((line["ns"], "ns_points"), (line["ew"], "ew_points")):
                    sums[pair] = sums.get(pair, Fraction(0)) + Fraction(line[side])
        assert {pair: Fraction(value) for pair, (_, value) in imps_now.items()} == sums
        for method in ("butler", "aggregate", "imps"):
            await act(client, "scoring", {"method": method, **BY})
            assert (await client.get("/scoring")).json()["method"] == method
        await act(client, "scoring", {"method": "matchpoints", **BY})
        assert await values(client) == percent
        await act(client, "scoring", {"back": True, **BY})
        assert (await client.get("/scoring")).json()["method"] == "imps"
        await act(client, "scoring", {"back": True, **BY})
        assert await values(client) == percent, "an undo, and its undo, are changes like any other"
        assert "nothing to go back" in await refused(client, "scoring", {"back": True, "method": "butler", **BY})
        assert "method is one of" in await refused(client, "scoring", {"method": "total", **BY})
        assert "Say what" in await refused(client, "scoring", BY)

    running(tmp_path, "mitchell:3x2", run)


def test_a_ruling_that_another_method_can_not_score_is_named(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        await play_all(client)
        await act(client, "ruling", {"section": "A", "board": 1, "ns": 1, "ew": 4, "score": "55%", **BY})
        assert "no fixed value in IMPs" in await refused(client, "scoring", {"method": "cross_imps", **BY})
        await act(client, "scoring", {"method": "matchpoints", "knockout": False, **BY})
        number = (await client.get("/rulings")).json()["rulings"][0]["ruling"]
        await act(client, "ruling-withdraw", {"ruling": number, **BY})
        await act(client, "scoring", {"method": "cross_imps", **BY})
        body = {"section": "A", "board": 1, "ns": 1, "ew": 4, "score": "55%", **BY}
        assert "no fixed value in IMPs" in await refused(client, "ruling", body)
        old = {**body, "ns_score": "55", "ew_score": "45", "note": "x"}
        assert "no fixed value in IMPs" in await refused(client, "artificial", old)
        assert len(await values(client)) == 6, "the ranking is still there"

    running(tmp_path, "mitchell:3x2", run)


def test_the_profile_is_kept_with_the_event(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        await play_all(client)
        before = await values(client)
        text = '[profile]\nname = "ours"\nversion = 3\ntitle = "Our club"\n[ranking]\ndecimals = { value = 1 }\n'
        await act(client, "scoring", {"profile": text, **BY})
        assert (await client.get("/scoring")).json()["profile"] == {"name": "ours", "version": 3, "title": "Our club"}
        after = await values(client)
        assert {pair: len(value.partition(".")[2]) for pair, (_, value) in after.items()} == dict.fromkeys(before, 1)
        assert "whole text" in await refused(client, "scoring", {"profile": "/etc/passwd", **BY})
        assert "no scoring profile" in await refused(client, "scoring", {"profile": "theirs", **BY})

    running(tmp_path, "mitchell:3x2", run)

    async def again(client: Client) -> None:
        assert (await client.get("/scoring")).json()["profile"]["name"] == "ours"
        await act(client, "scoring", {"profile": "wbf", **BY})
        await act(client, "publish", BY)
        assert client.desk.facts.decided.stored is not None
        assert client.desk.profile.name == "wbf"

    running(tmp_path, "mitchell:3x2", again)


def test_an_event_keeps_the_profile_that_it_began_with(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        begun = {"name": "Thursday", "spec": "mitchell:3x2", "settings": {"profile": "ebu"}, "method": "butler"}
        assert (await client.post("/setup/start", begun)).status_code == 200
        assert client.desk.facts.decided.stored == load_profile("ebu")
        assert (await client.get("/scoring")).json()["method"] == "butler"
        await act(client, "settings", {"settings": {"profile": "wbf"}})
        assert client.desk.facts.decided.stored is None
        assert client.desk.profile.name == "wbf"

    running(tmp_path, "mitchell:3x2", run)


def test_sections_are_scored_across_or_apart_after_play(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        one = client.desk.setup
        movement = one.sections[0].movement
        assert movement is not None
        await client.desk.change_setup(new_event(99, "Two sections", {1: movement, 2: movement}, one.settings))
        dice = random.Random(4)
        for letter in "AB":
            for seating in movement.seatings:
                for board in seating.boards:
                    body = {"section": letter, "board": board, "ns": seating.ns, "ew": seating.ew, "actor": "x"}
                    await act(
                        client, "correct", {**body, "contract": "3NT N", "tricks": dice.choice(["=", "+1", "-1"])}
                    )
        apart = (await client.get("/ranking")).json()
        shown = (await client.post("/actions/scoring/preview", {"across": True, **BY})).json()
        assert (await client.get("/ranking")).json() == apart
        await act(client, "scoring", {"across": True, **BY})
        across = (await client.get("/ranking")).json()
        assert len(apart) == 4
        assert len(across) == 2
        rows = {(row["section"], row["pair"]): row["value"] for group in across for row in group["rows"]}
        assert {(e["section"], e["pair"]): e["after"]["value"] for e in shown["effects"] if e["after"]} == rows
        await act(client, "scoring", {"across": False, **BY})
        assert (await client.get("/ranking")).json() == apart

    running(tmp_path, "mitchell:3x1", run)


def test_a_guest_turns_out_to_be_a_member(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        await play_all(client)
        head = client.head(client.role("director"))
        csv = b"number,name\n12,Anna Nowak\n13,Jan Kot\n"
        await client.http.post("/api/v1/players", content=csv, headers={**head, "content-type": "text/csv"})
        people = [("1", "", "A Nowak"), ("2", "13", "Jan Kot")]
        await client.desk.save_people([desk_store.Person("A", 1, seat, n, name) for seat, n, name in people])
        other = client.desk.store
        await other.submit(lambda c: desk_store.save_person(c, "f" * 16, desk_store.Person("A", 7, "1", "", "A Nowak")))
        before = await values(client)
        assert "no such member" in await refused(client, "merge-guest", {"guest": "A Nowak", "member": 99})
        assert "Nobody" in await refused(client, "merge-guest", {"guest": "B Nowak", "member": 12})
        assert "not a guest" in await refused(client, "merge-guest", {"guest": "13", "member": 12})
        assert "different places" in await refused(client, "merge-guest", {"guest": "A Nowak", "member": 13})
        done = await act(client, "merge-guest", {"guest": "a nowak".title(), "member": 12, "actor": "Zoe"})
        assert done == {"places": 2, "name": "Anna Nowak", "number": 12}
        assert client.desk.names_of("A", 1) == "Anna Nowak - Jan Kot"
        assert await values(client) == before
        log = (await client.get("/log")).json()[0]
        assert (log["kind"], log["data"]["places"]) == ("guest-merged", [["A", 1, "1"]])
        assert "Nowak" not in str(log)

    running(tmp_path, "mitchell:3x2", run)


def test_an_event_needs_no_scoring_to_be_set(tmp_path: Path) -> None:
    async def run(client: Client) -> None:
        assert isinstance(client.desk.setup, EventSetup)
        found = (await client.get("/scoring")).json()
        assert (found["method"], found["scale"], found["knockout"]) == ("usual", "profile", False)
        assert (await client.get("/ranking")).json()[0]["unit"] == "percent"

    running(tmp_path, "mitchell:3x2", run)
