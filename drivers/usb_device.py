"""Finds, claims and gives back USB devices, and says in words why one does not open. Blocking.

A device is found by vendor and product id, and by its serial number when there are several. ``backend`` is pyusb's own
idea of a backend: None is libusb, the simulator passes another. With ``usb_pipe`` the only module that imports pyusb.
"""

from __future__ import annotations

import errno
import logging
import sys
from dataclasses import dataclass
from typing import Any

from firmware_bridge.errors import DeviceError

_LOG = logging.getLogger(__name__)

VENDORS_OWN = 0xFF
"""The class of an interface that follows no standard."""


@dataclass(frozen=True, slots=True)
class UsbAddress:
    """vid, pid: 0-65535. serial_number: "" if there is only one. interface: None takes the first that fits."""

    vid: int
    pid: int
    serial_number: str = ""
    interface: int | None = None

    def __str__(self) -> str:
        number = f" ({self.serial_number})" if self.serial_number else ""
        return f"USB device {self.vid:04x}:{self.pid:04x}{number}"


@dataclass(slots=True)
class Claimed:
    """An open device with its interface claimed. ``detached``: the kernel's driver was put aside for us."""

    device: Any
    interface: int
    read_from: Any
    write_to: Any
    detached: bool
    serial_number: str


@dataclass(frozen=True, slots=True)
class UsbInfo:
    """A USB device that may be one of ours: a pair of bulk endpoints in an interface of the maker's own class."""

    url: str
    description: str
    serial_number: str


def list_usb(backend: Any = None) -> tuple[UsbInfo, ...]:
    """What is plugged in and looks like a device of ours. Empty where USB can't be asked."""
    import usb.core
    import usb.util

    found = []
    try:
        devices = list(usb.core.find(find_all=True, backend=backend) or ())
    except (usb.core.USBError, usb.core.NoBackendError, NotImplementedError):
        return ()
    for device in devices:
        try:
            fits = any(
                interface.bInterfaceClass == VENDORS_OWN and _bulk_pair(interface) is not None
                for configuration in device
                for interface in configuration
            )
            if fits:
                number = _serial_number(device)
                url = f"usb://{device.idVendor:04x}:{device.idProduct:04x}"
                found.append(UsbInfo(f"{url}?serial_number={number}" if number else url, _product(device), number))
        except (usb.core.USBError, NotImplementedError):
            continue
        finally:
            usb.util.dispose_resources(device)
    return tuple(sorted(found, key=lambda one: one.url))


def _product(device: Any) -> str:
    try:
        return str(device.product or "USB device")
    except (OSError, ValueError, NotImplementedError):
        return "USB device; its name can't be read, often for want of permission"


def _bulk_pair(interface: Any) -> tuple[Any, Any] | None:
    """The interface's first bulk endpoint in each direction, to us and from us."""
    import usb.util

    bulk = [e for e in interface if usb.util.endpoint_type(e.bmAttributes) == usb.util.ENDPOINT_TYPE_BULK]
    ways = {usb.util.endpoint_direction(e.bEndpointAddress): e for e in reversed(bulk)}
    return (ways[usb.util.ENDPOINT_IN], ways[usb.util.ENDPOINT_OUT]) if len(ways) == 2 else None


def claim(address: UsbAddress, serial_number: str, backend: Any) -> Claimed:
    """Find and open the device. Blocks. Raises DeviceError."""
    import usb.core
    import usb.util

    devices: list[Any] = []
    try:
        devices = list(usb.core.find(find_all=True, idVendor=address.vid, idProduct=address.pid, backend=backend) or ())
        device, found_number = _choose(devices, address, serial_number)
        interface, read_from, write_to = _endpoints(device, address)
        detached = _detach(device, interface)
        usb.util.claim_interface(device, interface)
    except Exception as error:
        for other in devices:
            usb.util.dispose_resources(other)
        if isinstance(error, usb.core.USBError | usb.core.NoBackendError | NotImplementedError):
            raise explain(error, address) from error
        raise
    for other in devices:
        if other is not device:
            usb.util.dispose_resources(other)
    return Claimed(device, interface, read_from, write_to, detached, found_number)


def _choose(devices: list[Any], address: UsbAddress, serial_number: str) -> tuple[Any, str]:
    """The device that is meant, and its serial number."""
    numbers = [_serial_number(device) for device in devices]
    if serial_number:
        chosen = [pair for pair in zip(devices, numbers, strict=True) if pair[1] == serial_number]
    else:
        chosen = list(zip(devices, numbers, strict=True))
    if not chosen and "" in numbers:
        # Its number can't be read: most often because it may not be opened, and then this says so.
        devices[numbers.index("")].get_active_configuration()
    if not chosen:
        raise DeviceError(
            "The USB device is not plugged in.",
            where=str(address),
            next_step="Plug it in and switch it on; `firmware-bridge devices` shows what there is.",
            code="port-missing",
        )
    if len(chosen) > 1:
        listed = ", ".join(number or "one without a number" for number in numbers)
        raise DeviceError(
            f"There are {len(chosen)} of them (serial numbers: {listed}).",
            where=str(address),
            next_step="Say which: add ?serial_number=... to the URL.",
            code="port-ambiguous",
        )
    return chosen[0]


def _serial_number(device: Any) -> str:
    try:
        return str(device.serial_number or "")
    except (OSError, ValueError, NotImplementedError):
        # Not allowed to read it, or no language table: then the device has no number for us.
        return ""


def _endpoints(device: Any, address: UsbAddress) -> tuple[int, Any, Any]:
    """The interface that has a bulk endpoint in each direction, the vendor's own class first."""
    import usb.core

    try:
        configuration = device.get_active_configuration()
    except usb.core.USBError:
        device.set_configuration()
        configuration = device.get_active_configuration()
    candidates = []
    for interface in configuration:
        number = interface.bInterfaceNumber
        if address.interface not in (None, number) or interface.bAlternateSetting != 0:
            continue
        pair = _bulk_pair(interface)
        if pair is not None:
            candidates.append((interface.bInterfaceClass != VENDORS_OWN, number, pair))
    if not candidates:
        raise DeviceError(
            "This USB device has no pair of bulk endpoints to talk through.",
            where=str(address),
            next_step="Check vendor and product id; a device that appears as a serial port needs a serial:// URL.",
            code="wrong-device",
        )
    _, number, (read_from, write_to) = min(candidates, key=lambda item: item[:2])
    return number, read_from, write_to


def _detach(device: Any, interface: int) -> bool:
    """Put the kernel's driver aside where there is one. Windows has no such thing and needs none."""
    import usb.core

    try:
        if device.is_kernel_driver_active(interface):
            device.detach_kernel_driver(interface)
            return True
    except NotImplementedError:
        return False
    except usb.core.USBError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EBUSY):
            raise
    return False


def give_back(claimed: Claimed) -> None:
    """Blocks. The kernel gets its interface back; never raises."""
    import usb.core
    import usb.util

    try:
        usb.util.release_interface(claimed.device, claimed.interface)
        if claimed.detached:
            claimed.device.attach_kernel_driver(claimed.interface)
    except (usb.core.USBError, NotImplementedError) as error:
        _LOG.debug("giving a USB device back: %s", error)
    finally:
        usb.util.dispose_resources(claimed.device)


def explain(error: Exception, address: UsbAddress) -> DeviceError:
    """What stands in the way of opening a device, in an operator's words."""
    import usb.core

    where = str(address)
    number = getattr(error, "errno", None)
    windows = sys.platform == "win32"
    if isinstance(error, usb.core.NoBackendError):
        return DeviceError(
            "This computer lacks libusb, the library for USB devices.",
            where=where,
            next_step="Install it: `sudo apt install libusb-1.0-0` on Linux, `brew install libusb` on macOS, "
            "see docs/devices.md for Windows.",
            code="usb-library",
        )
    if isinstance(error, NotImplementedError) or (windows and number in (errno.ENOENT, errno.EACCES, None)):
        return DeviceError(
            "Windows has no WinUSB driver for this device.",
            where=where,
            next_step="Install the WinUSB driver for it once with Zadig (docs/devices.md).",
            code="usb-driver",
        )
    if number in (errno.EACCES, errno.EPERM):
        return DeviceError(
            "You may not open the USB device.",
            where=where,
            next_step="Install the udev rule of docs/devices.md, then unplug the device and plug it in again.",
            code="port-permission",
        )
    if number == errno.EBUSY:
        return DeviceError(
            "Another program holds the USB device.",
            where=where,
            next_step="Close the other program; if there is none, unplug the device and plug it in again.",
            code="port-busy",
        )
    if number in (errno.ENODEV, errno.ENXIO):
        return DeviceError(
            "The USB device went away while it was being opened.",
            where=where,
            next_step="Check the cable, and use a socket on the computer itself instead of a hub.",
            code="port-missing",
        )
    return DeviceError(
        f"The USB device does not open ({error}).",
        where=where,
        next_step="Unplug it and plug it in again.",
        code="port-unusable",
    )
