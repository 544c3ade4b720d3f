"""``events.db`` opened for a running service: database, its one writer, and the few questions asked at the start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from firmware_bridge.db import Connect, Connection, Database, Row, Writer, connect_sqlite3
from terminals.store import desk, ledger, results
from terminals.store.desk import Device, EventRow
from terminals.store.results import CurrentResult
from terminals.store.schema import MIGRATIONS
from terminals.sync.evidence import write_evidence
from terminals.sync.rebuild import rebuild
from terminals.sync.setup import EventSetup, setup_from_json, setup_to_json

T = TypeVar("T")
FILE_NAME = "events.db"


class _Rows(list[Row]):
    """Rows of a query with the two methods of a cursor."""

    def fetchone(self) -> Row | None:
        return self[0] if self else None

    def fetchall(self) -> list[Row]:
        return self


class _Reading:
    """A connection for questions: errors come in words, and nothing can be changed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> _Rows:
        return _Rows(self._database.query(sql, parameters))

    def close(self) -> None:
        self._database.close()


class EventStore:
    """Owner of ``events.db``. Writing goes through ``submit``; reading through a connection of its own, which sees
    only what is committed."""

    def __init__(self, database: Database, *, threaded: bool = True, connect: Connect = connect_sqlite3) -> None:
        self.database = database
        self._connect = connect
        self.writer = Writer(database, threaded=threaded)
        self._reader = _Reading(database.reader())

    @classmethod
    def open(
        cls, path: Path, *, threaded: bool = True, connect: Connect = connect_sqlite3, synchronous: str = "FULL"
    ) -> EventStore:
        """Open or create the file. Raises StoreError when it can't be used."""
        database = Database.open(path, MIGRATIONS, connect=connect, synchronous=synchronous)
        return cls(database, threaded=threaded, connect=connect)

    async def submit(self, job: Callable[[Connection], T]) -> T:
        """Run ``job`` in the next transaction; returns when it is on disk. Raises StoreError."""
        return await self.writer.submit(job)

    def read(self, question: Callable[[Connection], T]) -> T:
        """Ask the committed state."""
        return question(self._reader)

    def backup(self, target: Path) -> None:
        """Write a consistent copy while results come in; may be called in any thread. Raises StoreError.

        It has a connection of its own: the writer's is in the middle of a transaction most of the time.
        """
        database = Database.open(self.database.path, MIGRATIONS, connect=self._connect, check=False)
        try:
            database.backup(target)
        finally:
            database.close()

    def close(self) -> None:
        """Commit what waits, then close."""
        self.writer.close()
        self._reader.close()
        self.database.close()

    # --- the event ---

    def load_setup(self, event: int | None = None) -> EventSetup | None:
        """The active event, or the one with this id; None when there is none."""
        row = self.read(lambda connection: desk.load_event(connection, event))
        return None if row is None else setup_from_json(row.id, row.name, row.plan_version, row.setup)

    async def save_setup(self, setup: EventSetup, created: str = "") -> None:
        """Add or change an event and make it the active one. With another event than before every terminal waits to be
        admitted anew."""
        row = EventRow(setup.id, setup.name, setup_to_json(setup), setup.plan_version, created)
        await self.submit(lambda connection: desk.save_event(connection, row))

    def roster(self) -> dict[int, Device]:
        return self.read(desk.devices)

    def journals(self) -> dict[tuple[int, int], int]:
        return self.read(ledger.journals)

    def current(self, event: int, after: int = 0) -> list[CurrentResult]:
        """The current results of an event, ordered by play; only those changed by an event above number ``after``."""
        return self.read(lambda connection: results.current(connection, desk.event_hex(event), after=after))

    async def rebuild(self, event: int) -> int:
        """Make the projection anew; gives how many plays it changed."""
        return await self.submit(lambda connection: rebuild(connection, event))

    def write_evidence(self, event: int, directory: Path) -> None:
        self.read(lambda connection: write_evidence(connection, event, directory))
