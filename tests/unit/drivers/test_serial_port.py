"""The serial carrier over real pseudo-terminals: words for failures, one name for every loss, adapters found again."""

import asyncio
import errno
import os
import sys

import pytest

from drivers.serial_port import PortInfo, SerialOpener, SerialSettings, _explain, list_ports
from firmware_bridge.errors import DeviceError, LinkLost

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")


class Pty:
    """A device end. ``path`` is what a host opens; ``unplug`` makes it vanish."""

    def __init__(self, link=None):
        import tty

        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.path = os.ttyname(self.slave)
        if link is not None:
            link.unlink(missing_ok=True)
            link.symlink_to(self.path)
            self.path = str(link)

    def unplug(self):
        for handle in (self.slave, self.master):
            if handle >= 0:
                os.close(handle)
        self.slave = self.master = -1

    async def read(self, size):
        data = b""
        async with asyncio.timeout(60):
            while len(data) < size:
                try:
                    data += os.read(self.master, 4096)
                except BlockingIOError:
                    await asyncio.sleep(0.002)
        return data


@pytest.fixture
def pty():
    device = Pty()
    yield device
    device.unplug()


def opener_for(path, ports=(), **settings):
    return SerialOpener(SerialSettings(path=path, **settings), f"serial://{path}", ports=lambda: ports)


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 100))


def test_every_byte_value_passes_unchanged_in_both_directions(pty):
    every = bytes(range(256)) * 4

    async def scenario():
        stream = await opener_for(pty.path)()
        await stream.write(every)
        assert await pty.read(len(every)) == every
        os.write(pty.master, every)
        got = b""
        while len(got) < len(every):
            got += await stream.read()
        assert got == every
        await stream.close()
        await stream.close()

    run(scenario())


def test_a_port_held_by_one_opener_is_refused_to_the_next_and_free_after_closing(pty):
    async def scenario():
        first = await opener_for(pty.path)()
        with pytest.raises(DeviceError, match="Another program holds") as caught:
            await opener_for(pty.path)()
        assert caught.value.code == "port-busy"
        assert caught.value.where == pty.path
        await first.close()
        again = await opener_for(pty.path)()
        await again.close()

    run(scenario())


def test_a_missing_port_is_named_with_the_next_step():
    with pytest.raises(DeviceError, match="does not exist") as caught:
        run(opener_for("/dev/ttyUSB987")())
    assert caught.value.code == "port-missing"
    assert "firmware-bridge devices" in caught.value.next_step


@pytest.mark.parametrize("kind", ["file", "folder", "null"])
def test_what_is_no_serial_port_is_said_to_be_none(tmp_path, kind):
    path = {"file": tmp_path / "f", "folder": tmp_path, "null": "/dev/null"}[kind]
    if kind == "file":
        path.write_bytes(b"")
    with pytest.raises(DeviceError, match="not a working serial port") as caught:
        run(opener_for(str(path))())
    assert caught.value.code == "port-unusable"


def test_a_port_that_fails_after_opening_is_not_left_open(pty, monkeypatch):
    import drivers.serial_port as module

    def fail(port, path):
        raise OSError(errno.EIO, "no")

    async def scenario():
        with monkeypatch.context() as patch:
            patch.setattr(module, "_settle", fail)
            with pytest.raises(DeviceError):
                await opener_for(pty.path)()
        stream = await opener_for(pty.path)()
        await stream.close()

    run(scenario())


def test_missing_permission_names_the_group():
    error = PermissionError(errno.EACCES, "Permission denied")
    told = _explain(error, "/dev/null", SerialSettings("/dev/null"))
    assert told.code == "port-permission"
    assert "group" in told.next_step or "usermod" in told.next_step


def test_windows_reasons_are_found_in_the_text():
    from serial import SerialException

    busy = SerialException("could not open port 'COM3': PermissionError(13, 'Access is denied.', None, 5)")
    missing = SerialException("could not open port 'COM9': FileNotFoundError(2, 'No such file', None, 2)")
    assert _explain(busy, "COM3", SerialSettings("COM3")).code == "port-busy"
    assert _explain(missing, "COM9", SerialSettings("COM9")).code == "port-missing"


def test_unplugging_is_link_lost_for_a_waiting_reader_and_for_every_later_call(pty, caplog):
    async def scenario():
        stream = await opener_for(pty.path)()
        reading = asyncio.create_task(stream.read())
        await asyncio.sleep(0.02)
        pty.unplug()
        with pytest.raises(LinkLost) as caught:
            await asyncio.wait_for(reading, 60)
        assert caught.value.where == pty.path
        with pytest.raises(LinkLost):
            await stream.read()
        with pytest.raises(LinkLost):
            await stream.write(b"x")
        await stream.close()

    run(scenario())
    assert not [record for record in caplog.records if record.exc_info], "a pulled cable must not print a traceback"


def test_unplugging_while_writing_is_link_lost_without_a_traceback(pty, caplog):
    async def scenario():
        stream = await opener_for(pty.path)()

        async def flood():
            while True:
                await stream.write(bytes(4096))

        writing = asyncio.create_task(flood())
        await asyncio.sleep(0.05)
        assert not writing.done(), "a full line makes the writer wait"
        pty.unplug()
        with pytest.raises(LinkLost):
            await asyncio.wait_for(writing, 60)
        await stream.close()

    run(scenario())
    assert not [record for record in caplog.records if record.exc_info]


def test_closing_with_a_stuck_line_comes_back_in_time(pty):
    async def scenario():
        stream = await opener_for(pty.path)()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                while True:
                    await stream.write(bytes(4096))
        async with asyncio.timeout(60):
            await stream.close()

    run(scenario())


def test_bytes_that_nobody_fetches_stay_in_a_bounded_buffer(pty):
    async def scenario():
        stream = await opener_for(pty.path)()
        sent = 0
        async with asyncio.timeout(60):
            idle = 0
            while idle < 50:
                try:
                    sent += os.write(pty.master, bytes(range(256)) * 8)
                    idle = 0
                except BlockingIOError:
                    idle += 1
                await asyncio.sleep(0.001)
        assert len(stream._buffer) < 80_000
        got = bytearray()
        while len(got) < sent:
            got += await asyncio.wait_for(stream.read(), 60)
        assert bytes(got[:512]) == bytes(range(256)) * 2
        await stream.close()

    run(scenario())


def adapter(path, number):
    return PortInfo(path=path, description="adapter", vid=0x0403, pid=0x6001, serial_number=number)


def test_the_same_adapter_is_found_under_its_new_name(tmp_path):
    async def scenario():
        first = Pty(tmp_path / "ttyUSB0")
        ports = [adapter(first.path, "A123")]
        opener = SerialOpener(SerialSettings(first.path), "serial://x", ports=lambda: ports)
        stream = await opener()
        first.unplug()
        with pytest.raises(LinkLost):
            await stream.read()
        await stream.close()
        # Somebody else's adapter took the old name meanwhile.
        stranger, moved = Pty(tmp_path / "ttyUSB0"), Pty(tmp_path / "ttyUSB1")
        ports[:] = [adapter(stranger.path, "B999"), adapter(moved.path, "A123")]
        again = await opener()
        assert again.name == moved.path
        await again.close()
        stranger.unplug()
        moved.unplug()

    run(scenario())


def test_a_stranger_that_took_the_name_is_left_alone_while_ours_is_away(tmp_path):
    async def scenario():
        first = Pty(tmp_path / "ttyUSB0")
        ports = [adapter(first.path, "A123")]
        opener = SerialOpener(SerialSettings(first.path), "serial://x", ports=lambda: ports)
        stream = await opener()
        first.unplug()
        await stream.close()
        stranger = Pty(tmp_path / "ttyUSB0")
        ports[:] = [adapter(stranger.path, "B999")]
        with pytest.raises(DeviceError, match="A123"):
            await opener()
        stranger.unplug()

    run(scenario())


def test_closing_a_port_does_not_move_its_control_lines(pty):
    import termios

    async def scenario():
        settings = termios.tcgetattr(pty.slave)
        settings[2] |= termios.HUPCL
        termios.tcsetattr(pty.slave, termios.TCSANOW, settings)
        stream = await opener_for(pty.path)()
        assert not termios.tcgetattr(pty.slave)[2] & termios.HUPCL
        await stream.close()
        assert not termios.tcgetattr(pty.slave)[2] & termios.HUPCL

    run(scenario())


def test_a_port_can_be_named_by_serial_number_alone(pty):
    async def scenario():
        settings = SerialSettings(path="", serial_number="A123")
        ports = [adapter("/dev/ttyUSB7", "B999"), adapter(pty.path, "A123")]
        stream = await SerialOpener(settings, "serial://?serial_number=A123", ports=lambda: ports)()
        assert stream.name == pty.path
        await stream.close()
        ports.pop()
        with pytest.raises(DeviceError, match="A123") as caught:
            await SerialOpener(settings, "serial://?serial_number=A123", ports=lambda: ports)()
        assert caught.value.code == "port-missing"

    run(scenario())


def test_a_cancelled_opening_leaves_the_port_free(pty):
    async def scenario():
        opening = asyncio.create_task(opener_for(pty.path)())
        await asyncio.sleep(0)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        async with asyncio.timeout(60):
            while True:
                try:
                    stream = await opener_for(pty.path)()
                    break
                except DeviceError:
                    await asyncio.sleep(0.01)
        await stream.close()

    run(scenario())


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files by /proc")
def test_losing_and_reopening_a_port_many_times_leaves_no_file_open(tmp_path):
    async def scenario():
        opener = opener_for(str(tmp_path / "port"))
        counts = []
        for _ in range(12):
            device = Pty(tmp_path / "port")
            stream = await opener()
            await stream.write(b"x")
            device.unplug()
            with pytest.raises(LinkLost):
                await stream.read()
            await stream.close()
            counts.append(len(os.listdir("/proc/self/fd")))
        assert counts[-1] == counts[1], counts

    run(scenario())


def test_listing_the_ports_of_this_computer_works_without_any():
    assert all(isinstance(info, PortInfo) and info.url.startswith("serial://") for info in list_ports())
