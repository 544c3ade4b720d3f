"""Promises of the async shell: everything reaches the store through real tasks, and trouble with the disk passes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sync_fakes import CLUB, EVENT, FakeTerminal, an_event, body

from drivers.api import StationConnected, StationEvent, StationIdentity, StationMessage
from firmware_bridge.clock import SystemClock
from firmware_bridge.db import Connection, connect_sqlite3
from firmware_bridge.errors import LinkLost
from firmware_bridge.wire.messages import Message
from terminals.store import ledger
from terminals.store.results import CurrentResult
from terminals.store.values import RecordKey
from terminals.sync.contacts import Limits
from terminals.sync.event_store import EventStore
from terminals.sync.ingest import ingest
from terminals.sync.jobs import Done, Job, TakeRecord
from terminals.sync.service import Ingest, SyncService
from terminals.sync.setup import EventSetup

LIMITS = Limits(probe_every=0.2)


class FakeStation:
    """A base station with fake terminals that answer at once."""

    url = "fake:"

    def __init__(self, terminals: list[FakeTerminal]) -> None:
        self.terminals = {terminal.address: terminal for terminal in terminals}
        self.events: asyncio.Queue[StationEvent | None] = asyncio.Queue()

    async def connect(self, timeout: float) -> StationIdentity:
        return StationIdentity(9, "fake", "1", 1)

    def begin(self) -> None:
        self.events.put_nowait(StationConnected(StationIdentity(9, "fake", "1", 1), False))
        for terminal in self.terminals.values():
            for message in terminal.boot():
                self.say(terminal, message)

    def say(self, terminal: FakeTerminal, message: Message) -> None:
        self.events.put_nowait(StationMessage(terminal.address, message))

    async def send(self, address: int, message: Message) -> None:
        for number, terminal in self.terminals.items():
            if address in (0, number):
                for answer in [*terminal.receive(message), *terminal.to_send()]:
                    self.say(terminal, answer)

    async def next_event(self) -> StationEvent:
        event = await self.events.get()
        if event is None:
            raise LinkLost("closed")
        return event

    async def close(self) -> None:
        self.events.put_nowait(None)


class Disk:
    """A SQLite that takes nothing as long as somebody says so."""

    def __init__(self, why: str) -> None:
        self.why = why
        self.full = False

    def connect(self, path: str) -> Connection:
        outer = self
        inner = connect_sqlite3(path)

        class Watched:
            def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Any:
                if outer.full and sql.startswith(("INSERT", "COMMIT", "UPDATE")):
                    import sqlite3

                    raise sqlite3.OperationalError(outer.why)
                return inner.execute(sql, parameters)

            def close(self) -> None:
                inner.close()

        return Watched()


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.01)


def an_evening(tables: int) -> list[FakeTerminal]:
    """Terminals of the club's movement with a whole round keyed in."""
    terminals = []
    for table in range(1, tables + 1):
        terminal = FakeTerminal(0xA00 + table, table, table=table)
        for number in range(1, CLUB.rounds + 1):
            seating = CLUB.at(number, table)
            for board in seating.boards if seating else ():
                assert seating is not None
                terminal.enter(body(table=table, round=number, ns=seating.ns, ew=seating.ew, board=board))
        terminals.append(terminal)
    return terminals


def with_service(
    tmp_path: Path,
    story: Callable[[SyncService, FakeStation, EventStore], Awaitable[None]],
    *,
    threaded: bool = True,
    disk: Disk | None = None,
    take: Ingest = ingest,
) -> list[CurrentResult]:
    async def run() -> list[CurrentResult]:
        connect = disk.connect if disk is not None else connect_sqlite3
        store = EventStore.open(tmp_path / "events.db", threaded=threaded, connect=connect)
        setup = an_event(CLUB)
        await store.save_setup(setup, "today")
        assert store.load_setup() == setup
        station = FakeStation(an_evening(7))
        service = SyncService(store, setup, {"base": station}, SystemClock(), limits=LIMITS, take=take)
        task = asyncio.create_task(service.run())
        station.begin()
        await story(service, station, store)
        await station.close()
        await task
        found = store.current(EVENT)
        store.close()
        return found

    return asyncio.run(run())


def all_shown(station: FakeStation) -> bool:
    return all(not terminal.waiting() for terminal in station.terminals.values())


def test_a_whole_evening_arrives(tmp_path: Path) -> None:
    async def story(service: SyncService, station: FakeStation, store: EventStore) -> None:
        await until(lambda: all_shown(station))
        assert store.writer.commits < 7 * 28, "commits are shared by terminals"

    for threaded in (True, False):
        found = with_service(tmp_path / str(threaded), story, threaded=threaded)
        assert len(found) == CLUB.expected_results()
        assert {row.status for row in found} == {"confirmed"}


@pytest.mark.parametrize(
    ("why", "told"),
    [
        ("database or disk is full", "disk is full"),
        ("database is locked", "another program holds"),
        ("attempt to write a readonly database", "can't be written"),
        ("disk I/O error", "reports an error"),
    ],
)
def test_a_disk_that_takes_nothing_stops_the_evening_only_as_long(tmp_path: Path, why: str, told: str) -> None:
    disk = Disk(why)

    async def story(service: SyncService, station: FakeStation, store: EventStore) -> None:
        await until(lambda: any(terminal.shown for terminal in station.terminals.values()))
        disk.full = True
        await until(lambda: service.collector.trouble != "")
        assert told in service.collector.trouble
        stored = store.read(lambda connection: len(list(ledger.records(connection))))
        await asyncio.sleep(0.3)
        assert store.read(lambda connection: len(list(ledger.records(connection)))) == stored
        assert sum(len(terminal.shown) for terminal in station.terminals.values()) <= stored
        disk.full = False
        await until(lambda: all_shown(station))

    assert len(with_service(tmp_path, story, disk=disk)) == CLUB.expected_results()


def test_a_fault_of_our_own_acknowledges_nothing_and_ends_nothing(tmp_path: Path) -> None:
    broken = [True]

    def take(connection: Connection, /, setup: EventSetup, jobs: Sequence[Job]) -> list[Done]:
        if broken[0] and any(isinstance(job, TakeRecord) for job in jobs):
            raise ZeroDivisionError("a fault of our own")
        return ingest(connection, setup, jobs)

    async def story(service: SyncService, station: FakeStation, store: EventStore) -> None:
        await until(lambda: service.collector.trouble != "")
        assert "ZeroDivisionError" in service.collector.trouble
        assert not any(terminal.shown for terminal in station.terminals.values())
        broken[0] = False
        await until(lambda: all_shown(station))

    assert len(with_service(tmp_path, story, take=take)) == CLUB.expected_results()


def test_a_backup_is_made_while_results_come_in(tmp_path: Path) -> None:
    copies: list[Path] = []

    async def story(service: SyncService, station: FakeStation, store: EventStore) -> None:
        while not all_shown(station):
            target = tmp_path / f"backup-{len(copies)}.db"
            before = dict(next(iter(station.terminals.values())).shown)
            await asyncio.to_thread(store.backup, target)
            copies.append(target)
            copy = EventStore.open(target, threaded=False)
            kept = {record.raw.key for record in copy.read(lambda connection: list(ledger.records(connection)))}
            assert {RecordKey(*key) for key in before} <= kept, "what was acknowledged before is in the copy"
            copy.close()
            await asyncio.sleep(0.01)

    assert len(with_service(tmp_path, story)) == CLUB.expected_results()
    assert copies
    assert not list(tmp_path.glob("*.part"))
