"""What tables recorded, at the desk: files after the publication only, hands that were keyed in, who has accepted."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from web_fakes import Client, Page, service

from dealer.cards import Seat
from dealer.deal import Deal
from firmware_bridge.db import Connection
from firmware_bridge.wire.table_data import AcceptedData, AuctionData, CallData, PlayData
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
