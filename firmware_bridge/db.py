"""SQLite as this program uses it: opened one way, settings read back, one writer with group commit, online backup.

The only module that imports sqlite3. Durability: WAL with ``synchronous=FULL`` (``fullfsync`` on macOS), because with
NORMAL a power cut takes back rows that were already acknowledged. ``connect=`` takes any function that returns a
``Connection``, so that tests can put another SQLite (and a disk that loses power) underneath.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from firmware_bridge.errors import ExitStatus, StoreError

if TYPE_CHECKING:
    import asyncio
    import queue
    import threading

T = TypeVar("T")
Row = tuple[Any, ...]
BUSY_TIMEOUT_MS = 5000
MAX_BATCH = 512


class Connection(Protocol):
    """What is needed of a connection: autocommit mode, ``execute`` with ``?`` parameters, ``close``."""

    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Any: ...
    def close(self) -> Any: ...


Connect = Callable[[str], Connection]


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step of a schema. ``version`` counts 1, 2, 3 ...; ``statements`` run in order in one transaction."""

    version: int
    statements: tuple[str, ...]


def connect_sqlite3(path: str) -> Connection:
    """The standard library's SQLite, in autocommit mode, usable from the writer's thread."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY_TIMEOUT_MS / 1000)


class Database:
    """One open database file. Not for use by two threads at once, except through ``Writer``."""

    def __init__(self, path: Path, connection: Connection, connect: Connect) -> None:
        self.path = path
        self._connection = connection
        self._connect = connect
        self._in_transaction = False

    @classmethod
    def open(
        cls,
        path: Path,
        migrations: Sequence[Migration],
        *,
        connect: Connect = connect_sqlite3,
        synchronous: str = "FULL",
        check: bool = True,
    ) -> Database:
        """Open or create ``path`` and bring its schema to the newest of ``migrations``.

        ``synchronous`` is a parameter only so that tests can show what goes wrong with less than FULL.
        Raises StoreError when the file can't be opened, is damaged, or was written by a newer program.
        """
        with in_words(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh = not path.exists()
            connection = connect(str(path))
            try:
                if fresh:
                    # Names of players and settings are nobody else's business on a shared club PC.
                    with contextlib.suppress(OSError):
                        os.chmod(path, 0o600)
                _set_pragmas(connection, path, synchronous)
                database = cls(path, connection, connect)
                if check and not fresh:
                    database.check()
                database._migrate(migrations)
            except BaseException:
                connection.close()
                raise
        return database

    def _migrate(self, migrations: Sequence[Migration]) -> None:
        newest = max((m.version for m in migrations), default=0)
        found = self.version
        if found > newest:
            raise StoreError(
                f"the file was written by a newer version of this program (schema {found}, this one knows {newest}).",
                where=str(self.path),
                next_step="Update the program, or choose another data directory with --data.",
                code="store-newer",
            )
        for migration in sorted(migrations, key=lambda m: m.version):
            if migration.version <= found:
                continue
            with self.transaction() as connection:
                # Another process may have been faster; look again now that the file is ours.
                if connection.execute("PRAGMA user_version").fetchone()[0] >= migration.version:
                    continue
                for statement in migration.statements:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {int(migration.version)}")

    @property
    def version(self) -> int:
        return int(self._connection.execute("PRAGMA user_version").fetchone()[0])

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Connection]:
        """BEGIN IMMEDIATE ... COMMIT; rolled back when the block raises. When it has returned, the rows are on disk.

        Raises StoreError when the file is locked, full or read-only; nothing of the block is then kept.
        """
        if self._in_transaction:
            raise RuntimeError("transactions do not nest")
        with in_words(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            self._in_transaction = True
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(Exception):
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._in_transaction = False

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """All rows of a SELECT."""
        with in_words(self.path):
            return list(self._connection.execute(sql, tuple(parameters)).fetchall())

    def reader(self) -> Database:
        """A second connection that only reads and sees only what is committed."""
        with in_words(self.path):
            connection = self._connect(str(self.path))
            connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}").fetchall()
            connection.execute("PRAGMA query_only = 1").fetchall()
        return Database(self.path, connection, self._connect)

    def check(self) -> None:
        """Raises StoreError when SQLite finds the file damaged."""
        with in_words(self.path):
            rows = [str(row[0]) for row in self._connection.execute("PRAGMA quick_check(10)").fetchall()]
        if rows != ["ok"]:
            raise StoreError(
                "the database is damaged.",
                where=str(self.path),
                next_step=_DAMAGED_NEXT,
                code="store-damaged",
            )

    def backup(self, target: Path) -> None:
        """Write a consistent copy to ``target`` while the program runs; a half-written copy never gets that name.

        Raises StoreError when its directory does not exist (a stick that is not there), is full or can't be written
        to, and when ``target`` is this database itself or a file that is no database.
        """
        _may_be_copied_to(self.path, target)
        temporary = target.with_name(target.name + ".part")
        try:
            with in_words(target):
                try:
                    temporary.unlink(missing_ok=True)
                    self._connection.execute("VACUUM INTO ?", (str(temporary),))
                    with temporary.open("rb+") as copy:
                        os.fsync(copy.fileno())
                    os.chmod(temporary, 0o600)
                    os.replace(temporary, target)
                    sync_directory(target.parent)
                finally:
                    with contextlib.suppress(OSError):
                        temporary.unlink(missing_ok=True)
        except StoreError as error:
            raise _copy_failed(error, target) from error

    def close(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()


class Writer:
    """The one writer of a database: jobs are committed in groups, each job all or nothing.

    ``threaded=True`` commits in a thread of its own, so that the event loop never waits for the disk. With
    ``threaded=False`` each job is committed at once in the caller's thread: slower, but in the same order every time,
    which simulations in virtual time need.
    """

    def __init__(self, database: Database, *, threaded: bool = True, limit: int = 1024) -> None:
        import queue  # here, because commands that only read files must not wait for them
        import threading

        self._database = database
        self._limit = limit
        self._threaded = threaded
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._waiting = 0
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.commits = 0
        if threaded:
            self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
            self._thread.start()

    @property
    def room(self) -> int:
        """How many more jobs the queue takes; at 0 senders must be told to wait."""
        return max(0, self._limit - self._waiting)

    @property
    def waiting(self) -> int:
        return self._waiting

    async def submit(self, job: Callable[[Connection], T]) -> T:
        """Run ``job`` inside the next transaction; returns its value once it is committed.

        Raises what the job raised (its own changes are then undone), or StoreError when the commit failed.
        """
        if not self._threaded:
            with self._database.transaction() as connection:
                value = job(connection)
            self.commits += 1
            return value
        import asyncio  # here, because commands that only read files must not wait for it

        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        with self._lock:
            if self._waiting >= self._limit:
                raise StoreError(
                    "too many results are waiting for the disk.", where=str(self._database.path), code="store-busy"
                )
            self._waiting += 1
        self._queue.put(_Job(job, future, loop))
        # The rows are written whether or not the asker still waits; its cancellation must not undo the bookkeeping.
        return await asyncio.shield(future)

    def close(self) -> None:
        """Commit what is queued, then stop. The database stays open."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        from queue import Empty

        stopping = False
        while not stopping:
            batch: list[_Job] = []
            first = self._queue.get()
            if first is None:
                break
            batch.append(first)
            while len(batch) < MAX_BATCH:
                try:
                    job = self._queue.get_nowait()
                except Empty:
                    break
                if job is None:
                    stopping = True
                    break
                batch.append(job)
            self._commit(batch)

    def _commit(self, batch: list[_Job]) -> None:
        outcomes: list[tuple[_Job, Any, BaseException | None]] = []
        try:
            with self._database.transaction() as connection:
                for job in batch:
                    connection.execute("SAVEPOINT job")
                    try:
                        outcomes.append((job, job.run(connection), None))
                    except Exception as error:
                        connection.execute("ROLLBACK TO job")
                        outcomes.append((job, None, error))
                    connection.execute("RELEASE job")
            self.commits += 1
        except Exception as error:
            failure = (
                error
                if isinstance(error, StoreError)
                else StoreError(f"the store failed: {error}", where=str(self._database.path))
            )
            outcomes = [(job, None, failure) for job in batch]
        with self._lock:
            self._waiting -= len(batch)
        for job, value, problem in outcomes:
            # A loop that is already closed has nobody left to tell; the rows are committed all the same.
            with contextlib.suppress(RuntimeError):
                job.loop.call_soon_threadsafe(_resolve, job.future, value, problem)


@dataclass(frozen=True, slots=True)
class _Job:
    run: Callable[[Connection], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


def _resolve(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
        future.exception()  # mark as seen: the asker may have been cancelled meanwhile
    else:
        future.set_result(value)


def _may_be_copied_to(path: Path, target: Path) -> None:
    """Raises StoreError for a place where a copy would go nowhere, or over something that is worth more."""
    if not target.parent.is_dir():
        raise StoreError(
            "there is no such directory.",
            where=str(target.parent),
            next_step="Is the stick plugged in? See where it is mounted.",
            code="copy-place",
        )
    if not target.exists():
        return
    if target.is_dir() or not target.is_file():
        raise StoreError("this is no file.", where=str(target), next_step="Name a file.", code="copy-place")
    if target.samefile(path):
        raise StoreError(
            "this is the database itself.",
            where=str(target),
            next_step="Name another place, best on another disk.",
            code="copy-place",
        )
    try:
        with target.open("rb") as file:
            head = file.read(len(_HEAD))
    except OSError as error:
        raise StoreError(f"{error.strerror}.", where=str(target), code="copy-place") from error
    if head not in (_HEAD, b""):
        raise StoreError(
            "another file has this name; it is not written over.",
            where=str(target),
            next_step="Choose another name.",
            code="copy-place",
        )


_HEAD = b"SQLite format 3\0"


def _copy_failed(error: StoreError, target: Path) -> StoreError:
    """The words of a database that fails do not fit a copy of it: there is nothing wrong with the results."""
    words = {
        "store-full": "there is no room for the copy.",
        "store-readonly": "the copy can't be written here.",
        "store-io": "the disk of the copy reports an error.",
    }
    if error.where != str(target):
        return error
    what = words.get(error.code, f"the copy can't be written: {error.what[0].lower()}{error.what[1:]}")
    return StoreError(what, where=str(target), next_step="Choose another place; the results are safe.", code=error.code)


def sync_directory(directory: Path) -> None:
    """A stick may be pulled out right after it was said that the copy is there: its name has to be on it, too."""
    with contextlib.suppress(OSError):  # Windows, and file systems that can't
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _set_pragmas(connection: Connection, path: Path, synchronous: str) -> None:
    """Each setting is read back: a SQLite that silently ignores one must not be trusted with results."""
    wanted = {
        "busy_timeout": str(BUSY_TIMEOUT_MS),
        "journal_mode": "wal",
        "synchronous": {"OFF": "0", "NORMAL": "1", "FULL": "2"}[synchronous],
        "foreign_keys": "1",
    }
    values = {**wanted, "synchronous": synchronous}
    if sys.platform == "darwin":
        wanted["fullfsync"] = values["fullfsync"] = "1"
    for name, value in values.items():
        connection.execute(f"PRAGMA {name} = {value}").fetchall()
        got = str(connection.execute(f"PRAGMA {name}").fetchone()[0]).lower()
        if got != wanted[name]:
            raise StoreError(
                f"the database does not accept the setting {name} = {value} (it stays at {got}).",
                where=str(path),
                next_step="Keep the data directory on a local disk; network drives are not safe for results.",
                code="store-setting",
            )


_DAMAGED_NEXT = "Put the last backup in its place; for results: firmware-bridge db restore BACKUP."
_WORDS: tuple[tuple[str, str, str, str], ...] = (
    (
        "full",
        "store-full",
        "the disk is full; nothing of this was stored.",
        "Free some space; waiting results are sent again.",
    ),
    ("readonly", "store-readonly", "the file can't be written to.", "Check the permissions of the data directory."),
    ("read-only", "store-readonly", "the file can't be written to.", "Check the permissions of the data directory."),
    ("locked", "store-locked", "another program holds the database.", "Close it, then try again."),
    ("busy", "store-locked", "another program holds the database.", "Close it, then try again."),
    (
        "not a database",
        "store-foreign",
        "the file is not a database of this program.",
        "Choose another data directory with --data.",
    ),
    ("malformed", "store-damaged", "the database is damaged.", _DAMAGED_NEXT),
    ("unable to open", "store-open", "the file can't be opened.", "Check that the directory exists and is yours."),
    (
        "disk i/o",
        "store-io",
        "the disk reports an error.",
        "Check the disk; if it is broken, go on with the last backup.",
    ),
)


@contextlib.contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Turn the errors of SQLite and the file system into ones that an operator can act on."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(
            f"{error.strerror or error}.", where=str(path), next_step="Check the data directory.", code="store-open"
        ) from error
    except Exception as error:
        if not _is_database_error(error):
            raise
        text = str(error).lower()
        for needle, code, what, next_step in _WORDS:
            if needle in text or needle in type(error).__name__.lower():
                status = ExitStatus.USAGE if code == "store-foreign" else None
                raise StoreError(what, where=str(path), next_step=next_step, code=code, exit_status=status) from error
        raise StoreError(f"the database reports: {error}.", where=str(path), code="store") from error


def _is_database_error(error: Exception) -> bool:
    # Other SQLite bindings have error classes of their own; they are told by their module, not imported.
    return isinstance(error, sqlite3.Error) or type(error).__module__.split(".")[0] == "apsw"
