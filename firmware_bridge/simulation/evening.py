"""``evening --simulate``: the same evening, on simulated devices that are started for it and checked afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from firmware_bridge.errors import DeviceError, FirmwareBridgeError
from firmware_bridge.service import evening as service
from firmware_bridge.service.dealing import shortfall
from firmware_bridge.service.evening_plan import EveningRequest
from firmware_bridge.service.evidence import lost_and_doubled, prepare_evidence
from firmware_bridge.service.host import host_identity
from firmware_bridge.service.progress import OnEveningEvent
from firmware_bridge.service.ranking import GroupRanking, rankings_json
from firmware_bridge.simulation.devices import DeviceSpec, SimulatedDevice

T = TypeVar("T")
SIM = "sim"


@dataclass(frozen=True, slots=True)
class SimulatedEvening:
    """What a simulated evening ended with. fields: the keys of ``--json``; error: set when it fell short."""

    fields: dict[str, Any]
    rankings: tuple[GroupRanking, ...]
    error: FirmwareBridgeError | None


async def run(
    directory: Path,
    request: EveningRequest,
    speed: str,
    *,
    on_event: OnEveningEvent,
    evidence: Path | None = None,
    baud: int = 115200,
) -> SimulatedEvening:
    """Deal, play and rank on simulated devices, then compare what they show with what is stored.

    speed: real, demo, line or max. evidence: where the evidence goes; a folder inside ``directory`` if left out.
    """
    began = time.monotonic()
    watch = service.Stopwatch()
    evening = service.prepare(directory, request)
    folder = evidence or directory / SIM / "evidence"
    prepare_evidence(folder, f"{evening.plan.event_id:016x}")
    service.announce(evening, on_event)
    host = host_identity(directory)
    seed = evening.plan.seed or 0
    specs = {
        kind: DeviceSpec(kind, directory / SIM / kind, seed, speed, baud, folder, options)
        for kind, options in (("machine", ()), ("station", ("--terminals", str(evening.movement.tables))))
    }
    lines: dict[str, Any] = {}
    async with _device(specs["machine"], watch, lines) as machine:
        dealt = await _alive(
            machine,
            service.deal(evening, directory, machine.url, host, watch, on_event=on_event, evidence=folder),
        )
    async with _device(specs["station"], watch, lines) as station:
        outcome = await _alive(
            station,
            service.play(evening, directory, [station.url], host, watch, on_event=on_event, evidence=folder),
        )
    lost, duplicated = lost_and_doubled(folder)
    fields = {
        "simulated": True,
        "seed": seed,
        "speed": speed,
        "data": str(directory),
        **service.summary_fields(evening, dealt, outcome),
        "lost": lost,
        "duplicated": duplicated,
        "rankings": rankings_json(outcome.rankings),
        "seconds": {"total": round(time.monotonic() - began, 3), **watch.rounded()},
        "lines": lines,
    }
    error = shortfall(dealt) or _shortfall(lost, duplicated)
    return SimulatedEvening(fields, outcome.rankings, error)


def _shortfall(lost: int, duplicated: int) -> FirmwareBridgeError | None:
    if not lost and not duplicated:
        return None
    return FirmwareBridgeError(
        f"{lost} results that were shown as received are not stored, {duplicated} are stored twice.",
        next_step="Please report this with the data directory: it must never happen.",
        code="promise-broken",
    )


@contextlib.asynccontextmanager
async def _device(spec: DeviceSpec, watch: service.Stopwatch, lines: dict[str, Any]) -> AsyncIterator[SimulatedDevice]:
    """A device that runs while the block does; what its line did is put into ``lines``."""
    began = time.monotonic()
    device = await SimulatedDevice.start(spec)
    watch.add("starting devices", time.monotonic() - began)
    try:
        yield device
    finally:
        began = time.monotonic()
        summary = await device.stop()
        watch.add("ending devices", time.monotonic() - began)
        lines[spec.kind] = _line(summary)


def _line(summary: dict[str, Any]) -> dict[str, Any]:
    """Bytes, seconds in which the line was busy, seconds from its first to its last byte, and their ratio."""
    busy, first, last = (summary.get(key) for key in ("busy_seconds", "first_byte", "last_byte"))
    span = None if first is None or last is None else round(last - first, 3)
    ratio = round(span / busy, 3) if busy and span else None
    return {
        "bytes": summary.get("bytes_in", 0) + summary.get("bytes_out", 0),
        "busy_seconds": busy,
        "span_seconds": span,
        "ratio": ratio,
    }


async def _alive(device: SimulatedDevice, work: Coroutine[Any, Any, T]) -> T:
    """Do ``work`` while the device lives. Raises DeviceError when it ends by itself."""
    task = asyncio.ensure_future(work)
    death = asyncio.ensure_future(device.ended())
    try:
        await asyncio.wait([task, death], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise DeviceError(
                f"the simulated {device.spec.kind} has ended by itself.",
                where=str(device.spec.state),
                next_step="Start the same command with the same --data to go on.",
                code="simulator-ended",
            )
        return task.result()
    finally:
        for one in (task, death):
            if not one.done():
                one.cancel()
        await asyncio.wait([task, death])
