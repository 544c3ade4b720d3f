"""What a table records beside results over HTTP, and what it may look at: also in team and individual events."""

from __future__ import annotations

import asyncio
import base64
import functools
import random
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from web_fakes import Client, Page, service, until

from firmware_bridge.service.browser_hub import TABLE_RECORD_PREFIX, decode_record
from firmware_bridge.service.table_view import sitting_view
from firmware_bridge.wire.messages import Record, TableRecord, encode
from firmware_bridge.wire.numbers import TableRecordKind
from firmware_bridge.wire.table_data import AuctionData, CallData, PlayData, pack_hands
from terminals.movement.catalog import build
from terminals.settings import EventSettings
from terminals.store import table_events
from terminals.store.values import PlayKey
from terminals.sync.recorded import auction_of, of_play, table_body

ALL = EventSettings(auction=True, play=True, hand_entry=True, positions=True)


def table_record(page: Page, what: int, data: bytes, board: int, ns: int, ew: int, round: int = 1) -> str:
    page.seq += 1
    made = TableRecord(page.journal, page.seq, 0, bytes(6), 1, page.table, round, board, ns, ew, what, 1, data)
    covered = page.device.to_bytes(8, "little") + page.journal.to_bytes(4, "little") + page.seq.to_bytes(4, "little")
    crc = zlib.crc32(covered + table_body(made))
    return (
        TABLE_RECORD_PREFIX
        + base64.b64encode(
            encode(
                TableRecord(page.journal, page.seq, crc, bytes(6), 1, page.table, round, board, ns, ew, what, 1, data)
            )
        ).decode()
    )


def test_auction_play_and_hands_of_a_phone_are_kept_in_the_order_of_its_log(tmp_path: Path) -> None:
    calls = tuple(CallData(at % 4, call) for at, call in enumerate((4, 0, 36, 0, 0, 0)))
    hands = random.Random(3).sample([seat for seat in range(4) for _ in range(13)], 52)
    played = PlayData(9, tuple((at % 4, at) for at in range(8)))

    async def run() -> None:
        async with service(tmp_path, settings=ALL) as client:
            page = Page(client, 1, 0xA1)
            await page.hello()
            info = (await client.get("/table", page.token)).json()
            assert {
                name: info["settings"][name] for name in ("auction", "play", "hand_entry", "positions")
            } == dict.fromkeys(("auction", "play", "hand_entry", "positions"), True)
            sent = [
                table_record(page, TableRecordKind.POSITIONS, b"\x01", 0, 1, 4),
                page.record(1, 1, 4),
                table_record(page, TableRecordKind.AUCTION, AuctionData(0, calls).pack(), 1, 1, 4),
                table_record(page, TableRecordKind.PLAY, played.pack(), 1, 1, 4),
                table_record(page, TableRecordKind.HANDS, pack_hands(hands), 1, 1, 4),
            ]
            for text in sent:
                await page.exchange(records=[text])
            assert page.acked() == 5
            event = client.desk.event
            kept = client.desk.store.read(lambda c: list(table_events.all_events(c, event)))
            assert [one.kind.value for one in kept] == ["positions", "auction", "play", "hands"]
            assert len(auction_of(kept[1]).events) == 6
            found = client.desk.store.read(lambda c: of_play(c, event, PlayKey("A", 1, 1, 4)))
            assert found.auction is not None
            assert found.play is not None
            key = "section=A&board=1&ns=1&ew=4"
            shown = (await client.get(f"/recorded?{key}")).json()
            assert [one["call"] for one in shown["auction"]] == ["1S", "Pass", "X", "Pass", "Pass", "Pass"]
            assert "auction-irregular" in shown["causes"], "North doubled its own side"
            assert shown["play"] is None, "others have yet to play the board"
            assert shown["withheld"] is True
            cells = [cell for cell in (await client.get("/results")).json()["cells"] if cell["state"] == "missing"]
            await enter(client, [cell for cell in cells if cell["board"] == 1], random.Random(1))
            shown = (await client.get(f"/recorded?{key}")).json()
            assert [len(trick) for trick in shown["play"]] == [4, 4]
            # The same records again are acknowledged again and stored once.
            await page.exchange(records=sent[2:4])
            assert len(client.desk.store.read(lambda c: list(table_events.all_events(c, event)))) == 4

    asyncio.run(run())


def test_what_the_settings_do_not_ask_for_is_kept_aside_and_holds_up_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            page = Page(client, 1, 0xA1)
            await page.hello()
            auction = table_record(page, TableRecordKind.AUCTION, AuctionData(0, ()).pack(), 1, 1, 4)
            await page.exchange(records=[auction])
            await page.exchange(records=[page.record(1, 1, 4)])
            assert page.acked() == 2
            assert any(a["kind"] == "alarm" for a in (await client.get("/desk")).json()["alerts"])

    asyncio.run(run())


@pytest.mark.parametrize("data", [b"", b"x" * 31, b"x" * 33, b"x" * 60, b"x" * 2000, bytes(31) + b"\xff\xff\xff"])
def test_bytes_that_are_no_record_are_refused(data: bytes) -> None:
    from firmware_bridge.errors import EntryError

    for prefix in ("", TABLE_RECORD_PREFIX):
        with pytest.raises(EntryError):
            decode_record(prefix + base64.b64encode(data).decode())


def test_a_record_of_32_bytes_is_that_of_a_result() -> None:
    assert isinstance(decode_record(base64.b64encode(bytes(32)).decode()), Record)


# --- who sits there ----------------------------------------------------------------------------------------------


def test_an_individual_has_four_players_at_a_table_each_with_a_seat_of_his_own() -> None:
    movement = build("individual:8x2")
    for table in (1, 2):
        view = sitting_view(movement, table)
        assert view["format"] == "individual"
        for number, players in view["seats"].items():
            assert len(set(players)) == 4
            for one in view["next_seats"].get(number, ()):
                after = movement.at(int(number) + 1, one["table"])
                assert after is not None
                assert after.players["NESW".index(one["seat"])] == one["player"]
    assert sitting_view(build("round-robin:4x2"), 1)["teams"]["1"] == 1
    assert sitting_view(None, 1)["format"] == "pairs"


async def enter(client: Client, cells: Iterable[dict[str, Any]], pick: random.Random) -> None:
    for cell in cells:
        key = {name: cell[name] for name in ("section", "board", "ns", "ew")}
        tricks = pick.choice(["=", "+1", "-1", "-3"])
        found = await client.post(
            "/actions/correct", {**key, "contract": "3NT", "declarer": "N", "tricks": tricks, "actor": "Ann"}
        )
        assert found.status_code == 200, found.text


@pytest.mark.parametrize("spec", ["individual:8x2", "round-robin:4x2", "mitchell:4x2", "howell:3x2"])
def test_scorecards_add_up_to_the_ranking_whoever_is_ranked(tmp_path: Path, spec: str) -> None:
    async def run() -> None:
        async with service(tmp_path, spec) as client:
            await enter(client, (await client.get("/results")).json()["cells"], random.Random(5))
            await client.post("/actions/publish", {"actor": "Ann"})
            public = (await client.http.get("/api/v1/public/results")).json()
            rows = [row for group in public["groups"] for row in group["rows"]]
            charts = {
                (one["section"], one["pair"]): one for one in (await client.http.get("/api/v1/public/rounds")).json()
            }
            assert len(rows) > 3
            for row in rows:
                card = (await client.http.get(f"/api/v1/public/pairs/A/{row['pair']}")).json()
                assert card["format"] == public["sections"][0]["format"]
                if card["format"] == "teams":  # both tables of a match
                    assert len(card["lines"]) == 2 * row["boards"]
                    continue
                assert len(card["lines"]) == row["boards"], (row, len(card["lines"]))
                mean = sum(float(line["percent"]) for line in card["lines"]) / len(card["lines"])
                assert abs(mean - float(row["value"])) < 0.1, row
                assert abs(charts["A", row["pair"]]["percent"][-1] - float(row["value"])) < 0.01
            board = (await client.http.get("/api/v1/public/boards/A/1")).json()
            assert 1 in board["numbers"]

    asyncio.run(run())


def test_the_chart_counts_points_where_there_are_no_percentages(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, None) as client:
            await client.post("/setup/start", {"spec": "howell:3x2", "method": "cross_imps"})
            await enter(client, (await client.get("/results")).json()["cells"], random.Random(5))
            lines = (await client.get("/rounds")).json()
            assert len(lines) == 6
            assert all("percent" not in one and len(one["points"]) == 5 for one in lines)
            assert abs(sum(one["points"][-1] for one in lines)) < 0.2

    asyncio.run(run())


def test_standings_are_public_when_the_ranking_is(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path) as client:
            assert (await client.http.get("/api/v1/public/rounds")).status_code == 404
            await client.post("/actions/live", {"on": True})
            assert (await client.http.get("/api/v1/public/rounds")).status_code == 200

    asyncio.run(run())


def test_a_table_sees_only_boards_that_everybody_there_has_played(tmp_path: Path) -> None:
    async def run() -> None:
        for spec in ("individual:8x2", "mitchell:4x2", "round-robin:4x2"):
            folder = tmp_path / spec.partition(":")[0]
            folder.mkdir()
            async with service(folder, spec) as client:
                cells = (await client.get("/results")).json()["cells"]
                await enter(client, cells, random.Random(5))
                movement = client.desk.setup.sections[0].movement
                assert movement is not None
                page = Page(client, 1, 0xA1)
                await page.hello()
                status = {"round": movement.rounds, "waiting": 0, "clock": 1, "plan_version": 1}
                await page.exchange(status=status)
                now = movement.at(movement.rounds, 1)
                assert now is not None
                played = {
                    who: {b for s in movement.seatings if who in s.contestants for b in s.boards}
                    for who in now.contestants
                }
                for who in now.contestants:  # until the service has heard of the round
                    ask = functools.partial(client.get, f"/table/recap/{who}", page.token)
                    await until(ask, lambda found: found.status_code == 200)
                for board in movement.board_numbers:
                    found = await client.get(f"/table/boards/{board}", page.token)
                    everybody = all(board in boards for boards in played.values())
                    assert (found.status_code == 200) == everybody, (spec, board, found.text)
                for who in now.contestants:
                    card = (await client.get(f"/table/recap/{who}", page.token)).json()
                    assert {line["board"] for line in card["lines"]} == set.intersection(*played.values())
                other = next(p for p in movement.pairs if p not in now.contestants)
                assert (await client.get(f"/table/recap/{other}", page.token)).status_code == 404
                await client.post("/actions/settings", {"settings": {"traveller": False}})
                assert (await client.get(f"/table/recap/{now.contestants[0]}", page.token)).status_code == 404

    asyncio.run(run())
