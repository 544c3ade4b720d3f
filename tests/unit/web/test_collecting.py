"""Promises about base stations that are not there at the start: waited for as long as somebody has patience."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from drivers.api import StationEvent, StationIdentity
from firmware_bridge.errors import DeviceError, FirmwareBridgeError, LinkLost, ProtocolMismatch
from firmware_bridge.service import collecting
from firmware_bridge.service.collecting import WatchedStation
from firmware_bridge.service.progress import StationState
from firmware_bridge.wire.messages import Message

URL = "serial:///dev/ttyNONE"
GONE = DeviceError("The serial port does not exist.", where=URL)


class Late:
    """A station that can be met only after some tries."""

    url = URL

    def __init__(self, *failures: FirmwareBridgeError) -> None:
        self._failures = list(failures)
        self.tries = 0

    async def connect(self, timeout: float) -> StationIdentity:
        self.tries += 1
        if self._failures:
            raise self._failures.pop(0)
        return StationIdentity(1, "late", "1", 1)

    async def send(self, address: int, message: Message) -> None:
        raise NotImplementedError

    async def next_event(self) -> StationEvent:
        raise NotImplementedError

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "RETRY_S", (0.0, 0.0))


def meet(station: Late, **patience: float) -> list[Any]:
    told: list[Any] = []
    asyncio.run(WatchedStation(station, told.append).keep_connecting(1.0, **patience))
    return told


@pytest.mark.parametrize("patience", [{}, {"patience_s": 1000.0}])
def test_a_station_that_comes_late_is_waited_for_and_told_once(patience: dict[str, float]) -> None:
    station = Late(GONE, GONE, LinkLost("The device does not answer: nothing came at all.", where=URL))
    told = meet(station, **patience)
    assert station.tries == 4
    assert [isinstance(one, StationState) and not one.up for one in told] == [True, True]
    assert "does not exist. It is tried again" in told[0].text


def test_without_patience_the_first_failure_counts() -> None:
    station = Late(GONE)
    with pytest.raises(DeviceError):
        meet(station, patience_s=0.0)
    assert station.tries == 1


@pytest.mark.parametrize(
    "error",
    [
        ProtocolMismatch("The device speaks another protocol."),
        DeviceError("This is a dealing machine.", code="wrong-device"),
    ],
)
def test_no_patience_helps_against_the_wrong_device(error: FirmwareBridgeError) -> None:
    station = Late(error)
    with pytest.raises(type(error)):
        meet(station, patience_s=1000.0)
    assert station.tries == 1
