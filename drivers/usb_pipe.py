"""A pair of USB bulk endpoints as a ByteStream: the only module that imports pyusb.

The device is found by vendor and product id, and by its serial number when there are several. pyusb blocks, so one
thread reads and one writes; they stop when the pipe is closed. ``backend`` is pyusb's own idea of a backend: None is
libusb, the simulator passes another.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from drivers.transport_stream import READ_HIGH_WATER, lost
from firmware_bridge.errors import DeviceError, LinkLost

_LOG = logging.getLogger(__name__)

READ_SIZE = 4096
POLL_MS = 100
"""How long one blocking read waits; closing takes at most about this long."""

WRITE_MS = 1000
"""A device that takes nothing for so long is gone."""

RELEASE_GRACE = 2.0
VENDORS_OWN = 0xFF
"""The class of an interface that follows no standard."""

_TIMEOUTS = frozenset({errno.ETIMEDOUT, 60, 110, 10060})


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
class _Claimed:
    """An open device with its interface claimed. ``detached``: the kernel's driver was put aside for us."""

    device: Any
    interface: int
    read_from: Any
    write_to: Any
    detached: bool
    serial_number: str


class UsbOpener:
    """Opens the device; the first opening remembers its serial number, so that another one is not taken for it."""

    def __init__(self, address: UsbAddress, url: str, *, backend: Any = None) -> None:
        self._address = address
        self._url = url
        self._backend = backend
        self._serial_number = address.serial_number

    @property
    def url(self) -> str:
        return self._url

    @property
    def bytes_per_second(self) -> None:
        return None

    async def __call__(self) -> UsbPipe:
        """Raises DeviceError when the device is not there, taken, forbidden, or has no pair of bulk endpoints."""
        loop = asyncio.get_running_loop()
        opening = loop.run_in_executor(None, _claim, self._address, self._serial_number, self._backend)
        try:
            claimed = await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_discard)
            raise
        self._serial_number = claimed.serial_number
        return UsbPipe(str(self._address), claimed, loop)


class UsbPipe:
    """The ByteStream. Reading stops while 64 KiB wait to be fetched."""

    def __init__(self, name: str, claimed: _Claimed, loop: asyncio.AbstractEventLoop) -> None:
        self._name = name
        self._claimed = claimed
        self._loop = loop
        self._buffer = bytearray()
        self._readable = asyncio.Event()
        self._may_read = threading.Event()
        self._may_read.set()
        self._stopping = threading.Event()
        self._lost: LinkLost | None = None
        self._closed = False
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="usb write")
        self._reader = threading.Thread(target=self._read_for_ever, name="usb read", daemon=True)
        self._reader.start()

    @property
    def name(self) -> str:
        return self._name

    async def read(self) -> bytes:
        while not self._buffer:
            if self._lost is not None:
                raise self._lost
            if self._closed:
                raise lost(self._name, None)
            self._readable.clear()
            await self._readable.wait()
        data = bytes(self._buffer)
        self._buffer.clear()
        self._may_read.set()
        return data

    async def write(self, data: bytes) -> None:
        if self._lost is not None:
            raise self._lost
        if self._closed:
            raise lost(self._name, None)
        try:
            await self._loop.run_in_executor(self._writer, self._write_all, bytes(data))
        except LinkLost as error:
            self._end(error)
            raise

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._stopping.set()
        self._may_read.set()
        self._readable.set()
        try:
            async with asyncio.timeout(RELEASE_GRACE):
                await self._loop.run_in_executor(None, self._release)
        except TimeoutError:
            _LOG.warning("%s: the system has not released the device yet", self._name)

    # --- in threads ----------------------------------------------------------------------------------------------

    def _read_for_ever(self) -> None:
        import usb.core

        stalls = 0
        while not self._stopping.is_set():
            self._may_read.wait()
            if self._stopping.is_set():
                return
            try:
                data = bytes(self._claimed.read_from.read(READ_SIZE, timeout=POLL_MS))
            except usb.core.USBError as error:
                if _timed_out(error):
                    continue
                if error.errno == errno.EPIPE and stalls < 3 and self._clear_stall():
                    stalls += 1
                    continue
                self._tell(self._end, lost(self._name, error))
                return
            except Exception as error:
                # Backends raise what they like when a device vanishes under them.
                self._tell(self._end, lost(self._name, error))
                return
            if data:
                stalls = 0
                self._tell(self._take, data)

    def _write_all(self, data: bytes) -> None:
        sent = 0
        while sent < len(data):
            try:
                count = int(self._claimed.write_to.write(data[sent:], timeout=WRITE_MS))
            except Exception as error:
                raise lost(self._name, error) from error
            if count <= 0:
                raise lost(self._name, None)
            sent += count

    def _clear_stall(self) -> bool:
        try:
            self._claimed.read_from.clear_halt()
        except (OSError, NotImplementedError):
            return False
        return True

    def _release(self) -> None:
        self._reader.join(RELEASE_GRACE)
        self._writer.shutdown(wait=False)
        _give_back(self._claimed)

    def _tell(self, what: Any, value: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(what, value)
        except RuntimeError:
            # The loop has ended; nobody is left to be told.
            self._stopping.set()

    # --- on the loop ---------------------------------------------------------------------------------------------

    def _take(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) >= READ_HIGH_WATER:
            self._may_read.clear()
        self._readable.set()

    def _end(self, error: LinkLost) -> None:
        if self._lost is None:
            self._lost = error
        self._readable.set()


def _timed_out(error: Exception) -> bool:
    import usb.core

    return isinstance(error, usb.core.USBTimeoutError) or getattr(error, "errno", None) in _TIMEOUTS


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


# --- finding, claiming, giving back ------------------------------------------------------------------------------


def _claim(address: UsbAddress, serial_number: str, backend: Any) -> _Claimed:
    """Blocks. Raises DeviceError."""
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
            raise _explain(error, address) from error
        raise
    for other in devices:
        if other is not device:
            usb.util.dispose_resources(other)
    return _Claimed(device, interface, read_from, write_to, detached, found_number)


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


def _give_back(claimed: _Claimed) -> None:
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


def _discard(opening: asyncio.Future[_Claimed]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        _give_back(opening.result())


def _explain(error: Exception, address: UsbAddress) -> DeviceError:
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
