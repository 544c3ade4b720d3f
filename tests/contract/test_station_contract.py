"""What every base station owes the collector, whatever carries the bytes: records kept until acknowledged."""

import asyncio
import json
import os
import subprocess
import sys

import pytest
from spare_port import spare_port

from drivers.api import StationConnected, StationDisconnected, StationMessage
from drivers.host import HostIdentity
from drivers.registry import open_machine, open_station
from firmware_bridge.errors import DeviceError
from firmware_bridge.wire.messages import Admit, PlanRound, Record, RecordAck, TablePlan, TermHello

TERMINALS = 3
BOARDS = 2
CARRIERS = [
    pytest.param("pty", marks=pytest.mark.skipif(os.name != "posix", reason="needs pseudo-terminals")),
    "tcp",
]


class SimulatedStation:
    def __init__(self, carrier, folder, *options):
        self._link = folder / "port"
        tcp = ["--line", f"tcp://127.0.0.1:{spare_port()}"]
        line = ["--line", "pty", "--link", str(self._link)] if carrier == "pty" else tcp
        self._command = [sys.executable, "-m", "hwsim", "station", *line, "--state", str(folder / "memory")]
        self._command += ["--seed", "3", "--speed", "line", "--terminals", str(TERMINALS), "--with-parent", *options]
        self.url = ""
        self.switch_on()

    def switch_on(self):
        self.process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.url = json.loads(self.process.stdout.readline())["url"]

    def end(self, how="input"):
        if how == "kill":
            self._link.unlink(missing_ok=True)  # first: the next who asks may be given the same pty
            self.process.kill()
        self.process.stdin.close()
        try:
            self.process.wait(60)
        finally:
            self.process.kill()
            self.process.stdout.close()


class Collector:
    """As much of a collector as the contract needs: admits whoever says hello, remembers every record."""

    def __init__(self, station):
        self.station = station
        self.terminals = {}
        self.records = []
        self.events = []

    async def take(self, acknowledge, until):
        async with asyncio.timeout(60):
            while not until():
                event = await self.station.next_event()
                self.events.append(event)
                if isinstance(event, StationMessage):
                    await self.on_message(event.address, event.message, acknowledge)

    async def on_message(self, address, message, acknowledge):
        if isinstance(message, TermHello):
            self.terminals[address] = message.device_id
            await self.station.send(address, Admit(message.device_id, 1, 77, 1, address, f"Table A{address}"))
            plan = PlanRound(1, address, 10 + address, 1, BOARDS, 0, 255, 255, 0)
            await self.station.send(address, TablePlan(77, 1, 1, address, (plan,)))
        elif isinstance(message, Record):
            self.records.append((address, message))
            if acknowledge:
                ack = RecordAck(self.terminals[address], message.journal_id, message.seq, 4)
                await self.station.send(address, ack)

    def keys(self):
        return {(address, record.journal_id, record.seq): record.body for address, record in self.records}


def run(coroutine):
    asyncio.run(asyncio.wait_for(coroutine, 60))


def connected(station):
    return station.connect(60)


@pytest.mark.parametrize("carrier", CARRIERS)
def test_every_result_of_every_terminal_arrives_under_its_key(carrier, tmp_path):
    async def scenario():
        simulated = SimulatedStation(carrier, tmp_path)
        station = open_station(simulated.url, HostIdentity(device_id=0x51))
        try:
            identity = await connected(station)
            assert identity.model
            collector = Collector(station)
            await collector.take(True, lambda: len(collector.keys()) == TERMINALS * BOARDS)
            assert set(collector.terminals) == {1, 2, 3}
            assert len(set(collector.terminals.values())) == TERMINALS
            for address in collector.terminals:
                numbers = [record.seq for sender, record in collector.records if sender == address]
                assert sorted(set(numbers)) == list(range(1, BOARDS + 1))
        finally:
            await station.close()
            simulated.end()

    run(scenario())


@pytest.mark.parametrize("carrier", CARRIERS)
def test_what_is_not_acknowledged_comes_again_after_the_station_has_lost_its_power(carrier, tmp_path):
    async def scenario():
        simulated = SimulatedStation(carrier, tmp_path)
        station = open_station(simulated.url, HostIdentity(device_id=0x51))
        try:
            await connected(station)
            collector = Collector(station)
            await collector.take(False, lambda: len(collector.keys()) == TERMINALS)
            first = dict(collector.keys())
            assert {key[2] for key in first} == {1}, "with a credit of 1 each terminal sends one record and waits"
            simulated.end("kill")
            await collector.take(False, lambda: isinstance(collector.events[-1], StationDisconnected))
            simulated.switch_on()
            await collector.take(False, lambda: isinstance(collector.events[-1], StationConnected))
            assert collector.events[-1].restarted
            collector.records.clear()
            await collector.take(True, lambda: len(collector.keys()) == TERMINALS * BOARDS)
            again = collector.keys()
            assert first.items() <= again.items(), "the same keys with the same bodies"
        finally:
            await station.close()
            simulated.end()

    run(scenario())


@pytest.mark.parametrize("carrier", CARRIERS)
def test_an_unplugged_line_comes_back_without_a_new_boot(carrier, tmp_path):
    async def scenario():
        simulated = SimulatedStation(carrier, tmp_path, "--fault", "unplug@2,for=0.3")
        station = open_station(simulated.url, HostIdentity(device_id=0x51))
        try:
            await connected(station)
            collector = Collector(station)
            await collector.take(True, lambda: len(collector.keys()) == TERMINALS * BOARDS)
            kinds = [type(event) for event in collector.events if not isinstance(event, StationMessage)]
            assert kinds == [StationConnected, StationDisconnected, StationConnected]
            last = [event for event in collector.events if isinstance(event, StationConnected)][-1]
            assert not last.restarted
        finally:
            await station.close()
            simulated.end()

    run(scenario())


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_station_is_not_taken_for_a_dealing_machine(carrier, tmp_path):
    async def scenario():
        simulated = SimulatedStation(carrier, tmp_path)
        machine = open_machine(simulated.url, HostIdentity(device_id=0x51))
        try:
            with pytest.raises(DeviceError, match="base station") as caught:
                await machine.connect(60)
            assert caught.value.code == "wrong-device"
        finally:
            await machine.close()
            simulated.end()

    run(scenario())
