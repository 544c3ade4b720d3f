"""Files of events whose totals are victory points: read back strictly, and audited."""

from __future__ import annotations

import asyncio
import random
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from web_fakes import Client, service

from firmware_bridge.errors import EntryError
from terminals.interop.audit import audit_event
from terminals.interop.combine import combine_sections
from terminals.interop.result_files import parse_results
from terminals.interop.rulings_file import read_rulings
from terminals.interop.swiss_pairs import swiss_standing
from terminals.scoring.profile_file import load_profile
from terminals.settings import EventSettings

BY = {"actor": "Anna", "reason": "as agreed"}


async def ok(client: Client, path: str, body: Any) -> Any:
    found = await client.post(path, body)
    assert found.status_code == 200, found.text
    return found.json()


async def play(client: Client, letter: str, number: int, dice: random.Random) -> None:
    """A result for every seating of a round."""
    section = client.desk.setup.section_called(letter)
    assert section is not None
    assert section.movement is not None
    for seating in section.movement.in_round(number):
        for board in seating.boards:
            contract = dice.choice(["3NT N", "4S E", "2H S", "5C W", "1NTX N", "6D S"])
            place = {"section": letter, "board": board, "ns": seating.ns, "ew": seating.ew}
            result = {"contract": contract, "tricks": dice.choice(["=", "+1", "-1", "-2"])}
            await ok(client, "/actions/correct", {**place, **result, **BY})


@pytest.mark.parametrize("method", ["matchpoints", "cross_imps", "butler"])
def test_a_mitchell_and_swiss_pairs_in_one_file(tmp_path: Path, method: str) -> None:
    """Five pairs, so that one has a bye in each round; one pair carries points over, one has a penalty."""

    async def run() -> None:
        async with service(tmp_path, None, EventSettings(confirm=False)) as client:
            dice = random.Random(5)
            sections = [{"name": "A", "movement": "mitchell:3x3"}, {"name": "B", "movement": "swiss-pairs:5x6"}]
            await ok(client, "/setup/start", {"sections": sections, "method": method})
            for number in (1, 2, 3):
                await play(client, "A", number, dice)
            await play(client, "B", 1, dice)
            await ok(client, "/plan/draw", {"section": "B"})
            await play(client, "B", 2, dice)
            await ok(client, "/actions/scoring", {"carried": {"B2": "3.25"}, **BY})
            late = {"section": "B", "pair": 4, "amount": "-1", "unit": "vps"}
            await ok(client, "/actions/ruling", {"penalty": late, "law": "90", **BY})
            event = fromstring((await client.get("/files/usebio")).content).find("EVENT")
            assert event is not None
            assert event.get("EVENT_TYPE") == "PAIRS"
            pairs = {one.findtext("PAIR_NUMBER"): one for one in event.iter("PAIR")}
            percent = "PERCENTAGE" if method == "matchpoints" else "TOTAL_SCORE"
            assert all((one.find(percent) is not None) for name, one in pairs.items() if str(name).startswith("A"))
            assert all(one.find("TOTAL_SCORE") is not None for name, one in pairs.items() if str(name).startswith("B"))
            matches = [
                (one.findtext("ROUND_NUMBER"), one.findtext("NS_PAIR_NUMBER"), one.findtext("EW_PAIR_NUMBER"))
                for one in event.findall("SESSION/SECTION/MATCH")
            ]
            assert [number for number, _, _ in matches] == ["1", "1", "2", "2"]
            assert all(str(ns).startswith("B") and str(ew).startswith("B") for _, ns, ew in matches)
            lines = event.findall(".//MATCH/BOARD/TRAVELLER_LINE")
            assert (len(lines), len(event.findall("SESSION/SECTION/BOARD/TRAVELLER_LINE"))) == (24, 27)
            for kind, totals in (("usebio", 6 + 8 + 5), ("json", 6 + 8 + 5), ("pbn", 6)):
                back = parse_results((await client.get(f"/files/{kind}")).content)
                shown = [one.in_vps for one in sorted(back.entrants, key=lambda one: one.contestant)]
                assert shown == [False] * 6 + [True] * 5
                report = audit_event(back)
                assert report.equal, (kind, report.points_mismatches, report.total_mismatches)
                assert report.totals_checked == totals, kind
            for kind in ("ranking", "travellers", "scorecards", "csv", "ranking-csv", "bridgewebs"):
                assert (await client.get(f"/files/{kind}")).status_code == 200

    asyncio.run(run())


def test_what_a_pairs_round_was_worth_is_audited(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "swiss-pairs:6x6", EventSettings(confirm=False)) as client:
            await play(client, "A", 1, random.Random(1))
            text = (await client.get("/files/usebio")).text
            assert 'EVENT_TYPE="SWISS_PAIRS"' in text
            assert audit_event(parse_results(text.encode())).totals_checked == 12
            before, _, rest = text.partition("<NS_SCORE>")
            number, _, after = rest.partition("</NS_SCORE>")
            wrong = str(Fraction(number) - 1 if Fraction(number) > 1 else Fraction(number) + 1)
            report = audit_event(parse_results(f"{before}<NS_SCORE>{wrong}</NS_SCORE>{after}".encode()))
            (found,) = report.total_mismatches
            assert (found.round, str(found.published), str(found.computed)) == (1, wrong, number)

    asyncio.run(run())


def test_teams_with_a_bye_points_carried_over_an_award_and_a_penalty_audit_clean(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "swiss-teams:5x4", EventSettings(confirm=False)) as client:
            dice = random.Random(3)
            await play(client, "A", 1, dice)
            await ok(client, "/plan/draw", {"section": "A"})
            await play(client, "A", 2, dice)
            await ok(client, "/actions/scoring", {"carried": {"A1": "2.5"}, **BY})
            late = {"section": "A", "pair": 3, "amount": "-1", "unit": "vps"}
            await ok(client, "/actions/ruling", {"penalty": late, "law": "90", **BY})
            award = {"section": "A", "pair": 2, "round": 2, "vps": "12"}
            await ok(client, "/actions/ruling", {"award": award, "law": "86", **BY})
            for kind in ("usebio", "json"):
                report = audit_event(parse_results((await client.get(f"/files/{kind}")).content))
                assert report.equal, (kind, report.total_mismatches)
                assert report.totals_checked == 8 + 5

    asyncio.run(run())


def test_swiss_pairs_of_the_desk_go_on_on_paper(tmp_path: Path) -> None:
    """The file of the desk can be ranked with its movement, and is not taken for one of a whole session."""

    async def run() -> None:
        async with service(tmp_path, "swiss-pairs:6x6", EventSettings(confirm=False)) as client:
            await play(client, "A", 1, random.Random(1))
            movement = client.desk.setup.sections[0].movement
            assert movement is not None
            event = parse_results((await client.get("/files/json")).content)
            shown = {one.contestant.number: one.total.value for one in event.entrants if one.total is not None}
            standing = swiss_standing(movement, event, load_profile("plain"))
            assert {row.contestant.number: row.value for row in standing.ranking} == shown
            for kind in ("json", "pbn"):
                held = parse_results((await client.get(f"/files/{kind}")).content)
                with pytest.raises(EntryError, match="rounds"):
                    combine_sections([held])
                with pytest.raises(EntryError, match="rounds"):
                    read_rulings("", "r.toml", held, load_profile("plain"))

    asyncio.run(run())
