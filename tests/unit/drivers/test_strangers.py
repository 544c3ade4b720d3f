"""What an operator reads when something else sits at the port: web server, echo, noise, silence, another program."""

import asyncio
import os
import select
import sys

import pytest
from drivers_fakes import HOST, FakeDevice, no_task_left_behind
from hypothesis import given
from hypothesis import strategies as st

from drivers.framed_machine import FramedMachine
from drivers.memory_port import MemoryOpener, stream_pair
from drivers.registry import open_machine
from drivers.stranger import recognise_text
from firmware_bridge.clock import SystemClock
from firmware_bridge.errors import DeviceError, FirmwareBridgeError, LinkError, LinkLost, ProtocolMismatch
from firmware_bridge.wire.messages import Hello


def run(coroutine):
    asyncio.run(no_task_left_behind(coroutine))


async def refused(url, timeout):
    """Connect to what is no machine; the error that the operator gets."""
    machine = open_machine(url, HOST)
    try:
        with pytest.raises(FirmwareBridgeError) as caught:
            await machine.connect(timeout)
    finally:
        await machine.close()
    assert caught.value.what
    assert caught.value.where
    assert caught.value.next_step
    return caught.value


def listening(handler, timeout=60.0):
    async def scenario():
        server = await asyncio.start_server(handler, "127.0.0.1", 0)
        async with server:
            return await refused(f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}", timeout)

    result = []

    async def keep():
        result.append(await scenario())

    run(keep())
    return result[0]


def test_a_web_server_is_named_at_once():
    async def web(reader, writer):
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    error = listening(web)
    assert isinstance(error, ProtocolMismatch)
    assert "web server" in error.what


def test_a_device_that_prints_text_is_said_to_do_so():
    async def chatter(reader, writer):
        while await reader.read(100):
            writer.write(b"Marlin 2.1 ready\r\nok\r\n")
        writer.close()

    error = listening(chatter, 2.0)
    assert isinstance(error, ProtocolMismatch)
    assert "plain text" in error.what


def test_noise_is_another_protocol():
    async def noise(reader, writer):
        while await reader.read(100):
            writer.write(bytes([255, 0, 200, 17, 0, 1, 128, 7]) * 50)
        writer.close()

    error = listening(noise, 2.0)
    assert isinstance(error, ProtocolMismatch)
    assert "another protocol" in error.what
    assert "baud" in error.next_step


def test_a_peer_that_hangs_up_is_link_lost():
    async def hang_up(reader, writer):
        writer.close()

    assert isinstance(listening(hang_up), LinkLost)


def test_silence_is_said_within_the_time_that_was_given():
    async def silent(reader, writer):
        await reader.read()
        writer.close()

    error = listening(silent, 0.3)
    assert isinstance(error, LinkError)
    assert "does not answer" in error.what
    assert error.code == "no-answer"


@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
def test_an_echo_is_named():
    async def scenario():
        import tty

        master, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(master, False)
        loop = asyncio.get_running_loop()
        loop.add_reader(master, lambda: os.write(master, os.read(master, 4096)))
        try:
            error = await refused(f"serial://{os.ttyname(slave)}", 2.0)
        finally:
            loop.remove_reader(master)
            os.close(master)
            os.close(slave)
        assert isinstance(error, ProtocolMismatch)
        assert error.code == "echo"

    run(scenario())


@pytest.mark.parametrize(
    ("url", "exit_status", "words"),
    [
        ("serial:///dev/ttyUSB987", 1, "does not exist"),
        ("tcp://127.0.0.1:1", 1, "Nothing listens"),
    ],
)
def test_a_missing_port_is_said_at_once(url, exit_status, words):
    result = []

    async def scenario():
        result.append(await refused(url, 60))

    run(scenario())
    assert isinstance(result[0], DeviceError)
    assert words in result[0].what
    assert result[0].exit_status == exit_status


@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
def test_a_second_host_on_a_serial_port_is_told_that_it_is_taken():
    async def scenario():
        import tty

        master, slave = os.openpty()
        tty.setraw(slave)
        url = f"serial://{os.ttyname(slave)}"
        first = open_machine(url, HOST)
        connecting = asyncio.create_task(first.connect(60))
        async with asyncio.timeout(60):
            while not select.select([master], [], [], 0)[0]:  # its greeting: the port is open
                await asyncio.sleep(0.01)
        error = await refused(url, 60)
        assert error.code == "port-busy"
        connecting.cancel()
        await asyncio.wait({connecting})
        await first.close()
        os.close(master)
        os.close(slave)

    run(scenario())


def test_an_opener_of_somebody_else_that_raises_anything_becomes_words():
    async def scenario():
        async def broken():
            raise KeyError("nonsense")

        machine = FramedMachine(MemoryOpener("theirs://x", broken), HOST, SystemClock())
        with pytest.raises(DeviceError, match="did not open") as caught:
            await machine.connect(60)
        assert caught.value.where == "theirs://x"

    run(scenario())


def test_an_opening_that_never_ends_is_cut_off():
    async def scenario():
        async def stuck():
            await asyncio.Event().wait()

        machine = FramedMachine(MemoryOpener("theirs://x", stuck), HOST, SystemClock())
        with pytest.raises(DeviceError, match="did not open within"):
            await machine.connect(0.1)

    run(scenario())


def test_noise_before_the_greeting_does_not_matter():
    async def scenario():
        device = FakeDevice()

        async def noisy():
            host, line = stream_pair("fake")
            await line.write(b"ets Jul 29 2019 12:21:46 rst:0x1 (POWERON_RESET)\r\n" * 5 + bytes(range(256)) * 4)
            device.line = line
            device._tasks.add(asyncio.create_task(device._serve(line), name="fake"))
            return host

        machine = FramedMachine(MemoryOpener("fake://noisy", noisy), HOST, SystemClock())
        assert (await machine.connect(60)).model == "Fake"
        await machine.close()

    run(scenario())


def test_a_device_that_sends_frames_but_no_greeting_is_told_apart_from_silence():
    async def scenario():
        device = FakeDevice()
        device.mute.add(Hello)
        machine = FramedMachine(device.opener(), HOST, SystemClock())
        connecting = asyncio.create_task(machine.connect(2.0))
        async with asyncio.timeout(60):
            while not device.greetings:
                await asyncio.sleep(0.01)
        from firmware_bridge.wire.messages import HopperEvent

        await device.say(HopperEvent(1))
        with pytest.raises(ProtocolMismatch, match="does not answer the greeting"):
            await connecting

    run(scenario())


@given(st.binary(max_size=600))
def test_no_sample_of_bytes_ever_shows_up_in_the_words(sample):
    told = recognise_text(sample, "port")
    assert told is None or all(chunk not in str(told) for chunk in (sample.decode("latin-1"),) if len(chunk) > 20)
