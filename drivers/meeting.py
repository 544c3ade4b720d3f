"""The first meeting with a device: whoever connects waits here until the driver knows whom it has before it."""

from __future__ import annotations

import asyncio
from typing import Generic, TypeVar

from drivers.port_task import PortTask
from firmware_bridge.errors import DeviceError, FirmwareBridgeError

Identity = TypeVar("Identity")

BUSY_PAUSE = 1.0
"""Seconds before a device that was busy is asked again."""


class Meeting(Generic[Identity]):
    """Belongs to the owner of ``port``, who says ``met`` or ``failed`` while somebody waits in ``wait``."""

    def __init__(self, port: PortTask) -> None:
        self._port = port
        self._coming: asyncio.Future[Identity] | None = None

    async def wait(self, timeout: float) -> Identity:
        """Open the port and shake hands. Raises DeviceError, LinkLost or ProtocolMismatch, in words for people.

        A device that is held by another program is asked a second time after a moment: most often that program is one
        of ours that has just ended. Whatever goes wrong, the port is closed again, and it may be tried once more.
        """
        ends_at = asyncio.get_running_loop().time() + timeout
        try:
            return await self._once(timeout)
        except DeviceError as error:
            if error.code != "device-busy" or asyncio.get_running_loop().time() + BUSY_PAUSE >= ends_at:
                raise
        await asyncio.sleep(BUSY_PAUSE)
        return await self._once(ends_at - asyncio.get_running_loop().time())

    async def _once(self, timeout: float) -> Identity:
        coming: asyncio.Future[Identity] = asyncio.get_running_loop().create_future()
        self._coming = coming
        try:
            async with asyncio.timeout(timeout):
                await self._port.start()
                return await coming
        except TimeoutError:
            error = self._port.why_silent(timeout)
            await self._port.close()
            raise error from None
        except BaseException:
            await self._port.close()
            raise
        finally:
            if coming.done() and not coming.cancelled():
                coming.exception()  # seen, even if the time ran out at the same moment
            self._coming = None

    def met(self, identity: Identity) -> None:
        """The device has introduced itself."""
        if self._coming is not None and not self._coming.done():
            self._coming.set_result(identity)

    def failed(self, error: FirmwareBridgeError) -> None:
        """It can't be used, and no further attempt is made."""
        if self._coming is not None and not self._coming.done():
            self._coming.set_exception(error)
