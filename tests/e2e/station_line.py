"""A simulated base station and the production service on one line inside the process, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from drivers.base_station import FramedBaseStation
from drivers.host import HostIdentity
from firmware_bridge.db import Connection
from firmware_bridge.simulation.tables_room import Rates, StationRoom
from firmware_bridge.simulation.virtual_time import LoopClock, run_virtual
from hwsim.evidence import Evidence
from terminals.movement.mitchell import mitchell
from terminals.settings import EventSettings
from terminals.store import desk
from terminals.store.desk import Device, DeviceState
from terminals.sync.contacts import DEFAULT_LIMITS, Limits
from terminals.sync.event_store import EventStore
from terminals.sync.service import SyncService
from terminals.sync.setup import EventSetup, new_event


class Evening:
    """Three tables, a Mitchell of three rounds of two boards."""

    def __init__(
        self, room: StationRoom, store: EventStore, service: SyncService, setup: EventSetup, evidence: Evidence
    ) -> None:
        self.evidence = evidence
        self.room, self.store, self.service, self.setup = room, store, service, setup
        self.event = desk.event_hex(setup.id)

    def screen(self, table: int) -> str:
        return "\n".join(self.room.station.terminals[table].screen())

    def desk_events(self, *kinds: str) -> list[desk.DeskEvent]:
        return self.store.read(lambda connection: desk.desk_events(connection, self.event, *kinds))

    async def log(self, kind: str, **data: Any) -> None:
        item = desk.DeskEvent(kind, data)
        await self.store.submit(lambda connection: desk.append_desk(connection, self.event, item))

    async def until(self, true: Callable[[], bool], seconds: float = 4 * 3600.0, step: float = 0.05) -> None:
        """step: seconds between two looks; virtual time is cheap, a look is not."""
        end = asyncio.get_running_loop().time() + seconds
        while not true():
            assert asyncio.get_running_loop().time() < end, "it never happened"
            await asyncio.sleep(step)

    async def played(self) -> None:
        await self.until(lambda: len(self.store.current(self.setup.id)) == 18, step=10.0)
        await self.until(lambda: not any(t.waiting() for t in self.room.station.terminals.values()), step=1.0)


def run_evening(
    tmp_path: Path,
    story: Callable[[Evening], Awaitable[None]],
    prepare: Callable[[Connection, str], None] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    rates: Rates | None = None,
    **settings: Any,
) -> None:
    """Tell ``story`` of an evening with these settings; ``prepare`` fills the store before it begins; ``rates``: what
    goes wrong by itself."""

    async def run() -> None:
        loop = asyncio.get_running_loop()
        setup = new_event(0xE7, "Line", {1: mitchell(3, 2)}, EventSettings().changed(settings))
        store = EventStore.open(tmp_path / "events.db", threaded=False)
        await store.save_setup(setup)
        evidence = Evidence()
        room = StationRoom(1, 3, rates or Rates(), 5, evidence, 115200)

        def begin(connection: Connection) -> None:
            for address in room.station.terminals:
                desk.save_device(connection, Device(room.device(address), DeviceState.ADMITTED, 1, address))
            if prepare is not None:
                prepare(connection, desk.event_hex(setup.id))

        await store.submit(begin)
        clock = LoopClock(loop)
        driver = FramedBaseStation(room, HostIdentity(0xF1, boot_id=7, boot_count=1, firmware="test"), clock)
        service = SyncService(store, setup, {room.url: driver}, clock, limits=limits)
        task = asyncio.create_task(service.run())
        await driver.connect(10.0)
        try:
            await story(Evening(room, store, service, setup, evidence))
        finally:
            await driver.close()
            await task
            room.stop()
            store.close()

    run_virtual(run())
