"""What a home-built machine must remember through a power cut: boots, the last commands, the job and its cards.

Two slots take turns. Each holds everything, with a generation number and a CRC-32; a slot that was being written when
the power failed does not count, the other one does. Nothing is ever changed in place.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from firmware_bridge.errors import DeviceError, StoreError
from firmware_bridge.wire.numbers import MachineStateCode

COMMANDS_KEPT = 8
JOBS_KEPT = 2
SLOT_LIMIT = 16384


@dataclass(frozen=True, slots=True)
class Remembered:
    """A command and how it ended. crc: CRC-32 of kind byte and body."""

    command_id: int
    crc: int
    outcome: int
    reason: int


@dataclass(frozen=True, slots=True)
class JobRecord:
    """placed: (card, pocket) in the order of dealing; the repr leaves the cards out."""

    job_id: int
    state: int = MachineStateCode.ARMED
    placed: tuple[tuple[int, int], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Memory:
    device_id: int
    boot_count: int = 0
    commands: tuple[Remembered, ...] = ()
    jobs: tuple[JobRecord, ...] = ()

    def recall(self, command_id: int) -> Remembered | None:
        return next((command for command in self.commands if command.command_id == command_id), None)

    def job(self, job_id: int) -> JobRecord | None:
        return next((job for job in self.jobs if job.job_id == job_id), None)

    def with_command(self, command: Remembered) -> Memory:
        return replace(self, commands=(command, *self.commands)[:COMMANDS_KEPT])

    def with_job(self, job: JobRecord) -> Memory:
        others = tuple(other for other in self.jobs if other.job_id != job.job_id)
        return replace(self, jobs=(job, *others)[:JOBS_KEPT])


class Slots(Protocol):
    """Two places for bytes that outlast the power. ``write`` returns when they do."""

    def read(self, slot: int) -> bytes: ...

    def write(self, slot: int, data: bytes) -> None: ...


class FileSlots:
    """Two files in a folder, for one program at a time.

    Raises StoreError when the folder can't be used, DeviceError when another program runs this machine already.
    """

    def __init__(self, folder: Path) -> None:
        self._paths = (folder / "machine-a.slot", folder / "machine-b.slot")
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._files = [
                os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600) for path in self._paths
            ]
        except OSError as error:
            raise self._error(error, folder) from error
        self._lock(folder)

    def _lock(self, folder: Path) -> None:
        if sys.platform == "win32":
            return
        import fcntl

        try:
            fcntl.flock(self._files[0], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.close()
            raise DeviceError(
                "Another program runs this machine.",
                where=str(folder),
                next_step="End the other program first.",
                code="port-busy",
            ) from error

    def read(self, slot: int) -> bytes:
        try:
            os.lseek(self._files[slot], 0, os.SEEK_SET)
            return os.read(self._files[slot], SLOT_LIMIT)
        except OSError as error:
            raise self._error(error, self._paths[slot]) from error

    def write(self, slot: int, data: bytes) -> None:
        try:
            os.lseek(self._files[slot], 0, os.SEEK_SET)
            view = memoryview(data)
            while view:
                view = view[os.write(self._files[slot], view) :]
            os.fsync(self._files[slot])
        except OSError as error:
            raise self._error(error, self._paths[slot]) from error

    def close(self) -> None:
        for file in self._files:
            os.close(file)
        self._files = []

    @staticmethod
    def _error(error: OSError, where: Path) -> StoreError:
        return StoreError(
            f"The machine's memory can't be used ({error.strerror}).",
            where=str(where),
            next_step="Name a folder that the machine's program may write to (state = ... in its file).",
        )


class Journal:
    """The current ``memory``, on both slots in turn. ``fresh_id`` makes a device id for a machine that has none yet."""

    def __init__(self, slots: Slots, fresh_id: int) -> None:
        self._slots = slots
        found = [decoded for slot in (0, 1) if (decoded := _decode(slots.read(slot))) is not None]
        if found:
            self._generation, self.memory = max(found, key=lambda item: item[0])
        else:
            self._generation, self.memory = 0, Memory(fresh_id)

    def save(self, memory: Memory) -> None:
        """Returns when ``memory`` outlasts a power cut. Raises StoreError."""
        generation = self._generation + 1
        self._slots.write(generation % 2, _encode(generation, memory))
        self._generation, self.memory = generation, memory


def _encode(generation: int, memory: Memory) -> bytes:
    content = {
        "device_id": memory.device_id,
        "boot_count": memory.boot_count,
        "commands": [[c.command_id, c.crc, c.outcome, c.reason] for c in memory.commands],
        "jobs": [[j.job_id, j.state, [card | pocket << 8 for card, pocket in j.placed]] for j in memory.jobs],
    }
    body = json.dumps([generation, content], separators=(",", ":")).encode()
    head = len(body).to_bytes(4, "little") + zlib.crc32(body).to_bytes(4, "little")
    return head + body


def _decode(data: bytes) -> tuple[int, Memory] | None:
    """None for a slot that is empty, torn or damaged."""
    length = int.from_bytes(data[:4], "little")
    body = data[8 : 8 + length]
    if len(data) < 8 or len(body) != length or zlib.crc32(body) != int.from_bytes(data[4:8], "little"):
        return None
    try:
        generation, content = json.loads(body)
        return int(generation), _memory(content)
    except (ValueError, TypeError, KeyError):
        return None


def _memory(content: dict[str, Any]) -> Memory:
    return Memory(
        device_id=int(content["device_id"]),
        boot_count=int(content["boot_count"]),
        commands=tuple(Remembered(*(int(value) for value in item)) for item in content["commands"]),
        jobs=tuple(
            JobRecord(int(number), int(state), tuple((pair & 0xFF, pair >> 8) for pair in placed))
            for number, state, placed in content["jobs"]
        ),
    )
