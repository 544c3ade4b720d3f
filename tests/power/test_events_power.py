"""T2: power is cut after every disk operation of a stored evening; nothing that a screen called received may be gone.

The controls (NORMAL and OFF) must lose acknowledged results, or this test could not see a loss at all.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from power_disk import RecordingDisk, disk_after, write_disk

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "sync"))

from sync_fakes import ERASED, FakeHost, FakeTerminal, body

from firmware_bridge.db import Connection, Database
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


def survey(tmp_path: Path, synchronous: str) -> Loss:
    disk = RecordingDisk()
    shown = an_evening(tmp_path / "events.db", disk, synchronous)
    first = next(index for index, operation in enumerate(disk.operations) if operation.name.endswith("-wal"))
    loss = Loss()
    for cut in range(first, len(disk.operations) + 1):
        if cut % 2 and cut < shown[0][2]:
            continue  # half of the cuts while nothing is acknowledged yet
        owed = [(key, content) for key, content, done in shown if done <= cut]
        for fate in FATES:
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


@pytest.mark.parametrize("synchronous", ["NORMAL", "OFF"])
def test_the_controls_do_lose_results(tmp_path: Path, synchronous: str) -> None:
    loss = survey(tmp_path, synchronous)
    assert loss.lost > 0, "this test could not see a loss"
