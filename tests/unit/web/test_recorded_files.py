"""What tables recorded, at the desk: files after the publication only, hands that were keyed in, who has accepted."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from web_fakes import Client, Page, service

from dealer.cards import Seat, card_name
from dealer.deal import Deal
from firmware_bridge.db import Connection
from firmware_bridge.wire.table_data import AcceptedData, AuctionData, CallData, PlayData
from terminals.interop.audit import audit_event
from terminals.interop.pbn_results import read_pbn_results
from terminals.interop.results_json import read_results_json
from terminals.settings import EventSettings
from terminals.store.table_events import TableEvent, TableEventKind
from terminals.store.values import RecordKey
from terminals.sync.take_table import keep

RECORDING = EventSettings(auction=True, play=True, hand_entry=True, confirm_code=True)
DEAL = Deal.from_index(4711)
THREE_NT = AuctionData(0, (CallData(0, 15), CallData(1, 0), CallData(2, 0), CallData(3, 0))).pack()


async def kept(client: Client, *told: tuple[TableEventKind, bytes]) -> None:
    """Records of table 1, board 1, as if they had come from its terminal."""

    def job(connection: Connection) -> None:
        for seq, (kind, data) in enumerate(told, start=100):
            item = TableEvent(kind, "A", 1, 1, 4, 1, 1, RecordKey(9, 9, seq), 1, data, "19:42")
            keep(connection, client.desk.setup, item)

    await client.desk.submit(job)


def test_files_come_with_the_publication(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, settings=RECORDING) as client:
            page = Page(client, 1, 0xA1)
            await page.hello()
            await page.exchange(records=[page.record(1, 1, 4)])
            lead = DEAL.hand(Seat.EAST)[0]
            await kept(
                client,
                (TableEventKind.AUCTION, THREE_NT),
                (TableEventKind.PLAY, PlayData(9, ((1, lead),)).pack()),
                (TableEventKind.HANDS, DEAL.routing),
            )
            for name in ("recorded-pbn", "recorded-json", "hands"):
                early = await client.get(f"/files/{name}")
                assert early.status_code >= 400
                assert "after the publication" in early.text
            assert (await client.post("/actions/publish", {"actor": "Ann"})).status_code == 200
            pbn = (await client.get("/files/recorded-pbn")).text
            assert '[Auction "N"]' in pbn
            assert f'[Deal "{DEAL.to_pbn(Seat.NORTH)}"]' in pbn
            (game,) = json.loads((await client.get("/files/recorded-json")).text)["games"]
            assert (game["result"], game["auction"]["dealer"], game["cards"]["agreed"]) == ("3NT N=", "N", 9)
            sheet = await client.get("/files/hands")
            assert sheet.headers["content-type"] == "application/pdf"
            exported = (await client.get("/files/lines")).text
            assert '"table": "table-record"' in exported

    asyncio.run(run())


FOUR_HEARTS = AuctionData(0, (CallData(0, 18, alerted=True), *(CallData(seat, 0) for seat in (1, 2, 3)))).pack()
PLAY = {"section": "A", "board": 1, "ns": 1, "ew": 4}


async def exported(client: Client) -> dict[str, Any]:
    """The results of results.json by board and pairs; checks that results.pbn has as much, and both audit clean."""
    data = (await client.get("/files/json")).content
    event = read_results_json(data)
    back = read_pbn_results((await client.get("/files/pbn")).content)
    assert audit_event(event).equal
    assert audit_event(back).equal
    told = [
        (one.line.board, one.recorded.auction, None if one.recorded.play is None else one.recorded.play.cards)
        for lines in (event.lines, back.lines)
        for one in lines
        if one.recorded is not None
    ]
    half = len(told) // 2
    assert told[:half] == told[half:]
    return {f"{one['board']} {one['ns']['number']}-{one['ew']['number']}": one for one in json.loads(data)["results"]}


async def as_the_desk_shows(client: Client, results: dict[str, Any]) -> int:
    """Each result has the auction and the cards that the desk shows of the same play. Gives how many have any."""
    count = 0
    for one in results.values():
        place = f"section=A&board={one['board']}&ns={one['ns']['number']}&ew={one['ew']['number']}"
        desk = (await client.get(f"/recorded?{place}&play={one['play']}")).json()
        assert not desk["withheld"]
        keys = ("seat", "call", "alerted", "standing")
        calls = [{key: call[key] for key in keys} for call in one["auction"]["calls"]] if "auction" in one else None
        assert calls == desk["auction"]
        shown = None if desk["play"] is None else [[c["seat"], c["card"]] for trick in desk["play"] for c in trick]
        assert ([list(card) for card in one["cards"]["played"]] if "cards" in one else None) == shown
        count += calls is not None or shown is not None
    return count


def test_results_carry_what_the_desk_shows_and_only_after_the_publication(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, "mitchell:3x1", settings=RECORDING) as client:
            by = {"actor": "Ann"}
            lead = DEAL.hand(Seat.EAST)[0]
            play = PlayData(9, ((1, lead),)).pack()
            movement = client.desk.setup.sections[0].movement
            assert movement is not None
            for number in (1, 2, 3):
                for seating in movement.in_round(number):
                    result = {"board": seating.boards[0], "ns": seating.ns, "ew": seating.ew, "contract": "3NT N"}
                    body = {"section": "A", "tricks": "=", **by, **result}
                    assert (await client.post("/actions/correct", body)).status_code == 200
            # the table sent two auctions: the newest counts, as at the desk
            auctions = ((TableEventKind.AUCTION, FOUR_HEARTS), (TableEventKind.AUCTION, THREE_NT))
            await kept(client, *auctions, (TableEventKind.PLAY, play), (TableEventKind.HANDS, DEAL.routing))
            assert not [one for one in (await exported(client)).values() if {"auction", "cards"} & one.keys()]
            early = (await client.get("/files/pbn")).text
            assert "[Auction" not in early
            assert "[Play" not in early
            assert (await client.post("/actions/publish", by)).status_code == 200
            found = await exported(client)
            assert await as_the_desk_shows(client, found) == 1
            assert found["1 1-4"]["auction"]["calls"][0]["call"] == "3NT"
            assert found["1 1-4"]["cards"] == {"leader": "E", "agreed": 9, "played": [["E", card_name(lead)]]}

            async def act(name: str, **more: object) -> dict[str, Any]:
                answer = await client.post(f"/actions/{name}", {**PLAY, **by, "confirmed_by": "Bea", **more})
                assert answer.status_code == 200, answer.text
                return dict(answer.json())

            await act("correct", contract="4S S", tricks="-1")
            found = await exported(client)
            assert found["1 1-4"]["result"]["contract"] == "4S"
            assert await as_the_desk_shows(client, found) == 1
            for name, more in (("move", {"to_ew": 5}), ("swap", {}), ("erase", {})):
                made = await act(name, **more)
                found = await exported(client)
                assert "1 1-4" not in found
                assert await as_the_desk_shows(client, found) == 0
                assert (await client.post("/actions/undo", {"action": made["action"], **by})).status_code == 200
                assert await as_the_desk_shows(client, await exported(client)) == 1

    asyncio.run(run())


@pytest.mark.parametrize(("spec", "pbn"), [("individual:8x2", True), ("round-robin:4x2", False)])
def test_results_of_individuals_and_of_teams_carry_them_too(tmp_path: Path, spec: str, pbn: bool) -> None:
    async def run() -> None:
        async with service(tmp_path, spec, settings=RECORDING) as client:
            movement = client.desk.setup.sections[0].movement
            assert movement is not None
            seating = next(one for one in movement.in_round(1) if one.boards)
            place = {"section": "A", "board": seating.boards[0], "ns": seating.ns, "ew": seating.ew}
            body = {**place, "contract": "3NT N", "tricks": "=", "actor": "Ann"}
            assert (await client.post("/actions/correct", body)).status_code == 200
            key = RecordKey(9, 9, 1)
            item = TableEvent(
                TableEventKind.AUCTION, "A", seating.boards[0], seating.ns, seating.ew, 1, 1, key, 1, THREE_NT, "19:42"
            )

            def job(connection: Connection) -> None:
                keep(connection, client.desk.setup, item)

            await client.desk.submit(job)
            assert (await client.post("/actions/publish", {"actor": "Ann"})).status_code == 200
            event = read_results_json((await client.get("/files/json")).content)
            (told,) = [one.recorded for one in event.lines if one.recorded is not None]
            for match in event.matches:
                rooms = [room for one in match.boards for room in (one.north_south, one.east_west) if room is not None]
                assert [room.recorded for room in rooms if room.recorded is not None] == [told]
            if pbn:
                back = read_pbn_results((await client.get("/files/pbn")).content)
                assert [one.recorded for one in back.lines if one.recorded is not None] == [told]

    asyncio.run(run())


def test_without_records_there_is_no_file(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            await client.post("/actions/publish", {"actor": "Ann"})
            found = await client.get("/files/recorded-pbn")
            assert found.status_code >= 400
            assert "recorded no auctions" in found.text

    asyncio.run(run())


def test_who_has_accepted_is_in_the_audit_trail_of_the_play_and_a_code_is_in_no_export(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, settings=RECORDING) as client:
            page = Page(client, 1, 0xA1)
            await page.hello()
            await page.exchange(records=[page.record(1, 1, 4)])
            secret = b"\xc0\xde" * 4
            await kept(client, (TableEventKind.ACCEPTED, AcceptedData(4, 2, 7, bytes(8)).pack()))

            def code(connection: Connection) -> None:
                item = TableEvent(TableEventKind.CODE, "A", 0, 4, 0, 1, 1, RecordKey(9, 9, 1), 0, secret, "")
                keep(connection, client.desk.setup, item)

            await client.desk.submit(code)
            trail = (await client.get("/play?section=A&board=1&ns=1&ew=4")).json()
            assert trail["accepted"] == [{"pair": 4, "seat": "2", "wall": "19:42", "proved": False}]
            for path in ("/files/lines", "/log", "/desk"):
                assert secret.hex() not in (await client.get(path)).text

    asyncio.run(run())
