"""T2: power is cut after every disk operation of a stored evening; nothing that a screen called received may be gone.

The controls (NORMAL and OFF) must lose acknowledged results, or this test could not see a loss at all.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from power_disk import PROGRAM, RecordingDisk, disk_after, write_disk

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "sync"))

from sync_fakes import ERASED, FakeHost, FakeTerminal, body

from firmware_bridge.db import Connection, Database, Migration, Writer
from firmware_bridge.errors import StoreError
from terminals.store import desk, ledger, results
from terminals.store.schema import MIGRATIONS
from terminals.sync.rebuild import states_of

FATES = ("kept", "gone", "torn")


@dataclass
class Loss:
    disks: int = 0
    corrupt: int = 0
    lost: int = 0
    halves: int = 0
    checkpoints: int = 0


def an_evening(path: Path, disk: RecordingDisk, synchronous: str) -> list[tuple[int, bytes, int]]:
    """Results with corrections of two tables; gives (seq, body, operations done when the screen said received)."""
    host = FakeHost(path, connect=disk.connect, synchronous=synchronous)
    shown: list[tuple[int, bytes, int]] = []
    terminals = [host.introduce(FakeTerminal(0xA0 + n, n, table=n)) for n in (1, 2)]
    entries = [body(board=1), body(board=2), body(board=2, tricks=8, replaces=1), body(board=3, kind=2)]
    entries += [body(kind=ERASED, board=3, replaces=1), body(tricks=14)]
    for entry in entries:
        for terminal in terminals:
            terminal.enter(entry)
            before = set(terminal.shown)
            host.run()
            done = len(disk.operations)
            shown += [(key[0] << 8 | key[2], terminal.shown[key], done) for key in terminal.shown if key not in before]
    assert len(shown) == 12
    host.close()
    return shown


def survey(
    tmp_path: Path, synchronous: str, *, checkpoint_pages: int | None = None, fates: tuple[str, ...] = FATES
) -> Loss:
    """Every disk that a cut may leave, examined; with less than FULL only until a loss is found."""
    disk = RecordingDisk(checkpoint_pages=checkpoint_pages)
    shown = an_evening(tmp_path / "events.db", disk, synchronous)
    first = next(index for index, operation in enumerate(disk.operations) if operation.name.endswith("-wal"))
    loss = Loss()
    loss.checkpoints = sum(one.kind == "sync" and one.name == "events.db" for one in disk.operations[first:])
    for cut in range(first, len(disk.operations) + 1):
        if synchronous != "FULL" and loss.lost:
            break
        if cut % 2 and cut < shown[0][2]:
            continue  # half of the cuts while nothing is acknowledged yet
        owed = [(key, content) for key, content, done in shown if done <= cut]
        for fate in fates:
            examine(tmp_path / f"{cut}-{fate}", disk_after(disk.operations[:cut], fate, cut), owed, loss)
    disk.close()
    return loss


def examine(folder: Path, files: dict[str, bytes], owed: list[tuple[int, bytes]], loss: Loss) -> None:
    loss.disks += 1
    folder.mkdir()
    write_disk(files, folder)
    try:
        database = Database.open(folder / "events.db", MIGRATIONS)
    except StoreError:
        loss.corrupt += 1
        return
    try:
        with database.transaction() as connection:
            found = {
                record.raw.key.device << 8 | record.raw.key.seq: record.raw.body
                for record in ledger.records(connection)
            }
            loss.lost += sum(found.get(key) != content for key, content in owed)
            loss.halves += not consistent(connection)
    finally:
        database.close()
        shutil.rmtree(folder)


def consistent(connection: Connection) -> bool:
    """I4: raw record, events, projection and outbox rows all or none."""
    event = desk.event_hex(0xE7E47)
    events = list(results.all_events(connection, event))
    with_event = {event.key for event in events}
    stored = {record.raw.key for record in ledger.records(connection) if record.state == "stored"}
    outbox = {subject for _, kind, subject in results.outbox_after(connection, event, 0) if kind == "result"}
    current = {row.play: row.content for row in results.current(connection, event)}
    rebuilt = {play: state.content for play, state in states_of(events).items()}
    return with_event == stored and outbox == {event.number for event in events} and current == rebuilt


def test_with_full_nothing_received_is_ever_lost(tmp_path: Path) -> None:
    loss = survey(tmp_path, "FULL")
    assert loss.disks > 200
    assert (loss.corrupt, loss.lost, loss.halves) == (0, 0, 0)


def test_while_the_log_goes_into_the_file_nothing_is_lost_either(tmp_path: Path) -> None:
    """A checkpoint after every few pages: page by page into the file, and the log begun anew."""
    loss = survey(tmp_path, "FULL", checkpoint_pages=12, fates=("gone", "torn"))
    assert loss.checkpoints > 3
    assert loss.disks > 200
    assert (loss.corrupt, loss.lost, loss.halves) == (0, 0, 0)


@pytest.mark.parametrize("synchronous", ["NORMAL", "OFF"])
def test_the_controls_do_lose_results(tmp_path: Path, synchronous: str) -> None:
    loss = survey(tmp_path, synchronous)
    assert loss.lost > 0, "this test could not see a loss"


# --- the other ways to the disk ----------------------------------------------------------------------------------


def cuts(disk: RecordingDisk, first: int) -> Iterator[tuple[int, str, dict[str, bytes]]]:
    """Every disk that may be found after a cut behind operation ``first`` or a later one."""
    for cut in range(first, len(disk.operations) + 1):
        for fate in FATES:
            yield cut, fate, disk_after(disk.operations[:cut], fate, cut)


async def group_commits(path: Path, disk: RecordingDisk, synchronous: str) -> list[tuple[int, int]]:
    """Jobs of many askers in few transactions; gives (value, operations done when its asker was told)."""
    database = Database.open(path, [Migration(1, ("CREATE TABLE kept (value INTEGER)",))], connect=disk.connect)
    database.query(f"PRAGMA synchronous = {synchronous}")
    writer = Writer(database)
    told: list[tuple[int, int]] = []

    async def ask(value: int) -> None:
        await writer.submit(lambda connection: connection.execute("INSERT INTO kept VALUES (?)", (value,)))
        told.append((value, len(disk.operations)))

    for group in range(4):
        await asyncio.gather(*(ask(10 * group + number) for number in range(8)))
    assert writer.commits < 32, "there was no group commit to test"
    writer.close()
    database.close()
    return told


@pytest.mark.parametrize(("synchronous", "safe"), [("FULL", True), ("NORMAL", False)])
def test_a_group_commit_tells_nobody_too_early(tmp_path: Path, synchronous: str, safe: bool) -> None:
    disk = RecordingDisk()
    told = asyncio.run(group_commits(tmp_path / "group.db", disk, synchronous))
    lost = 0
    for cut, fate, files in cuts(disk, told[0][1]):
        folder = tmp_path / f"{cut}-{fate}"
        folder.mkdir()
        write_disk(files, folder)
        connection = sqlite3.connect(folder / "group.db")
        found = {value for (value,) in connection.execute("SELECT value FROM kept")}
        connection.close()
        lost += sum(value not in found for value, done in told if done <= cut)
    disk.close()
    assert (lost == 0) == safe


def test_a_new_schema_is_there_or_not_and_loses_nothing(tmp_path: Path) -> None:
    """The oldest database, filled, is brought up to date while the power goes."""
    disk = RecordingDisk()
    path = tmp_path / "events.db"
    old = Database.open(path, MIGRATIONS[:1], connect=disk.connect)
    with old.transaction() as connection:
        for seq in range(1, 9):
            values = ("00000000000000a1", 7, seq, bytes(14), 0, bytes(6), "e", "stored")
            connection.execute(
                "INSERT INTO record (device, journal, seq, body, crc, auth, event, state) VALUES (?,?,?,?,?,?,?,?)",
                values,
            )
    old.close()
    first = len(disk.operations)
    Database.open(path, MIGRATIONS, connect=disk.connect).close()
    versions = set()
    for cut, fate, files in cuts(disk, first):
        folder = tmp_path / f"{cut}-{fate}"
        folder.mkdir()
        write_disk(files, folder)
        connection = sqlite3.connect(folder / "events.db")
        versions.add(connection.execute("PRAGMA user_version").fetchone()[0])
        connection.close()
        again = Database.open(folder / "events.db", MIGRATIONS)  # the next start goes on where this one ended
        assert again.version == MIGRATIONS[-1].version
        assert again.query("SELECT count(*) FROM record") == [(8,)]
        again.close()
        shutil.rmtree(folder)
    disk.close()
    assert versions == {migration.version for migration in MIGRATIONS}


@pytest.mark.parametrize("synced", [True, False])
def test_a_backup_has_its_name_only_when_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synced: bool
) -> None:
    disk = RecordingDisk()
    names: dict[int, Path] = {}
    real_open, real_replace = Path.open, os.replace

    def opened(path: Path, *how: Any, **more: Any) -> Any:
        file = real_open(path, *how, **more)
        names[file.fileno()] = path
        return file

    def fsync(descriptor: int) -> None:
        if synced and descriptor in names:
            disk.fsync(names[descriptor])

    def replace(old: Path, new: Path) -> None:
        disk.rename(Path(old), Path(new))
        real_replace(old, new)

    host = FakeHost(tmp_path / "events.db", connect=disk.connect)
    terminal = host.introduce(FakeTerminal(0xA1, 1))
    for board in (1, 2):
        terminal.enter(body(board=board))
    host.run()
    first = len(disk.operations)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", opened)
        patch.setattr(os, "fsync", fsync)
        patch.setattr(os, "replace", replace)
        host.database.backup(tmp_path / "stick.db")
    # What SQLite itself syncs while it writes the copy is taken away: the program must not rely on it.
    disk.operations[first:] = [
        one for one in disk.operations[first:] if (one.kind, one.name) != ("sync", "stick.db.part") or one.at == PROGRAM
    ]
    bad = found = 0
    for cut, fate, files in cuts(disk, first):
        if "stick.db" not in files:
            continue
        found += 1
        folder = tmp_path / f"{cut}-{fate}"
        folder.mkdir()
        write_disk({"events.db": files["stick.db"]}, folder)
        try:
            database = Database.open(folder / "events.db", MIGRATIONS)
            bad += database.query("SELECT count(*) FROM record") != [(2,)]
            database.close()
        except StoreError:
            bad += 1
    host.close()
    disk.close()
    assert found
    assert (bad == 0) == synced
