"""Events in their order through time-outs, errors and a flood."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
from duplication_loop import LoopClock, run

from dealer.duplication.mailbox import LIMIT, Mailbox
from drivers.api import BoardConfirmed, BoardPulled, DealingMachine, HopperChanged, HopperState, MachineEvent
from firmware_bridge.errors import LinkLost


class Source:
    """Gives events from a queue; ``None`` in it is the end of the machine."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[MachineEvent | None] = asyncio.Queue()
        self.taken = 0

    async def next_event(self) -> MachineEvent:
        event = await self.queue.get()
        if event is None:
            raise LinkLost("closed")
        self.taken += 1
        return event


def mailbox() -> tuple[Mailbox, Source]:
    source = Source()
    return Mailbox(cast(DealingMachine, source), LoopClock(asyncio.get_running_loop())), source


def test_nothing_is_lost_around_time_outs() -> None:
    async def go() -> None:
        mail, source = mailbox()
        loop = asyncio.get_running_loop()
        events = [BoardConfirmed(number, 1) for number in range(1, 30)]
        for index, event in enumerate(events):
            loop.call_later(0.1 * index + 0.05, source.queue.put_nowait, event)
        got = []
        while len(got) < len(events):
            event = await mail.get(0.03)
            if event is not None:
                got.append(event)
        assert got == events
        assert mail.waited_s == pytest.approx(2.85, abs=0.1)
        mail.close()

    run(go())


def test_the_keyboard_wakes_a_waiting_job_and_a_returned_event_comes_first() -> None:
    async def go() -> None:
        mail, source = mailbox()
        asyncio.get_running_loop().call_later(1.0, mail.confirm, 7, 2)
        assert await mail.get(None) == BoardConfirmed(7, 2)
        source.queue.put_nowait(HopperChanged(HopperState.EMPTY))
        mail.put_back(BoardPulled())
        assert await mail.get(5) == BoardPulled()
        assert await mail.get(5) == HopperChanged(HopperState.EMPTY)
        assert await mail.get(0.5) is None
        mail.close()

    run(go())


def test_what_ends_the_machine_reaches_who_waits_and_who_comes_later() -> None:
    async def go() -> None:
        mail, source = mailbox()
        source.queue.put_nowait(BoardPulled())
        asyncio.get_running_loop().call_later(1.0, source.queue.put_nowait, None)
        assert await mail.get(5) == BoardPulled()
        with pytest.raises(LinkLost):
            await mail.get(None)
        with pytest.raises(LinkLost):
            await mail.get(1.0)
        mail.close()

    run(go())


def test_a_flood_waits_with_the_driver() -> None:
    async def go() -> None:
        mail, source = mailbox()
        for number in range(3 * LIMIT):
            source.queue.put_nowait(BoardConfirmed(number, 1))
        first = await mail.get(1)
        await asyncio.sleep(1)
        assert source.taken <= LIMIT + 1
        rest = [await mail.get(1) for _ in range(3 * LIMIT - 1)]
        assert [event.board for event in [first, *rest] if isinstance(event, BoardConfirmed)] == list(range(3 * LIMIT))
        mail.close()

    run(go())


def test_closing_leaves_no_task_behind() -> None:
    async def go() -> None:
        mail, _ = mailbox()
        assert await mail.get(0.1) is None
        mail.close()
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run(go())
