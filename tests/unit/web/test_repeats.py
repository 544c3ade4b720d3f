"""Acts that are asked for again: done once, whatever else is asked meanwhile; and the answers kept are bounded."""

from __future__ import annotations

import asyncio

import pytest
from starlette.responses import JSONResponse, Response

from firmware_bridge.errors import EntryError
from firmware_bridge.service.api_repeats import KEPT, Repeats


class Act:
    """Counts how often it is done; waits for ``go`` when it is told to."""

    def __init__(self) -> None:
        self.done = 0
        self.go = asyncio.Event()
        self.go.set()

    async def __call__(self) -> Response:
        self.done += 1
        await self.go.wait()
        return JSONResponse({"times": self.done})


def test_an_act_under_way_outlasts_any_number_of_others() -> None:
    async def run() -> None:
        repeats, slow, quick = Repeats(), Act(), Act()
        slow.go.clear()
        first = asyncio.create_task(repeats.once("ann", "/fine", "slow", b"1", slow))
        await asyncio.sleep(0)
        for number in range(2 * KEPT):
            await repeats.once("ann", "/fine", str(number), b"2", quick)
        second = asyncio.create_task(repeats.once("ann", "/fine", "slow", b"1", slow))
        await asyncio.sleep(0)
        slow.go.set()
        assert (await first).body == (await second).body
        assert slow.done == 1
        assert len(repeats._known) <= KEPT + 1
        await repeats.once("ann", "/fine", "0", b"2", quick)
        assert quick.done == 2 * KEPT + 1, "the oldest answer is forgotten"
        await repeats.once("ann", "/fine", str(2 * KEPT - 1), b"2", quick)
        assert quick.done == 2 * KEPT + 1, "a new one is known"

    asyncio.run(run())


def test_whoever_waits_for_an_act_that_fails_tries_it_himself() -> None:
    async def run() -> None:
        repeats, act = Repeats(), Act()
        act.go.clear()

        async def fails() -> Response:
            await act()
            raise EntryError("no", code="no")

        first = asyncio.create_task(repeats.once("ann", "/fine", "k", b"1", fails))
        await asyncio.sleep(0)
        second = asyncio.create_task(repeats.once("ann", "/fine", "k", b"1", act))
        await asyncio.sleep(0)
        act.go.set()
        with pytest.raises(EntryError):
            await first
        assert (await second).status_code == 200
        assert act.done == 2

    asyncio.run(run())
