"""A clock that can't be right: asked about once, never used for order; the correction period keeps its length."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from web_fakes import Client, service

from firmware_bridge.clock import ManualClock
from firmware_bridge.service import desk_clock
from firmware_bridge.service.known_clock import KnownClock

PAST = datetime(1970, 1, 1, 1, 5, tzinfo=UTC)
EVENING = datetime(2026, 11, 29, 19, 10, tzinfo=UTC)


class SetClock(ManualClock):
    """A clock that somebody may put forward or back."""

    def put(self, wall: datetime) -> None:
        self._wall = wall - timedelta(seconds=self._now - self._wall_start)


async def asked(client: Client) -> list[str]:
    return [one["text"] for one in (await client.get("/desk")).json()["alerts"] if one["kind"] == "computer-clock"]


async def correct(client: Client, board: int = 1) -> None:
    body = {"section": "A", "board": board, "ns": 1, "ew": 4, "contract": "4S N", "tricks": "=", "actor": "Ann"}
    assert (await client.post("/actions/correct", body)).status_code == 200


def test_a_clock_without_a_battery_is_asked_about_once_for_each_start(tmp_path: Path) -> None:
    async def run() -> None:
        async with service(tmp_path, clock=ManualClock(wall=PAST)) as client:
            (text,) = await asked(client)
            assert "td clock" in text
            for wrong in ("25:10", "noon", "2026-13-01 10:00", "19:10:30"):
                found = await client.post("/actions/computer-clock", {"at": wrong})
                assert found.status_code == 409 or found.status_code == 400
            assert await asked(client)
            told = await client.post("/actions/computer-clock", {"at": "2026-11-29T19:10:00.000Z", "actor": "Ann"})
            assert told.status_code == 200
            assert await asked(client) == []
            assert client.desk.clock.wall() == EVENING
            await correct(client)
        async with service(tmp_path, clock=ManualClock(wall=EVENING + timedelta(minutes=5))) as client:
            assert await asked(client) == []
        async with service(tmp_path, clock=ManualClock(wall=EVENING - timedelta(hours=2))) as client:
            assert await asked(client)  # earlier than what is stored
            await client.post("/actions/computer-clock", {})
            assert await asked(client) == []

    asyncio.run(run())


def test_putting_the_clock_right_ends_no_correction_period(tmp_path: Path) -> None:
    async def run() -> None:
        clock = SetClock(wall=PAST)
        async with service(tmp_path, clock=clock) as client:
            await correct(client)
            await client.post("/actions/publish", {"actor": "Ann"})
            clock.advance(20 * 60)
            await client.post("/actions/computer-clock", {"at": "2026-11-29 19:10"})
            await client.desk.finish_if_due()
            assert not client.desk.period.final
            clock.put(EVENING)  # the network sets it; what the director said stays
            await desk_clock.watch(client.desk)
            clock.advance(9 * 60)
            await client.desk.finish_if_due()
            assert not client.desk.period.final
            clock.advance(2 * 60)
            await client.desk.finish_if_due()
            assert client.desk.period.final
            clock.put(PAST)
            await desk_clock.watch(client.desk)
            assert client.desk.period.final

    asyncio.run(run())


def test_a_clock_that_the_network_sets_takes_the_period_with_it(tmp_path: Path) -> None:
    async def run() -> None:
        clock = SetClock(wall=PAST)
        async with service(tmp_path, clock=clock) as client:
            await correct(client)
            await client.post("/actions/publish", {"actor": "Ann"})
            clock.advance(10 * 60)
            clock.put(EVENING)
            await desk_clock.watch(client.desk)
            assert await asked(client) == []
            ends = client.desk.period.ends_at
            assert ends is not None
            assert ends == pytest.approx(EVENING.timestamp() + 20 * 60)
            await correct(client, 2)
            rows = sorted(client.desk.rows.values(), key=lambda row: row.number)
            assert [row.play.board for row in rows] == [1, 2]

    asyncio.run(run())


def test_small_steps_of_a_clock_are_nobodys_business() -> None:
    clock = SetClock(wall=EVENING)
    known = KnownClock(clock)
    clock.put(EVENING + timedelta(seconds=30))
    assert known.jumped() == 0
    clock.put(EVENING - timedelta(seconds=3600))
    assert known.jumped() == -3630
    assert known.jumped() == 0
