"""The USB carrier: finding the right device, claiming and giving back, words for what is missing, loss as LinkLost."""

import asyncio
import errno
import threading

import pytest
import usb.core

from drivers.host import HostIdentity
from drivers.registry import open_carrier
from drivers.usb_device import UsbAddress, UsbInfo, explain, list_usb
from drivers.usb_pipe import UsbOpener
from firmware_bridge.errors import ConfigError, DeviceError, LinkLost
from hwsim.usb_bus import Backend, UsbDevice, pair

ADDRESS = UsbAddress(0x1209, 0x0001)


def opener_for(*devices, serial_number="", **options):
    address = UsbAddress(0x1209, 0x0001, serial_number)
    return UsbOpener(address, "usb://1209:0001", backend=Backend(*devices, **options))


def run(coroutine):
    asyncio.run(asyncio.wait_for(coroutine, 100))
    for thread in threading.enumerate():
        if thread.name.startswith("usb"):
            thread.join(60)  # they were told to end; nobody waits for that in a running program
            assert not thread.is_alive(), thread.name


def refused(opener):
    with pytest.raises(DeviceError) as caught:
        run(opener())
    assert caught.value.where.startswith("USB device 1209:0001")
    assert caught.value.next_step
    return caught.value


def test_bytes_pass_both_ways_and_the_device_is_given_back():
    device, far = pair()

    async def scenario():
        pipe = await opener_for(device)()
        assert device.claimed
        every = bytes(range(256)) * 8
        await pipe.write(every)
        got = b""
        while len(got) < len(every):
            got += far.recv(4096)
        assert got == every
        far.sendall(every)
        got = b""
        while len(got) < len(every):
            got += await pipe.read()
        assert got == every
        await pipe.close()
        await pipe.close()
        assert not device.claimed
        assert device.opened == 0
        with pytest.raises(LinkLost):
            await pipe.write(b"x")
        with pytest.raises(LinkLost):
            await pipe.read()

    run(scenario())
    far.close()


def test_unplugging_is_link_lost_and_the_same_device_is_found_again():
    device, far = pair(serial_number="A1")
    again, far_again = pair(serial_number="A1")
    stranger, _ = pair(serial_number="B2")

    async def scenario():
        opener = opener_for(device, stranger, serial_number="A1")
        pipe = await opener()
        reading = asyncio.create_task(pipe.read())
        await asyncio.sleep(0.01)
        device.unplug()
        with pytest.raises(LinkLost):
            await reading
        with pytest.raises(LinkLost):
            await pipe.write(b"x")
        await pipe.close()
        with pytest.raises(DeviceError, match="not plugged in"):
            await opener()
        opener._backend.devices.append(again)
        pipe = await opener()
        await pipe.write(b"hello")
        assert far_again.recv(5) == b"hello"
        await pipe.close()

    run(scenario())
    far.close()


def test_the_kernels_driver_is_put_aside_and_brought_back():
    device, _ = pair()
    device.kernel_driver = True

    async def scenario():
        pipe = await opener_for(device)()
        assert not device.kernel_driver
        await pipe.close()
        assert device.kernel_driver

    run(scenario())


def test_a_system_without_kernel_drivers_needs_none():
    device, _ = pair()

    async def scenario():
        pipe = await opener_for(device, has_kernel_drivers=False)()
        await pipe.close()

    run(scenario())


def test_a_stalled_endpoint_is_cleared():
    device, far = pair()
    device.stalls = 1

    async def scenario():
        pipe = await opener_for(device)()
        far.sendall(b"after the stall")
        assert await pipe.read() == b"after the stall"
        await pipe.close()

    run(scenario())


def test_bytes_that_nobody_fetches_stay_in_a_bounded_buffer():
    device, far = pair()

    async def scenario():
        pipe = await opener_for(device)()
        far.setblocking(False)
        sent = idle = 0
        while idle < 40:
            try:
                sent += far.send(bytes(4096))
                idle = 0
            except BlockingIOError:
                idle += 1
            await asyncio.sleep(0.002)
        assert len(pipe._buffer) < 80_000
        got = 0
        while got < sent:
            got += len(await asyncio.wait_for(pipe.read(), 60))
        await pipe.close()

    run(scenario())


def test_two_devices_of_a_kind_must_be_told_apart():
    first, _ = pair(serial_number="A1")
    second, far = pair(serial_number="B2")
    error = refused(opener_for(first, second))
    assert error.code == "port-ambiguous"
    assert "A1" in error.what
    assert "B2" in error.what

    async def scenario():
        pipe = await opener_for(first, second, serial_number="B2")()
        await pipe.write(b"x")
        assert far.recv(1) == b"x"
        await pipe.close()

    run(scenario())


def test_what_is_missing_is_said_in_words():
    assert refused(opener_for()).code == "port-missing"
    assert refused(opener_for(pair(serial_number="A1")[0], serial_number="Z9")).code == "port-missing"
    assert refused(opener_for(UsbDevice())).code == "wrong-device"
    taken, _ = pair()
    taken.claimed = True
    assert refused(opener_for(taken)).code == "port-busy"
    forbidden, _ = pair()
    forbidden.refuse = errno.EACCES
    told = refused(opener_for(forbidden))
    assert told.code == "port-permission"
    assert "udev" in told.next_step
    assert refused(opener_for(forbidden, serial_number="A1")).code == "port-permission"


def test_no_libusb_and_no_windows_driver_are_said_in_words(monkeypatch):
    assert explain(usb.core.NoBackendError("No backend available"), ADDRESS).code == "usb-library"
    assert explain(NotImplementedError(), ADDRESS).code == "usb-driver"
    monkeypatch.setattr("sys.platform", "win32")
    assert "Zadig" in explain(usb.core.USBError("not found", errno=errno.ENOENT), ADDRESS).next_step


def test_usb_urls():
    host = HostIdentity(device_id=1)
    address = open_carrier("usb://1209:0001?serial_number=A1&interface=2", host)._address
    assert address == UsbAddress(0x1209, 1, "A1", 2)
    assert open_carrier("usb://2E8A:a", host)._address == UsbAddress(0x2E8A, 0x000A)
    for url in ("usb://", "usb://1209", "usb://1209:00001", "usb://1209:0001/x", "usb://1209:0001?interface=x"):
        with pytest.raises(ConfigError):
            open_carrier(url, host)


def test_devices_that_may_be_ours_are_listed_and_left_alone():
    ours, far = pair(serial_number="A1")
    nameless, _ = pair(serial_number="")
    printer, _ = pair(serial_number="P")
    printer.interface_class = 7
    gone, _ = pair(serial_number="G")
    gone.unplug()
    shut, _ = pair(serial_number="S")
    shut.refuse = errno.EACCES
    found = list_usb(Backend(ours, nameless, printer, gone, shut))
    assert [one.url for one in found] == [
        "usb://1209:0001",
        "usb://1209:0001",
        "usb://1209:0001?serial_number=A1",
    ]
    assert all(isinstance(one, UsbInfo) and one.description for one in found)
    assert ours.opened == 0
    assert not ours.claimed
    far.close()
