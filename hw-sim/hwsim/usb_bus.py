"""A USB bus without USB: a pyusb backend, and devices on it whose two bulk endpoints lead wherever one likes.

The driver under test runs the same lines as with libusb; only what lies below pyusb is another. A ``UsbDevice`` on a
socket stands for a device in another process; other kinds override ``read`` and ``write``.
"""

from __future__ import annotations

import array
import errno
import select
import socket
import struct
import threading
from types import SimpleNamespace
from typing import Any

import usb.core
from usb.backend import IBackend

BULK_IN, BULK_OUT = 0x81, 0x02
LONGEST_READ = 512


class Gone(Exception):
    """The device is not there any more."""


class NothingCame(Exception):
    """No data within the time."""


class UsbDevice:
    """``sock``: what the device's two bulk endpoints are connected to, None for a device without them."""

    def __init__(
        self,
        sock: socket.socket | None = None,
        *,
        vid: int = 0x1209,
        pid: int = 0x0001,
        serial_number: str = "A1",
        vendor_class: bool = True,
    ) -> None:
        self.sock = sock
        self.endpoints = sock is not None
        self.vid, self.pid, self.serial_number = vid, pid, serial_number
        self.interface_class = 0xFF if vendor_class else 0x0A
        self.plugged = True
        self.refuse: int | None = None
        self.kernel_driver = False
        self.claimed = False
        self.opened = 0
        self.stalls = 0
        self.max_write = 64

    def on_open(self) -> None:
        """The first host opens the device."""

    def on_close(self) -> None:
        """The last host has given it back."""

    def unplug(self) -> None:
        self.plugged = False
        if self.sock is not None:
            self.sock.close()

    def write(self, data: bytes) -> int:
        """Bytes for the device; how many it took. Raises Gone."""
        assert self.sock is not None
        try:
            return self.sock.send(data)
        except OSError:
            raise Gone from None

    def read(self, size: int, timeout: float) -> bytes:
        """At least one byte from the device. Raises Gone, or NothingCame after ``timeout`` seconds."""
        assert self.sock is not None
        try:
            if not select.select([self.sock], [], [], timeout)[0]:
                raise NothingCame
            data = self.sock.recv(size)
        except (OSError, ValueError):
            raise Gone from None
        if not data:
            raise Gone
        return data


class Backend(IBackend):  # type: ignore[misc]
    """As pyusb wants one. ``has_kernel_drivers`` False: as on Windows."""

    def __init__(self, *devices: UsbDevice, has_kernel_drivers: bool = True) -> None:
        self.devices = list(devices)
        self.has_kernel_drivers = has_kernel_drivers
        self.claims = threading.Lock()

    def enumerate_devices(self) -> list[UsbDevice]:
        return [device for device in self.devices if device.plugged]

    def get_device_descriptor(self, dev: UsbDevice) -> SimpleNamespace:
        return SimpleNamespace(
            bLength=18, bDescriptorType=1, bcdUSB=0x200, bDeviceClass=0, bDeviceSubClass=0, bDeviceProtocol=0,
            bMaxPacketSize0=64, idVendor=dev.vid, idProduct=dev.pid, bcdDevice=0x100, iManufacturer=0, iProduct=0,
            iSerialNumber=3 if dev.serial_number else 0, bNumConfigurations=1, address=1, bus=1, port_number=1,
            port_numbers=(1,), speed=2,
        )  # fmt: skip

    def get_configuration_descriptor(self, dev: UsbDevice, config: int) -> SimpleNamespace:
        if config:
            raise IndexError(config)
        return SimpleNamespace(
            bLength=9, bDescriptorType=2, wTotalLength=32, bNumInterfaces=1, bConfigurationValue=1, iConfiguration=0,
            bmAttributes=0x80, bMaxPower=50, extra_descriptors=[],
        )  # fmt: skip

    def get_interface_descriptor(self, dev: UsbDevice, intf: int, alt: int, config: int) -> SimpleNamespace:
        if intf or alt:
            raise IndexError(intf)
        return SimpleNamespace(
            bLength=9, bDescriptorType=4, bInterfaceNumber=0, bAlternateSetting=0,
            bNumEndpoints=2 if dev.endpoints else 0, bInterfaceClass=dev.interface_class, bInterfaceSubClass=0,
            bInterfaceProtocol=0, iInterface=0, extra_descriptors=[],
        )  # fmt: skip

    def get_endpoint_descriptor(self, dev: UsbDevice, ep: int, intf: int, alt: int, config: int) -> SimpleNamespace:
        return SimpleNamespace(
            bLength=7, bDescriptorType=5, bEndpointAddress=(BULK_IN, BULK_OUT)[ep], bmAttributes=2, wMaxPacketSize=64,
            bInterval=0, bRefresh=0, bSynchAddress=0, extra_descriptors=[],
        )  # fmt: skip

    def open_device(self, dev: UsbDevice) -> UsbDevice:
        if dev.refuse is not None:
            raise usb.core.USBError("refused", errno=dev.refuse)
        dev.opened += 1
        if dev.opened == 1:
            dev.on_open()
        return dev

    def close_device(self, dev_handle: UsbDevice) -> None:
        dev_handle.opened -= 1
        if dev_handle.opened == 0:
            dev_handle.on_close()

    def get_configuration(self, dev_handle: UsbDevice) -> int:
        return 1

    def set_configuration(self, dev_handle: UsbDevice, config_value: int) -> None:
        pass

    def claim_interface(self, dev_handle: UsbDevice, intf: int) -> None:
        with self.claims:
            if dev_handle.claimed or dev_handle.kernel_driver:
                raise usb.core.USBError("Resource busy", errno=errno.EBUSY)
            dev_handle.claimed = True

    def release_interface(self, dev_handle: UsbDevice, intf: int) -> None:
        dev_handle.claimed = False
        if not dev_handle.plugged:
            raise usb.core.USBError("No such device", errno=errno.ENODEV)

    def is_kernel_driver_active(self, dev_handle: UsbDevice, intf: int) -> bool:
        if not self.has_kernel_drivers:
            raise NotImplementedError
        return dev_handle.kernel_driver

    def detach_kernel_driver(self, dev_handle: UsbDevice, intf: int) -> None:
        dev_handle.kernel_driver = False

    def attach_kernel_driver(self, dev_handle: UsbDevice, intf: int) -> None:
        dev_handle.kernel_driver = True

    def clear_halt(self, dev_handle: UsbDevice, ep: int) -> None:
        dev_handle.stalls = 0

    def ctrl_transfer(
        self,
        dev_handle: UsbDevice,
        bmRequestType: int,  # noqa: N803
        bRequest: int,  # noqa: N803
        wValue: int,  # noqa: N803
        wIndex: int,  # noqa: N803
        data: Any,
        timeout: int,
    ) -> int:
        if dev_handle.refuse is not None:
            raise usb.core.USBError("refused", errno=dev_handle.refuse)
        text = b"\x09\x04" if wValue & 0xFF == 0 else dev_handle.serial_number.encode("utf-16-le")
        answer = struct.pack("BB", 2 + len(text), 3) + text
        data[: len(answer)] = array.array("B", answer)
        return len(answer)

    def bulk_write(self, dev_handle: UsbDevice, ep: int, intf: int, data: Any, timeout: int) -> int:
        try:
            return dev_handle.write(bytes(data)[: dev_handle.max_write])
        except Gone:
            raise usb.core.USBError("No such device", errno=errno.ENODEV) from None

    def bulk_read(self, dev_handle: UsbDevice, ep: int, intf: int, buff: Any, timeout: int) -> int:
        if dev_handle.stalls:
            raise usb.core.USBError("Pipe error", errno=errno.EPIPE)
        try:
            data = dev_handle.read(min(len(buff), LONGEST_READ), timeout / 1000)
        except NothingCame:
            raise usb.core.USBTimeoutError("timed out", errno=errno.ETIMEDOUT) from None
        except Gone:
            raise usb.core.USBError("No such device", errno=errno.ENODEV) from None
        buff[: len(data)] = array.array("B", data)
        return len(data)


def pair(**options: Any) -> tuple[UsbDevice, socket.socket]:
    """(device on the bus, the socket behind its endpoints)."""
    near, far = socket.socketpair()
    return UsbDevice(near, **options), far
