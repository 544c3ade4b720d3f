"""A running evening put together: store, base stations, browsers, sync service and desk."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from drivers.api import BaseStation
from drivers.host import HostIdentity
from drivers.registry import open_station
from firmware_bridge.clock import Clock, SystemClock
from firmware_bridge.service import desk_clock
from firmware_bridge.service.api_access import Access
from firmware_bridge.service.browser_hub import URL, BrowserHub
from firmware_bridge.service.collecting import Collection, WatchedStation
from firmware_bridge.service.desk import Desk, no_event
from firmware_bridge.service.desk_stream import encode
from firmware_bridge.service.open_lines import open_lines
from firmware_bridge.service.progress import OnEveningEvent
from terminals.store.results import CurrentResult
from terminals.sync.event_store import EventStore
from terminals.sync.service import SyncService
from terminals.sync.setup import EventSetup

SWEEP_S = 5.0
CONNECT_S = 10.0

logger = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def running(
    directory: Path,
    store: EventStore,
    setup: EventSetup | None,
    urls: Sequence[str],
    host: HostIdentity,
    *,
    on_event: OnEveningEvent,
    clock: Clock | None = None,
    stations: Mapping[str, BaseStation] | None = None,
) -> AsyncIterator[tuple[Desk, Collection]]:
    """Collect from ``urls`` and from browsers while the block runs. setup: None when nothing is set up yet.

    stations: more of them, open already. A station that is not there, at the start or later, is told to whoever
    watches and to the desk, and tried again; the evening goes on with the others and with browsers.
    """
    clock = clock or SystemClock()
    hub = BrowserHub(clock.monotonic)
    watched = [WatchedStation(open_station(url, host, clock), on_event) for url in urls]
    all_stations: dict[str, BaseStation] = dict(zip(urls, watched, strict=True))
    all_stations |= dict(stations or {})
    access = Access.open(directory)
    desk = Desk(directory, store, access, hub, clock)
    stations_and_pages = {**all_stations, URL: hub}
    service = SyncService(
        store,
        setup or no_event(),
        stations_and_pages,
        desk.clock,
        on_commit=desk.committed,
        open_lines=open_lines(urls),
    )
    desk.stations = watched
    desk.start(service)
    desk_clock.look(desk)
    collection = _Followed(desk, on_event)
    tasks: list[asyncio.Task[None]] = []
    try:
        await asyncio.gather(*(station.connect(CONNECT_S) for station in (stations or {}).values()))
        await hub.connect(CONNECT_S)
        tasks = [asyncio.create_task(service.run()), asyncio.create_task(_sweep(desk))]
        tasks += [asyncio.create_task(station.keep_connecting(CONNECT_S)) for station in watched]
        collection.running = tasks[0]
        collection.begin()
        yield desk, collection
    finally:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        desk.stream.close()
        await hub.close()
        for station in all_stations.values():
            await station.close()


class _Followed(Collection):
    """The progress of whatever event the desk runs; looked at only when something has changed."""

    def __init__(self, desk: Desk, on_event: OnEveningEvent) -> None:
        super().__init__(desk.store, desk.setup, desk.service, on_event)
        self._desk = desk
        self._looked: tuple[int, int, str] | None = None
        self._missing = 0

    def current(self) -> list[CurrentResult]:
        return list(self._desk.rows.values())

    def look(self) -> int:
        now = (self._desk.setup.id, self._desk.cursor, self.service.collector.trouble)
        if now != self._looked or (self.running is not None and self.running.done()):
            self._looked = now
            self._missing = super().look()
        return self._missing


async def _sweep(desk: Desk) -> None:
    """Now and then: pages that have gone silent, the end of the correction period, lateness."""
    before: object = None
    while True:
        await asyncio.sleep(SWEEP_S)
        await desk.hub.sweep()
        await desk_clock.watch(desk)
        await desk.finish_if_due()
        seen = [
            (
                one.device,
                one.present,
                one.admitted,
                None if one.status is None else (one.status.waiting, one.status.battery),
            )
            for one in desk.service.collector.terminals
        ]
        if seen != before:
            before = seen
            desk.stream.publish(encode("terminals", {}))
