"""A disk that loses power: an apsw VFS that records every operation, and the files as they may be found after a cut.

Model: what was synced stays; what was written after the last sync of its file is kept, gone, or torn at 512 bytes.
Deleting a file counts as durable at once. Disks that lie about a sync are not modelled.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

SECTOR = 512
_NUMBERS = itertools.count()


@dataclass(frozen=True, slots=True)
class Operation:
    """kind: write, truncate, sync or delete; at: offset, or the new size."""

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
    """``connect`` is for ``Database.open``; ``operations`` grows with everything that SQLite does to its files."""

    operations: list[Operation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._name = f"recording-{next(_NUMBERS)}"
        self._vfs = _Vfs(self, self._name)

    def connect(self, path: str) -> Any:
        return _Connection(apsw.Connection(path, vfs=self._name))

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
