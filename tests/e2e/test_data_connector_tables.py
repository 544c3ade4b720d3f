"""An event of a scoring program at terminals of every kind: keypads at a base station and a phone's browser, one hall.

Everything inside the process, in virtual time: the official client's messages, the service's HTTP, the simulated
station.
"""

from __future__ import annotations

import asyncio
import base64
import json
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("bridgemate_dataconnector", reason="needs bridgemate-dataconnector-client")
from bridgemate_dataconnector import dto
from dc_club import FIRST, a_section, an_event

from drivers.base_station import FramedBaseStation
from drivers.host import HostIdentity
from firmware_bridge.service.api import make_app
from firmware_bridge.service.data_connector import ENDPOINT, DataConnector
from firmware_bridge.service.data_connector import make_app as make_connector
from firmware_bridge.service.data_connector_access import ClubKeys
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_running import running
from firmware_bridge.simulation.tables_room import Rates, StationRoom
from firmware_bridge.simulation.virtual_time import LoopClock, run_virtual
from firmware_bridge.wire.record import RecordBody, record_crc
from hwsim.evidence import Evidence
from terminals.sync.event_store import FILE_NAME, EventStore

RESULTS, ACCEPT, PUT = 19, 27, 10


class Hall:
    """Three keypads of section A, a browser at the only table of section BB, and the program before the service."""

    def __init__(self, desk: Desk, room: StationRoom, connector: httpx.AsyncClient, pages: httpx.AsyncClient) -> None:
        self.desk, self.room, self._connector, self._pages = desk, room, connector, pages
        self.results: dict[tuple[str, int, int, int], dto.ResultDTO] = {}
        self.device, self.journal, self.seq, self.box = 0xB0, 77, 0, {"after": 0, "boot": ""}

    @property
    def keypads(self) -> dict[int, Any]:
        return dict(self.room.station.terminals)

    async def program(self, command: int, payload: Any = "", session: str = FIRST) -> Any:
        told = {"Command": command, "ClubId": "CLUB", "LicenceKey": "", "SessionGuid": session}
        told["SerializedData"] = payload if isinstance(payload, str) else json.dumps(payload)
        reply = (await self._connector.post(ENDPOINT, json=told)).json()
        assert reply["DataType"] != 4, reply
        return json.loads(reply["SerializedData"])

    async def poll(self) -> int:
        found = [dto.ResultDTO.from_dict(one) for one in await self.program(RESULTS)]
        for one in found:
            self.results[one.section_letters or "", one.table_number, one.round_number, one.board_number] = one
        await self.program(ACCEPT, "999999")
        return len(found)

    async def correct(self, key: tuple[str, int, int, int], **changes: Any) -> None:
        one = self.results[key]
        for name, value in changes.items():
            setattr(one, name, value)
        await self.program(PUT, [one.to_dict()])

    async def page(self, method: str, path: str, body: Any = None) -> Any:
        token = self.desk.access.table_token(28, 1)
        head = {"authorization": f"Bearer {token}"}
        answer = await self._pages.request(method, f"/api/v1/table{path}", json=body, headers=head)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def exchange(self, **more: Any) -> list[dict[str, Any]]:
        status = {"round": 1, "waiting": 0, "clock": 1, "plan_version": 0}
        found = await self.page(
            "POST", "/exchange", {"device": f"{self.device:016x}", **self.box, "status": status, **more}
        )
        self.box = {"after": found.get("last", 0), "boot": found["boot"]}
        return list(found.get("messages", ()))

    async def say_hello(self) -> dict[str, Any]:
        hello = {"boot_id": 1, "boot_count": 1, "journal_id": self.journal, "oldest_unacked": 0, "next_seq": 1}
        messages = await self.exchange(hello=hello)
        return next(one for one in messages if one["kind"] == "TABLE_PLAN")

    def record(self, board: int, **changes: int) -> str:
        self.seq += 1
        body = {"kind": 1, "confirmed_by": 1, "section": 28, "table": 1, "round": 1, "board": board, "declarer": 0}
        body |= {"tricks": 9, "ns": 1, "ew": 2, "level": 3, "strain": 5, "doubling": 0, "lead": 255, "replaces": 0}
        packed = RecordBody(**(body | {"stamp": 7} | changes)).pack()
        crc = record_crc(self.device, self.journal, self.seq, packed)
        return base64.b64encode(struct.pack("<II14sI6s", self.journal, self.seq, packed, crc, bytes(6))).decode()

    async def until(self, true: Callable[[], bool], seconds: float = 4 * 3600.0, step: float = 0.5) -> None:
        end = asyncio.get_running_loop().time() + seconds
        while not true():
            assert asyncio.get_running_loop().time() < end, "it never happened"
            await asyncio.sleep(step)


def in_a_hall(folder: Path, story: Callable[[Hall], Awaitable[None]]) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        clock = LoopClock(loop)
        store = EventStore.open(folder / FILE_NAME, threaded=False, synchronous="OFF")
        room = StationRoom(1, 3, Rates(), 5, Evidence(), 115200)
        driver = FramedBaseStation(room, HostIdentity(0xF1, boot_id=7, boot_count=1, firmware="test"), clock)
        host = HostIdentity(device_id=1, boot_count=1)
        try:
            async with (
                running(folder, store, None, [], host, on_event=_nothing, clock=clock, stations={room.url: driver}) as (
                    desk,
                    _,
                ),
                httpx.AsyncClient(
                    transport=httpx.ASGITransport(make_connector(DataConnector(desk, ClubKeys.open(folder)))),
                    base_url="http://127.0.0.1",
                ) as connector,
                httpx.AsyncClient(transport=httpx.ASGITransport(make_app(desk)), base_url="http://127.0.0.1") as pages,
            ):
                await story(Hall(desk, room, connector, pages))
        finally:
            room.stop()
            store.close()

    run_virtual(run())


def _nothing(_: object) -> None:
    return None


def the_event() -> dict[str, Any]:
    """Section A for three keypads, section BB for the browser."""
    first = a_section("A", FIRST, 1, 3, 2)
    second = a_section("BB", FIRST, 2, 1, 2)
    groups = [
        dto.ScoringGroupDTO(session_guid=FIRST, scoring_group_number=n, scoring_method=10, name="G", sections=[one])
        for n, one in ((1, first), (2, second))
    ]
    session = dto.SessionDTO(session_guid=FIRST, event_guid="E" * 32, name="Żółty dzień", scoring_groups=groups)
    session.year, session.month, session.day, session.hour = 2026, 11, 29, 19
    return an_event(session).to_dict()


def test_keypads_and_a_browser_serve_one_event_and_see_its_corrections(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        for one in hall.keypads.values():
            one.curious = True
        await hall.program(5, the_event(), "")
        plan = await hall.say_hello()
        assert (plan["section"], plan["rounds"][0]["ns"], plan["rounds"][0]["ew"]) == (28, 1, 2)
        await hall.exchange(records=[hall.record(1), hall.record(2, tricks=10)])
        first = hall.keypads[1]
        await hall.until(lambda: bool(first.feedback))
        await hall.poll()
        board, round_ = first.feedback["board"], first.feedback["round"]
        assert {key for key in hall.results if key[0] == "BB"} == {("BB", 1, 1, 1), ("BB", 1, 1, 2)}

        # a correction of the program, at the keypad: the line of its own table is the corrected one
        slam = {"level": 7, "denomination": 4, "stake": 2, "total_tricks": 13, "lead_card_rank": 0, "lead_card_suit": 0}
        await hall.correct(("A", 1, round_, board), **slam)
        await hall.until(lambda: _own_line(first.feedback).get("tricks") == 13, 10.0, 0.1)
        line = _own_line(first.feedback)
        assert line["contract"] == 7 | 4 << 3 | 2 << 6
        assert "the scoring program says 7S" in "\n".join(first.screen())
        assert "the scoring program" not in "\n".join(hall.keypads[2].screen())

        # one of the director's, the same way
        row = next(one for one in hall.desk.rows.values() if one.play.section == "A" and one.table == 1)
        await _direct(hall, row.play, "1NT", "N", "7")
        await hall.until(lambda: _own_line(first.feedback).get("tricks") == 7, 10.0, 0.1)
        assert await hall.poll() >= 1
        assert hall.results["A", 1, round_, row.play.board].level == 1

        # at the browser: the message, and the traveller that its page asks for
        await hall.exchange()  # it has been silent for minutes
        await hall.correct(("BB", 1, 1, 1), **slam)
        texts = [one["text"] for one in await hall.exchange() if one["kind"] == "TEXT"]
        assert any("the scoring program says 7S" in text for text in texts)
        (line,) = (await hall.page("GET", "/boards/1"))["lines"]
        assert line["text"].startswith("7S")
        await hall.poll()
        assert hall.results["BB", 1, 1, 1].level == 7, "the program does not hear its own correction"

        await hall.until(lambda: len(hall.desk.rows) == 20, step=30.0)
        await hall.until(lambda: not any(one.waiting() for one in hall.keypads.values()), step=5.0)
        await hall.poll()
        assert len(hall.results) == 20
        assert {key[1] for key in hall.results if key[0] == "A"} == {1, 2, 3}

        # the whole card of a pair, once the session is over: a correction made after it counts there too
        key = next(key for key in hall.results if key[:2] == ("A", 2))
        await hall.correct(key, **slam)
        pair = hall.results[key].pair_north_south
        hall.keypads[3].ask_recap(pair)
        await hall.until(lambda: hall.keypads[3].session.get("pair") == pair, 30.0)
        (line,) = [one for one in hall.keypads[3].session["lines"] if one["board"] == key[3]]
        assert (line["contract"], line["tricks"]) == (7 | 4 << 3 | 2 << 6, 13)

    in_a_hall(tmp_path, story)


def _own_line(feedback: dict[str, Any]) -> dict[str, Any]:
    pairs = (feedback.get("ns"), feedback.get("ew"))
    return next((one for one in feedback.get("lines", ()) if (one["ns"], one["ew"]) == pairs), {})


async def _direct(hall: Hall, play: Any, contract: str, declarer: str, tricks: str) -> None:
    from firmware_bridge.service.desk_actions import ACTIONS

    body = {"section": play.section, "board": play.board, "ns": play.ns, "ew": play.ew, "actor": "Ann"}
    await ACTIONS["correct"].run(hall.desk, {**body, "contract": contract, "declarer": declarer, "tricks": tricks})


def test_settings_of_a_section_reach_its_terminals(tmp_path: Path) -> None:
    async def story(hall: Hall) -> None:
        for one in hall.keypads.values():
            one.curious = True
        init = the_event()
        quiet = dto.Bridgemate2SettingsDTO(FIRST, "A", bm2_pi_ncode="4711")
        open_ = dto.Bridgemate2SettingsDTO(FIRST, "BB", bm2_pi_ncode="0815", show_results=True, show_percentage=True)
        init["Bridgemate2Settings"] = [quiet.to_dict(), open_.to_dict()]
        await hall.program(5, init, "")
        await hall.say_hello()
        await hall.exchange(records=[hall.record(1)])
        assert len((await hall.page("GET", "/boards/1"))["lines"]) == 1
        assert (await hall.page("POST", "/pin", {"pin": "0815"}))["ok"]
        assert not (await hall.page("POST", "/pin", {"pin": "4711"}))["ok"]
        await hall.until(lambda: sum(row.play.section == "A" for row in hall.desk.rows.values()) == 18, step=30.0)
        assert all(not one.feedback and not one.ranking for one in hall.keypads.values())

    in_a_hall(tmp_path, story)
