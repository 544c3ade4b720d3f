"""A pair of USB bulk endpoints as a ByteStream.

pyusb blocks, so one thread reads and one writes; they stop when the pipe is closed. Finding and claiming the device is
``usb_device``'s.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from drivers.transport_stream import READ_HIGH_WATER, lost
from drivers.usb_device import Claimed, UsbAddress, claim, give_back
from firmware_bridge.errors import LinkLost

_LOG = logging.getLogger(__name__)

READ_SIZE = 4096
POLL_MS = 100
"""How long one blocking read waits; closing takes at most about this long."""

WRITE_MS = 1000
"""A device that takes nothing for so long is gone."""

RELEASE_GRACE = 2.0

_TIMEOUTS = frozenset({errno.ETIMEDOUT, 60, 110, 10060})


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
        opening = loop.run_in_executor(None, claim, self._address, self._serial_number, self._backend)
        try:
            claimed = await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_discard)
            raise
        self._serial_number = claimed.serial_number
        return UsbPipe(str(self._address), claimed, loop)


class UsbPipe:
    """The ByteStream. Reading stops while 64 KiB wait to be fetched."""

    def __init__(self, name: str, claimed: Claimed, loop: asyncio.AbstractEventLoop) -> None:
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
        give_back(self._claimed)

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


def _discard(opening: asyncio.Future[Claimed]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        give_back(opening.result())
