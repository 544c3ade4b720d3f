"""Promises of firmware_bridge.db: durable settings, all-or-nothing, group commit, errors in words."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from firmware_bridge.db import Database, Migration, Writer, connect_sqlite3
from firmware_bridge.errors import ExitStatus, StoreError

ONE = Migration(1, ("CREATE TABLE t (n INTEGER PRIMARY KEY)",))
TWO = Migration(2, ("ALTER TABLE t ADD COLUMN name TEXT NOT NULL DEFAULT 'old'",))


def opened(tmp_path: Path, *migrations: Migration) -> Database:
    return Database.open(tmp_path / "x.db", migrations or (ONE,))


def test_settings_are_really_on(tmp_path: Path) -> None:
    database = opened(tmp_path)
    assert database.query("PRAGMA journal_mode") == [("wal",)]
    assert database.query("PRAGMA synchronous") == [(2,)]
    assert (tmp_path / "x.db").stat().st_mode & 0o077 == 0


def test_a_sqlite_that_ignores_a_setting_is_refused(tmp_path: Path) -> None:
    class Deaf:
        def __init__(self, path: str) -> None:
            self.inner = connect_sqlite3(path)

        def execute(self, sql: str, parameters: tuple[object, ...] = ()) -> object:
            if sql.startswith("PRAGMA synchronous ="):
                sql = "PRAGMA synchronous = NORMAL"
            return self.inner.execute(sql, parameters)

        def close(self) -> None:
            self.inner.close()

    with pytest.raises(StoreError) as caught:
        Database.open(tmp_path / "x.db", (ONE,), connect=Deaf)
    assert caught.value.code == "store-setting"


def test_migrations_run_once_and_in_order(tmp_path: Path) -> None:
    database = opened(tmp_path)
    with database.transaction() as connection:
        connection.execute("INSERT INTO t VALUES (7)")
    database.close()
    database = opened(tmp_path, TWO, ONE)
    assert database.version == 2
    assert database.query("SELECT n, name FROM t") == [(7, "old")]


def test_a_newer_file_is_left_alone(tmp_path: Path) -> None:
    opened(tmp_path, ONE, TWO).close()
    with pytest.raises(StoreError, match="newer version") as caught:
        opened(tmp_path, ONE)
    assert caught.value.code == "store-newer"


def test_a_failed_migration_leaves_the_old_schema(tmp_path: Path) -> None:
    opened(tmp_path).close()
    broken = Migration(2, ("CREATE TABLE u (n)", "CREATE TABLE u (n)"))
    with pytest.raises(StoreError):
        opened(tmp_path, ONE, broken)
    database = opened(tmp_path)
    assert database.version == 1
    assert database.query("SELECT name FROM sqlite_master WHERE name = 'u'") == []


@pytest.mark.parametrize("content", [b"not a database at all, by far", b"SQLite format 3\0" + b"\xff" * 4000])
def test_foreign_or_damaged_files_are_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(content)
    with pytest.raises(StoreError) as caught:
        opened(tmp_path)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == content
    if caught.value.code == "store-foreign":
        assert caught.value.exit_status == ExitStatus.USAGE


def test_a_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    database = opened(tmp_path)
    with pytest.raises(ZeroDivisionError), database.transaction() as connection:
        connection.execute("INSERT INTO t VALUES (1)")
        _ = 1 // 0
    assert database.query("SELECT * FROM t") == []


def test_a_reader_sees_committed_rows_only(tmp_path: Path) -> None:
    database = opened(tmp_path)
    reader = database.reader()
    with database.transaction() as connection:
        connection.execute("INSERT INTO t VALUES (1)")
        assert reader.query("SELECT * FROM t") == []
    assert reader.query("SELECT * FROM t") == [(1,)]
    with pytest.raises(StoreError), reader.transaction() as connection:
        connection.execute("INSERT INTO t VALUES (2)")


def test_a_locked_file_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = opened(tmp_path)
    other = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    database._connection.execute("PRAGMA busy_timeout = 10").fetchall()
    with pytest.raises(StoreError) as caught, database.transaction():
        pass
    assert caught.value.code == "store-locked"


@pytest.mark.parametrize("threaded", [True, False])
def test_the_writer_answers_after_the_commit(tmp_path: Path, threaded: bool) -> None:
    database = opened(tmp_path)
    reader = database.reader()
    writer = Writer(database, threaded=threaded)

    async def one(n: int) -> int:
        await writer.submit(lambda c: c.execute("INSERT INTO t VALUES (?)", (n,)))
        assert reader.query("SELECT n FROM t WHERE n = ?", (n,)) == [(n,)]
        return n

    async def scenario() -> list[int]:
        return await asyncio.gather(*(one(n) for n in range(200)))

    assert asyncio.run(scenario()) == list(range(200))
    writer.close()
    if threaded:
        assert writer.commits < 200


def test_one_bad_job_does_not_hurt_the_others_of_its_group(tmp_path: Path) -> None:
    database = opened(tmp_path)
    writer = Writer(database)

    async def scenario() -> list[object]:
        jobs = [lambda c, n=n: c.execute("INSERT INTO t VALUES (?)", (n,)) and n for n in (1, 2, 2, 3)]
        return await asyncio.gather(*(writer.submit(job) for job in jobs), return_exceptions=True)

    outcomes = asyncio.run(scenario())
    writer.close()
    assert [isinstance(outcome, Exception) for outcome in outcomes] == [False, False, True, False]
    assert database.query("SELECT n FROM t ORDER BY n") == [(1,), (2,), (3,)]


def test_a_full_queue_is_refused_not_grown(tmp_path: Path) -> None:
    database = opened(tmp_path)
    writer = Writer(database, limit=2)
    other = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    async def scenario() -> None:
        waiting = [
            asyncio.ensure_future(writer.submit(lambda c: c.execute("INSERT INTO t VALUES (1)"))) for _ in range(2)
        ]
        await asyncio.sleep(0.05)
        assert writer.room == 0
        with pytest.raises(StoreError) as caught:
            await writer.submit(lambda c: None)
        assert caught.value.code == "store-busy"
        other.execute("COMMIT")
        await asyncio.gather(*waiting, return_exceptions=True)
        assert writer.room == 2

    asyncio.run(scenario())
    writer.close()


def test_a_backup_is_a_whole_database(tmp_path: Path) -> None:
    database = opened(tmp_path)
    with database.transaction() as connection:
        connection.execute("INSERT INTO t VALUES (1)")
    target = tmp_path / "stick" / "copy.db"
    database.backup(target)
    database.backup(target)
    assert Database.open(target, (ONE,)).query("SELECT * FROM t") == [(1,)]
    assert sorted(p.name for p in target.parent.iterdir() if "part" in p.name) == []
