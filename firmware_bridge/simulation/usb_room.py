"""The line of a soak over USB: production driver and pyusb claim a device on a simulated bus and use its endpoints."""

from __future__ import annotations

from drivers.api import StreamOpener
from drivers.usb_device import UsbAddress
from drivers.usb_pipe import UsbOpener
from firmware_bridge.simulation.dealing_room import RoomLine, RoomMachine
from firmware_bridge.simulation.lockstep import LockstepLoop, VirtualUsb
from hwsim.usb_bus import Backend


class UsbLine(RoomLine):
    """Must be made on a ``LockstepLoop``. A byte error of the line is as often a stalled endpoint."""

    url = "usb://1209:0001"

    def __init__(self, machine: RoomMachine, byte_error: float, seed: int) -> None:
        super().__init__(machine, None, byte_error, seed)
        assert isinstance(self._loop, LockstepLoop)
        self.device = VirtualUsb(self._loop.time, self.from_host)
        self._loop.devices.append(self.device)
        self._stream = _Socket(self.device)
        self._opener = UsbOpener(UsbAddress(self.device.vid, self.device.pid), self.url, backend=Backend(self.device))
        self._soon(0.0)

    @property
    def opener(self) -> StreamOpener:
        return self._opener

    def host_dies(self) -> None:
        self.device.host_dies()

    def _plugged(self) -> None:
        super()._plugged()
        self.device.plug()

    def _to_host(self, data: bytes) -> None:
        spoiled = self._noise.spoil(data)
        if spoiled != data and self._noise.dice.random() < 0.5:
            self.device.stalls = 1
            spoiled = data
        if self.device.plugged and self.device.claimed:
            self.device.feed(spoiled)


class _Socket:
    """What ``RoomLine`` knows of the host's end: the plug."""

    ended = False

    def __init__(self, device: VirtualUsb) -> None:
        self._device = device

    def feed(self, data: bytes) -> None:
        self._device.feed(data)

    def cut(self) -> None:
        self._device.unplug()
