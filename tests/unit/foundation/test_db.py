"""Promises of firmware_bridge.db: durable settings, all-or-nothing, group commit, errors in words."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from firmware_bridge.db import Database, Migration, Writer, connect_sqlite3
from firmware_bridge.errors import ExitStatus, StoreError
from firmware_bridge.service.put_back import put_back

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
    target.parent.mkdir()
    database.backup(target)
    database.backup(target)
    assert target.stat().st_mode & 0o077 == 0
    assert Database.open(target, (ONE,)).query("SELECT * FROM t") == [(1,)]
    assert sorted(p.name for p in target.parent.iterdir() if "part" in p.name) == []


def test_a_stick_that_is_not_there_makes_no_folder_of_its_name(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such directory") as caught:
        opened(tmp_path).backup(tmp_path / "media" / "stick" / "copy.db")
    assert "stick" in caught.value.next_step
    assert not (tmp_path / "media").exists()


def test_a_copy_is_never_written_over_the_database_or_a_file_of_another_kind(tmp_path: Path) -> None:
    database = opened(tmp_path)
    (tmp_path / "link.db").symlink_to(tmp_path / "x.db")
    for own in ("x.db", "link.db"):
        with pytest.raises(StoreError, match="the database itself"):
            database.backup(tmp_path / own)
    letter = tmp_path / "letter.odt"
    letter.write_text("Dear members")
    with pytest.raises(StoreError, match="not written over"):
        database.backup(letter)
    assert letter.read_text() == "Dear members"
    with pytest.raises(StoreError, match="no file"):
        database.backup(tmp_path)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("database or disk is full", "no room for the copy"),
        ("attempt to write a readonly database", "can't be written here"),
        ("disk I/O error", "disk of the copy"),
    ],
)
def test_a_stick_that_fails_is_told_without_alarm_about_the_results(tmp_path: Path, said: str, told: str) -> None:
    class Stick:
        def __init__(self, path: str) -> None:
            self.inner = connect_sqlite3(path)

        def execute(self, sql: str, parameters: tuple[object, ...] = ()) -> object:
            if sql.startswith("VACUUM"):
                Path(str(parameters[0])).write_bytes(b"half")
                raise sqlite3.OperationalError(said)
            return self.inner.execute(sql, parameters)

        def close(self) -> None:
            self.inner.close()

    database = Database.open(tmp_path / "x.db", (ONE,), connect=Stick)
    with pytest.raises(StoreError, match=told) as caught:
        database.backup(tmp_path / "copy.db")
    assert "results are safe" in caught.value.next_step
    assert caught.value.where == str(tmp_path / "copy.db")
    assert not list(tmp_path.glob("copy*"))


def test_a_backup_put_back_keeps_what_was_there_before(tmp_path: Path) -> None:
    database = opened(tmp_path)
    database.backup(tmp_path / "copy.db")
    with database.transaction() as connection:
        connection.execute("INSERT INTO t VALUES (5)")
    wal = tmp_path / "x.db-wal"
    left = wal.read_bytes()  # as a killed program leaves it
    database.close()
    wal.write_bytes(left)
    kept = put_back(tmp_path / "copy.db", tmp_path / "x.db", (ONE, TWO))
    assert kept == tmp_path / "x.before-1.db"
    assert opened(tmp_path, ONE, TWO).query("SELECT * FROM t") == []
    assert Database.open(kept, (ONE,)).query("SELECT * FROM t") == [(5,)]
    assert put_back(tmp_path / "copy.db", tmp_path / "x.db", (ONE, TWO)) == tmp_path / "x.before-2.db"
    assert put_back(tmp_path / "copy.db", tmp_path / "new.db", (ONE,)) is None
    assert not list(tmp_path.glob("*.restoring*"))


def test_a_backup_that_can_not_be_used_changes_nothing(tmp_path: Path) -> None:
    database = opened(tmp_path)
    with database.transaction() as connection:
        connection.execute("INSERT INTO t VALUES (5)")
    database.close()
    bad = tmp_path / "bad.db"
    for content in (b"hello", (tmp_path / "x.db").read_bytes()[:4096] + bytes(4096)):
        bad.write_bytes(content)
        with pytest.raises(StoreError) as caught:
            put_back(bad, tmp_path / "x.db", (ONE,))
        assert caught.value.where == str(bad)
        assert "backup" in caught.value.next_step
    for wrong in (tmp_path / "none.db", tmp_path / "x.db"):
        with pytest.raises(StoreError):
            put_back(wrong, tmp_path / "x.db", (ONE,))
    assert opened(tmp_path).query("SELECT * FROM t") == [(5,)]
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".db") == ["bad.db", "x.db"]
