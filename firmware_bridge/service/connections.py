"""Asking a device who it is, whatever it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from drivers.registry import open_machine, open_station
from firmware_bridge.errors import FirmwareBridgeError, ProtocolMismatch
from firmware_bridge.service.host import host_identity


async def identify(url: str, directory: Path, timeout: float) -> dict[str, Any]:
    """Who answers on ``url``: kind (machine or station), model, firmware, device_id (16 hex digits).

    A dealing machine is tried first; a device that answers but is none is tried as a base station.
    Raises what the drivers raise: ConfigError, DeviceError, LinkError, ProtocolMismatch.
    """
    host = host_identity(directory)
    machine = open_machine(url, host)
    try:
        found = await machine.connect(timeout)
        return _answer("machine", found.model, found.firmware, found.device_id)
    except ProtocolMismatch:
        raise
    except FirmwareBridgeError as error:
        if error.code != "wrong-device":
            raise
    finally:
        await machine.close()
    station = open_station(url, host)
    try:
        other = await station.connect(timeout)
        return _answer("station", other.model, other.firmware, other.device_id)
    finally:
        await station.close()


def _answer(kind: str, model: str, firmware: str, device_id: int) -> dict[str, Any]:
    return {"kind": kind, "model": model, "firmware": firmware, "device_id": f"{device_id:016x}"}
