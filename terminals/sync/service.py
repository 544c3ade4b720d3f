"""The sync service: base stations on one side, the store on the other, the collector between them. Thin and async.

One task reads and one writes for each station; one task commits. Nothing here decides anything: that is the collector's
business, so that a test in virtual time and a club evening run the same rules.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from drivers.api import BaseStation
from firmware_bridge.clock import Clock
from firmware_bridge.db import Connection
from firmware_bridge.errors import LinkError, StoreError
from firmware_bridge.wire.numbers import AskFor
from terminals.store import desk, table_events
from terminals.sync.calls import ANSWERED, KINDS, calls, told_by
from terminals.sync.collector import Collector
from terminals.sync.contacts import DEFAULT_LIMITS, Limits, Send
from terminals.sync.event_store import EventStore
from terminals.sync.ingest import ingest
from terminals.sync.jobs import Done, Job
from terminals.sync.setup import EventSetup, section_number

_LOG = logging.getLogger(__name__)

OUTGOING = 4096
"""Messages that may wait for one station. What is dropped above that comes again: terminals repeat, we acknowledge."""


class Ingest(Protocol):
    """What one batch does to the store; ``take=`` is a parameter so that a control run can leave a check out."""

    def __call__(self, connection: Connection, /, setup: EventSetup, jobs: Sequence[Job]) -> list[Done]: ...


class SyncService:
    """Run it with ``run``; it ends when it is cancelled, or when every station is closed."""

    def __init__(
        self,
        store: EventStore,
        setup: EventSetup,
        stations: Mapping[str, BaseStation],
        clock: Clock,
        *,
        limits: Limits = DEFAULT_LIMITS,
        on_commit: Callable[[], None] | None = None,
        take: Ingest = ingest,
        open_lines: Iterable[str] = (),
    ) -> None:
        """open_lines: stations whose line is a network that others are in; their terminals must have keys."""
        self.collector = Collector(setup, store.roster(), store.journals(), limits)
        self.collector.open_lines = frozenset(open_lines)
        self.dropped = 0
        self._store = store
        self._stations = dict(stations)
        self._clock = clock
        self._on_commit = on_commit
        self._take = take
        self._work = asyncio.Event()
        self._call_events = 0
        self._names_told = 0
        self._outgoing = {name: asyncio.Queue[Send](OUTGOING) for name in stations}

    async def run(self) -> None:
        """Serve all stations until cancelled."""
        self._remember_calls()
        async with asyncio.TaskGroup() as group:
            helpers = [group.create_task(self._commit()), group.create_task(self._tick())]
            readers = []
            for name, station in self._stations.items():
                helpers.append(group.create_task(self._write(name, station)))
                readers.append(group.create_task(self._read(name, station)))
            await asyncio.gather(*readers)
            await self._settle()
            for helper in helpers:
                helper.cancel()

    def send(self, sends: Iterable[Send]) -> None:
        """Queue messages, for example those of ``collector.text``."""
        for send in sends:
            queue = self._outgoing.get(send.station)
            if queue is None:
                continue
            try:
                queue.put_nowait(send)
            except asyncio.QueueFull:
                self.dropped += 1

    async def change_setup(self, setup: EventSetup) -> None:
        """Store a changed event, then tell the terminals."""
        await self._store.save_setup(setup)
        self.send(self.collector.set_setup(setup, self._clock.monotonic()))

    async def change_device(self, device: desk.Device) -> None:
        """Store what the director decided about a terminal, then tell it. Raises StoreError when its table is taken."""
        await self._store.submit(lambda connection: desk.save_device(connection, device))
        self.send(self.collector.set_device(device, self._clock.monotonic()))

    # --- tasks ---

    async def _read(self, name: str, station: BaseStation) -> None:
        while True:
            try:
                event = await station.next_event()
            except LinkError:
                return  # closed
            wall = self._clock.wall().isoformat(timespec="seconds")
            self.send(self.collector.receive(name, event, self._clock.monotonic(), wall))
            self._work.set()

    async def _write(self, name: str, station: BaseStation) -> None:
        queue = self._outgoing[name]
        while True:
            send = await queue.get()
            # Without a link the message is lost; the terminal introduces itself again when there is one.
            with contextlib.suppress(LinkError):
                await station.send(send.address, send.message)

    async def _commit(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            await self._settle()

    async def _settle(self) -> None:
        """Commit until nothing waits."""
        while (batch := self.collector.take()) is not None:
            job = functools.partial(self._take, setup=self.collector.setup, jobs=batch.jobs)
            try:
                done = await self._store.submit(job)
            except StoreError as error:
                self.send(self.collector.failed(batch, str(error), self._clock.monotonic()))
                return
            except Exception as error:
                # A fault of ours: nothing was stored, so nothing is acknowledged, and everybody can go on.
                _LOG.exception("a batch of %d could not be stored", len(batch.work))
                why = f"the store itself failed ({type(error).__name__}); please report this with the log."
                self.send(self.collector.failed(batch, why, self._clock.monotonic(), again=False))
                return
            self.send(self.collector.committed(batch, done, self._clock.monotonic()))
            if self._on_commit is not None:
                self._on_commit()

    async def _tick(self) -> None:
        while True:
            # Short naps instead of an alarm for each deadline: a question more or less late harms nobody.
            await asyncio.sleep(0.5)
            now = self._clock.monotonic()
            probe = self.collector.probe_due
            if probe is not None and now >= probe:
                try:
                    await self._store.submit(desk.probe)
                except StoreError as error:
                    self.collector.probe_failed(str(error), now)
                else:
                    self.send(self.collector.recovered())
                    self._work.set()
            self._tell_calls()
            self._tell_names()
            deadline = self.collector.next_deadline()
            if deadline is not None and now >= deadline:
                self.send(self.collector.tick(now))
                self._work.set()

    def _remember_calls(self) -> None:
        """Calls that were open when the program stopped are open still."""
        event = desk.event_hex(self.collector.setup.id)
        items = self._store.read(lambda connection: desk.desk_events(connection, event, *KINDS))
        self._call_events = max((item.number for item in items), default=0)
        self._names_told, _ = self._store.read(lambda connection: table_events.people_changed(connection, event, 0))
        for call in calls(items).values():
            if call.open:
                self.collector.call_state(call.section, call.table, call.state)

    def _tell_names(self) -> None:
        """Tell the tables which names have changed since the last time, whoever changed them."""
        event, after = desk.event_hex(self.collector.setup.id), self._names_told
        try:
            self._names_told, changed = self._store.read(lambda c: table_events.people_changed(c, event, after))
        except StoreError:
            return
        for letter, pair in changed:
            self.collector.tell(section_number(letter), pair, AskFor.NAMES)
        if changed:
            self._work.set()

    def _tell_calls(self) -> None:
        """Tell the tables what the desk has answered since the last time."""
        event, after = desk.event_hex(self.collector.setup.id), self._call_events
        try:
            items = self._store.read(lambda connection: desk.desk_events(connection, event, ANSWERED, after=after))
        except StoreError:
            return  # the disk has trouble; the answer is told when it can be read
        for item in items:
            self._call_events = item.number
            call = told_by(item)
            if call is not None:
                self.send(self.collector.call_state(call.section, call.table, call.state))
