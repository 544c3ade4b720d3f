"""A device may send anything: the driver goes on, its memory and its log stay small, and nothing is made up."""

import asyncio
import random

from drivers_fakes import HOST, FakeDevice, no_task_left_behind
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.api import Connected
from drivers.framed_machine import FramedMachine
from drivers.gpio_machine.controller import ACCEPTS
from drivers.gpio_machine.device_link import DeviceLink, SessionBegan
from drivers.gpio_machine.journal import Journal
from firmware_bridge.clock import SystemClock
from firmware_bridge.link.greeting import host_hello
from firmware_bridge.link.session import Session
from firmware_bridge.wire.frames import Flag, Frame, encode_frame
from firmware_bridge.wire.messages import HopperEvent
from firmware_bridge.wire.numbers import Role


def run(coroutine):
    asyncio.run(no_task_left_behind(coroutine))


def test_valid_frames_with_senseless_content_neither_stop_the_driver_nor_fill_the_log(caplog):
    rng = random.Random(11)

    async def scenario():
        device = FakeDevice()
        machine = FramedMachine(device.opener(), HOST, SystemClock(), rng=random.Random(1))
        await machine.connect(60)
        flags = int(Flag.SEQUENCED | Flag.ACK | Flag.FROM_DEVICE)
        for number in range(3000):
            kind = rng.choice([0x04, 0x20, 0x2F, 0x30, 0x31, 0x32, 0x34, 0x36, 0x37, 0x38, 0x62, 0x70, 0xF3])
            payload = rng.randbytes(rng.choice([0, 1, 4, 8, 9, 11, 19, 22, 40]))
            if kind == 0x31 and len(payload) == 19:
                continue  # a MACHINE_STATE nobody asked for could pass for the answer to a question
            seq, device._next_out = device._next_out, (device._next_out + 1) % 256
            await device.line.write(encode_frame(Frame(0x10, kind, 0, seq, device._expected, flags, payload)))
            if number % 100 == 0:
                await asyncio.sleep(0.001)
        await device.say(HopperEvent(1))
        assert (await machine.snapshot()).label == 7
        assert machine.statistics()["frames_received"] > 3000
        assert machine.statistics()["link_drops"] == 0
        await machine.close()

    with caplog.at_level("INFO"):
        run(scenario())
    assert len(caplog.records) < 60
    assert len(caplog.text) < 200_000


def test_noise_between_the_frames_only_counts():
    rng = random.Random(12)

    async def scenario():
        device = FakeDevice()
        machine = FramedMachine(device.opener(), HOST, SystemClock(), rng=random.Random(1))
        await machine.connect(60)
        assert isinstance(await machine.next_event(), Connected)
        for _ in range(50):
            await device.line.write(b"\0" + rng.randbytes(rng.randrange(1, 2000)) + b"\0")
            await device.say(HopperEvent(1))
            await asyncio.wait_for(machine.next_event(), 60)
        assert machine.statistics()["frames_damaged"] >= 50
        await machine.close()

    run(scenario())


class Slots:
    def __init__(self):
        self.content = [b"", b""]

    def read(self, slot):
        return self.content[slot]

    def write(self, slot, data):
        self.content[slot] = data


def device_link():
    from firmware_bridge.wire.messages import Hello

    memory = Journal(Slots(), 5).memory

    def hello(session):
        return Hello(0x10, 0x10, Role.MACHINE, 16, 240, memory.device_id, 1, 1, 0, 0, 0, 0, session, "m", "f", ())

    return DeviceLink(hello, ACCEPTS, 0.0)


@settings(max_examples=200)
@given(st.lists(st.binary(max_size=300), max_size=10))
def test_a_home_built_machines_link_takes_any_bytes(pieces):
    link = device_link()
    now = 0.0
    for piece in pieces:
        now += 0.3
        assert link.receive(piece, now) == []
        link.tick(now)
        link.take_output(now)
    host = Session(host_hello(1, 1, 1, "t"), Role.MACHINE, random.Random(1))
    host.start(now)
    link.receive(b"\0", now)
    inputs = link.receive(host.take_output(now), now)
    assert inputs == [SessionBegan()]
    assert host.receive(link.take_output(now), now)[0].peer.model == "m"


@settings(max_examples=200)
@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 31), st.binary(max_size=60))
def test_a_home_built_machines_link_takes_any_frame(kind, seq, flags, payload):
    link = device_link()
    host = Session(host_hello(1, 1, 1, "t"), Role.MACHINE, random.Random(1))
    host.start(0.0)
    link.receive(host.take_output(0.0), 0.0)
    assert link.up
    link.receive(encode_frame(Frame(0x10, kind, 0, seq, 0, flags, payload)), 0.1)
    link.tick(0.2)
    link.take_output(0.2)
