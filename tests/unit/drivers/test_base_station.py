"""The base station's driver: addresses, order, and pressure back to the line when nobody fetches the events."""

import asyncio
import random

import pytest
from drivers_fakes import HOST, FakeDevice, no_task_left_behind

import drivers.base_station as module
from drivers.api import StationConnected, StationDisconnected, StationMessage
from drivers.base_station import FramedBaseStation
from firmware_bridge.clock import SystemClock
from firmware_bridge.errors import DeviceError, LinkLost
from firmware_bridge.wire.messages import Credit, StationStatus, TermGone, Text
from firmware_bridge.wire.numbers import Role


def run(coroutine):
    asyncio.run(no_task_left_behind(coroutine))


async def connected(device):
    station = FramedBaseStation(device.opener(), HOST, SystemClock(), rng=random.Random(5))
    await station.connect(60)
    assert isinstance(await station.next_event(), StationConnected)
    return station


def test_messages_keep_their_address_and_order_both_ways():
    async def scenario():
        device = FakeDevice(role=Role.STATION)
        station = await connected(device)
        assert station.identity.model == "Fake"
        for address in range(1, 40):
            await device.say(TermGone(1), address)
        await device.say(StationStatus(39, 255))
        got = [await asyncio.wait_for(station.next_event(), 60) for _ in range(40)]
        assert got[:39] == [StationMessage(address, TermGone(1)) for address in range(1, 40)]
        assert got[39] == StationMessage(0, StationStatus(39, 255))
        for number in range(100):
            await station.send(number % 7, Text(0, f"line {number}"))
        async with asyncio.timeout(60):
            while len(device.commands(Text)) < 100:
                await asyncio.sleep(0.01)
        assert [message.text for message in device.commands(Text)] == [f"line {number}" for number in range(100)]
        await station.close()

    run(scenario())


def test_more_messages_than_the_link_can_queue_make_the_sender_wait_and_none_is_lost():
    async def scenario():
        device = FakeDevice(role=Role.STATION, window=2)
        station = await connected(device)
        await asyncio.gather(*(station.send(number % 50, Credit(number % 256)) for number in range(1000)))
        async with asyncio.timeout(60):
            while len(device.commands(Credit)) < 1000:
                await asyncio.sleep(0.01)
        await station.close()

    run(scenario())


def test_without_a_link_sending_is_link_lost_and_senders_that_wait_for_room_hear_of_it():
    async def scenario():
        device = FakeDevice(role=Role.STATION)
        device.mute_acks = True
        station = await connected(device)
        sending = asyncio.gather(*(station.send(1, Credit(1)) for _ in range(600)), return_exceptions=True)
        await asyncio.sleep(0.05)
        assert not sending.done()
        device.vanished = True
        device.unplug()
        outcome = await sending
        assert any(isinstance(result, LinkLost) for result in outcome)
        assert isinstance(await station.next_event(), StationDisconnected)
        with pytest.raises(LinkLost):
            await station.send(1, Credit(1))
        await station.close()

    run(scenario())


def test_events_that_nobody_fetches_stop_the_reading_and_none_is_lost(monkeypatch):
    async def scenario():
        monkeypatch.setattr(module, "EVENT_LIMIT", 10)
        device = FakeDevice(role=Role.STATION)
        station = await connected(device)
        for number in range(200):
            await device.say(StationStatus(number, 255))
        async with asyncio.timeout(60):
            while len(station._events) < 10:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        assert len(station._events) == 10
        got = [(await asyncio.wait_for(station.next_event(), 60)).message.terminals for _ in range(200)]
        assert got == list(range(200))
        await station.close()

    run(scenario())


def test_a_dealing_machine_on_the_stations_url_is_named():
    async def scenario():
        station = FramedBaseStation(FakeDevice().opener(), HOST, SystemClock())
        with pytest.raises(DeviceError, match="dealing machine"):
            await station.connect(60)
        await station.close()

    run(scenario())


def test_losing_and_regaining_the_link_is_told_once_each():
    async def scenario():
        device = FakeDevice(role=Role.STATION)
        station = await connected(device)
        device.changes["boot_id"] = 101
        device.unplug()
        assert isinstance(await asyncio.wait_for(station.next_event(), 60), StationDisconnected)
        back = await asyncio.wait_for(station.next_event(), 60)
        assert isinstance(back, StationConnected)
        assert back.restarted
        await station.close()

    run(scenario())
