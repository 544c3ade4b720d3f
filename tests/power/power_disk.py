"""A disk that loses power: an apsw VFS that records every operation, and the files as they may be found after a cut.

Model: what was synced stays; what was written after the last sync of its file is kept, gone, or torn at 512 bytes.
Deleting or renaming a file counts as durable at once. Disks that lie about a sync are not modelled.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import apsw

SECTOR = 512
PROGRAM = -1
"""Mark of a sync that the program asks for by itself, not SQLite."""
_NUMBERS = itertools.count()


@dataclass(frozen=True, slots=True)
class Operation:
    """kind: write, truncate, sync, delete or rename; at: offset, or the new size; data: of a rename, the new name."""

    kind: str
    name: str
    at: int = 0
    data: bytes = b""


class _File(apsw.VFSFile):
    def __init__(self, disk: RecordingDisk, vfs: str, filename: Any, flags: Any) -> None:
        super().__init__(vfs, filename, flags)
        self._disk = disk
        path = filename if isinstance(filename, str) else filename.filename()
        self._name = Path(path).name

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802 - SQLite's name
        super().xWrite(data, offset)
        self._disk.operations.append(Operation("write", self._name, offset, bytes(data)))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        super().xTruncate(size)
        self._disk.operations.append(Operation("truncate", self._name, size))

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self._disk.operations.append(Operation("sync", self._name))


class _Vfs(apsw.VFS):
    def __init__(self, disk: RecordingDisk, name: str) -> None:
        super().__init__(name, "")
        self._disk = disk

    def xOpen(self, name: Any, flags: Any) -> apsw.VFSFile:  # noqa: N802
        return _File(self._disk, "", name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        super().xDelete(filename, syncdir)
        self._disk.operations.append(Operation("delete", Path(filename).name))


@dataclass
class RecordingDisk:
    """``connect`` is for ``Database.open``; ``operations`` grows with everything that SQLite does to its files.

    checkpoint_pages: how long the write-ahead log gets before its pages go into the file; None: as SQLite likes.
    """

    operations: list[Operation] = field(default_factory=list)
    checkpoint_pages: int | None = None

    def __post_init__(self) -> None:
        self._name = f"recording-{next(_NUMBERS)}"
        self._vfs = _Vfs(self, self._name)

    def connect(self, path: str) -> Any:
        inner = apsw.Connection(path, vfs=self._name)
        if self.checkpoint_pages is not None:
            inner.wal_autocheckpoint(self.checkpoint_pages)
        return _Connection(inner)

    def fsync(self, path: Path) -> None:
        """The program itself says that a file should be on disk."""
        self.operations.append(Operation("sync", path.name, at=PROGRAM))

    def rename(self, old: Path, new: Path) -> None:
        """The program itself gives a file another name."""
        self.operations.append(Operation("rename", old.name, data=new.name.encode()))

    def close(self) -> None:
        self._vfs.unregister()


class _Connection:
    def __init__(self, inner: apsw.Connection) -> None:
        self._inner = inner

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Any:
        return self._inner.execute(sql, tuple(parameters))

    def close(self) -> None:
        self._inner.close()


def disk_after(operations: Sequence[Operation], fate: str, seed: int = 0) -> dict[str, bytes]:
    """Files after a power cut behind ``operations``. fate of unsynced writes: kept, gone, or torn by ``seed``."""
    chance = random.Random(seed)
    durable: dict[str, bytearray] = {}
    pending: dict[str, list[Operation]] = {}
    for operation in operations:
        if operation.kind == "delete":
            durable.pop(operation.name, None)
            pending.pop(operation.name, None)
            continue
        if operation.kind == "rename":
            name = operation.data.decode()
            durable[name] = durable.pop(operation.name, bytearray())
            # What was not synced may still come, to the same file under its new name.
            pending[name] = [replace(one, name=name) for one in pending.pop(operation.name, [])]
            continue
        durable.setdefault(operation.name, bytearray())
        if operation.kind == "sync":
            for earlier in pending.pop(operation.name, []):
                _apply(durable[operation.name], earlier)
        else:
            pending.setdefault(operation.name, []).append(operation)
    for name, operations_left in pending.items():
        for operation in operations_left:
            if fate == "kept" or (fate == "torn" and chance.random() < 0.5):
                _apply(durable[name], operation)
            elif fate == "torn" and operation.kind == "write":
                _apply(durable[name], _torn(operation, chance))
    return {name: bytes(content) for name, content in durable.items()}


def _torn(write: Operation, chance: random.Random) -> Operation:
    sectors = range(0, len(write.data), SECTOR)
    cut = chance.choice(sectors) if len(sectors) > 1 else 0
    return Operation("write", write.name, write.at, write.data[:cut])


def _apply(content: bytearray, operation: Operation) -> None:
    if operation.kind == "truncate":
        del content[operation.at :]
        return
    if not operation.data:
        return
    end = operation.at + len(operation.data)
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    content[operation.at : end] = operation.data


def write_disk(files: dict[str, bytes], folder: Path) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content)
