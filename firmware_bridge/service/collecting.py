"""Collecting an event's results from its base stations: stations, sync service and progress put together."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Sequence

from drivers.api import BaseStation, StationConnected, StationDisconnected, StationEvent, StationIdentity
from drivers.host import HostIdentity
from drivers.registry import open_station
from firmware_bridge.clock import SystemClock
from firmware_bridge.errors import FirmwareBridgeError, ProtocolMismatch
from firmware_bridge.service.open_lines import open_lines
from firmware_bridge.service.progress import Attention, CollectionBegan, OnEveningEvent, ResultStored, StationState
from firmware_bridge.wire.messages import Message
from terminals.store.results import CurrentResult
from terminals.store.values import PlayKey
from terminals.sync.event_store import EventStore
from terminals.sync.service import SyncService
from terminals.sync.setup import EventSetup
from terminals.sync.tables import Cell, cells, missing

CONNECT_S = 10.0
LAST_SCREENS_S = 2.0
"""How long the terminals get, once everything is stored, to show that it was received."""
LOOK_S = 0.05
"""Pause between two looks at what has changed, so that a flood of results costs little."""


RETRY_S = (1.0, 30.0)
"""Shortest and longest pause between two tries to reach a station that was not there at the start."""


class WatchedStation:
    """A base station whose comings and goings are told to whoever watches. trouble: why it is not there, or ""."""

    def __init__(self, station: BaseStation, on_event: OnEveningEvent) -> None:
        self._station = station
        self._on_event = on_event
        self.trouble = ""

    @property
    def url(self) -> str:
        return self._station.url

    async def connect(self, timeout: float) -> StationIdentity:
        return await self._station.connect(timeout)

    async def keep_connecting(self, timeout: float, patience_s: float = math.inf) -> None:
        """Connect, however long it takes: an evening begins although a cable is still missing. Each try that fails in
        another way is told. After ``patience_s`` seconds the last failure is raised, at once if no waiting can help."""
        pause = RETRY_S[0]
        end = asyncio.get_running_loop().time() + patience_s
        while True:
            try:
                await self.connect(timeout)
                return
            except FirmwareBridgeError as error:
                hopeless = isinstance(error, ProtocolMismatch) or error.code == "wrong-device"
                left = end - asyncio.get_running_loop().time()
                if patience_s < math.inf and (hopeless or left <= 0.0):
                    raise
                if error.what != self.trouble:
                    self.trouble = error.what
                    text = f"Base station {self.url} is not there: {error.what} It is tried again. {error.next_step}"
                    self._on_event(StationState(self.url, False, text.rstrip()))
            await asyncio.sleep(min(pause, left))
            pause = min(2 * pause, RETRY_S[1])

    async def send(self, address: int, message: Message) -> None:
        await self._station.send(address, message)

    async def next_event(self) -> StationEvent:
        event = await self._station.next_event()
        if isinstance(event, StationConnected):
            self.trouble = ""
            again = " It has started anew." if event.restarted else ""
            self._on_event(StationState(self.url, True, f"Base station {self.url} is there.{again}"))
        elif isinstance(event, StationDisconnected):
            self.trouble = event.reason
            text = f"Base station {self.url} is gone: {event.reason} Terminals keep their results."
            self._on_event(StationState(self.url, False, text))
        return event

    async def close(self) -> None:
        await self._station.close()


class Collection:
    """The running collection of one event. Use ``async with collecting(...)``."""

    def __init__(self, store: EventStore, setup: EventSetup, service: SyncService, on_event: OnEveningEvent) -> None:
        self.store = store
        self.service = service
        self._event = setup.id
        self._on_event = on_event
        self._rows: dict[PlayKey, CurrentResult] = {}
        self._seen: dict[PlayKey, int] = {}
        self._number = -1
        self._missing = 0
        self._alarms = False
        self.running: asyncio.Task[None] | None = None
        self.changed = asyncio.Event()

    @property
    def setup(self) -> EventSetup:
        return self.service.collector.setup

    def current(self) -> list[CurrentResult]:
        return self.store.current(self._event)

    def begin(self) -> None:
        """Tell what is expected and what is there already."""
        rows = self.current()
        expected: dict[tuple[str, int, int], int] = {}
        stored: dict[tuple[str, int, int], int] = {}
        for cell in cells(self.setup, rows):
            expected[seat(cell)] = expected.get(seat(cell), 0) + 1
            stored[seat(cell)] = stored.get(seat(cell), 0) + has_result(cell)
        self._seen = {row.play: row.changes for row in rows}
        self._on_event(CollectionBegan(expected, stored))

    def look(self) -> int:
        """Tell what has changed since the last look; returns how many results are missing.

        Raises what ended the sync service, if something did.
        """
        if self.running is not None and self.running.done():
            self.running.result()
        changed = self.store.current(self._event, after=max(0, self._number))
        if changed or self._number < 0:
            self._tell(changed)
        trouble = self.service.collector.trouble
        if trouble and not self._alarms:
            self._on_event(Attention(f"results can't be stored at the moment: {trouble}"))
        self._alarms = bool(trouble)
        return self._missing

    def _tell(self, changed: Sequence[CurrentResult]) -> None:
        self._rows.update((row.play, row) for row in changed)
        self._number = max((row.number for row in changed), default=max(0, self._number))
        rows = list(self._rows.values())
        self._missing = len(missing(self.setup, rows))
        found = cells(self.setup, rows)
        here: dict[tuple[str, int, int], int] = {}
        for cell in found:
            here[seat(cell)] = here.get(seat(cell), 0) + has_result(cell)
        stored = sum(here.values())
        for cell in found:
            if cell.result is None or self._seen.get(cell.result.play) == cell.result.changes:
                continue
            self._seen[cell.result.play] = cell.result.changes
            event = ResultStored(cell.section, cell.round, cell.table, cell.board, here[seat(cell)], stored, len(found))
            self._on_event(event)

    async def until_complete(self) -> None:
        """Wait until every scheduled board has a result, then let the terminals show it."""
        while self.look():
            self.changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.changed.wait(), LOOK_S * 4)
            if self.service.collector.queued:
                await asyncio.sleep(LOOK_S / 5)  # a flood of results is looked at in handfuls
        end = asyncio.get_running_loop().time() + LAST_SCREENS_S
        while self._owed() and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(LOOK_S / 5)

    async def watch(self) -> None:
        """Tell what changes until cancelled."""
        while True:
            self.look()
            await asyncio.sleep(LOOK_S * 4)

    def _owed(self) -> bool:
        statuses = [terminal.status for terminal in self.service.collector.terminals if terminal.present]
        return any(status is not None and status.waiting for status in statuses)


@contextlib.asynccontextmanager
async def collecting(
    store: EventStore,
    setup: EventSetup,
    urls: Sequence[str],
    host: HostIdentity,
    *,
    on_event: OnEveningEvent,
    connect_s: float = CONNECT_S,
    patience_s: float = 0.0,
) -> AsyncIterator[Collection]:
    """Connect to every base station and collect while the block runs.

    Raises DeviceError, LinkError or ProtocolMismatch when a station is not there at the start and has not come within
    ``patience_s`` seconds; later losses are reported, and the driver gets the station back. What the block or the
    service raises ends both.
    """
    clock = SystemClock()
    stations = {url: WatchedStation(open_station(url, host, clock), on_event) for url in urls}
    service = SyncService(
        store, setup, stations, clock, on_commit=lambda: collection.changed.set(), open_lines=open_lines(urls)
    )
    collection = Collection(store, setup, service, on_event)
    try:
        await asyncio.gather(*(station.keep_connecting(connect_s, patience_s) for station in stations.values()))
        collection.begin()
        running = collection.running = asyncio.create_task(service.run())
        try:
            yield collection
        finally:
            running.cancel()
            await asyncio.wait([running])
    finally:
        for station in stations.values():
            await station.close()


def seat(cell: Cell) -> tuple[str, int, int]:
    return cell.section, cell.round, cell.table


def has_result(cell: Cell) -> bool:
    return cell.result is not None and cell.result.content is not None
