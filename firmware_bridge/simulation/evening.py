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
    async with _devices(specs, watch, lines) as devices:
        urls = {device.spec.kind: device.url for device in devices}
        dealing = service.deal(evening, directory, urls["machine"], host, watch, on_event=on_event, evidence=folder)
        dealt = await _while_alive(devices, dealing)
        playing = service.play(evening, directory, [urls["station"]], host, watch, on_event=on_event, evidence=folder)
        outcome = await _while_alive(devices, playing)
    stages = {"machine": watch.total("dealing"), "station": watch.total("play")}
    for kind, line in lines.items():
        line["stage_seconds"] = round(stages[kind], 3)
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
        "line_ratio": _line_ratio(lines),
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
async def _devices(
    specs: dict[str, DeviceSpec], watch: service.Stopwatch, lines: dict[str, Any]
) -> AsyncIterator[list[SimulatedDevice]]:
    """All devices, running while the block does; what their lines did is put into ``lines`` at the end."""
    began = time.monotonic()
    started = await asyncio.gather(*(SimulatedDevice.start(spec) for spec in specs.values()), return_exceptions=True)
    devices = [one for one in started if isinstance(one, SimulatedDevice)]
    watch.add("starting devices", time.monotonic() - began)
    try:
        for one in started:
            if isinstance(one, BaseException):
                raise one
        yield devices
    finally:
        began = time.monotonic()
        for device, summary in zip(devices, await asyncio.gather(*(d.stop() for d in devices)), strict=True):
            lines[device.spec.kind] = _line(summary)
        watch.add("ending devices", time.monotonic() - began)


def _line(summary: dict[str, Any]) -> dict[str, Any]:
    """Bytes both ways, and the seconds in which the line was busy with them."""
    total = int(summary.get("bytes_in", 0)) + int(summary.get("bytes_out", 0))
    return {"bytes": total, "busy_seconds": summary.get("busy_seconds")}


def _line_ratio(lines: dict[str, Any]) -> float | None:
    """Time that dealing and play took, over the time that the lines alone needed; None where no line was paced."""
    busy = sum(line["busy_seconds"] or 0.0 for line in lines.values())
    return round(sum(line["stage_seconds"] for line in lines.values()) / busy, 3) if busy else None


async def _while_alive(devices: list[SimulatedDevice], work: Coroutine[Any, Any, T]) -> T:
    """Do ``work`` while all devices live. Raises DeviceError when one ends by itself."""
    task = asyncio.ensure_future(work)
    deaths = [asyncio.ensure_future(device.ended()) for device in devices]
    try:
        await asyncio.wait([task, *deaths], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            dead = next(device for device in devices if not device.running)
            raise DeviceError(
                f"the simulated {dead.spec.kind} has ended by itself.",
                where=str(dead.spec.state),
                next_step="Start the same command with the same --data to go on.",
                code="simulator-ended",
            )
        return task.result()
    finally:
        for one in (task, *deaths):
            one.cancel()
        await asyncio.wait([task, *deaths])
