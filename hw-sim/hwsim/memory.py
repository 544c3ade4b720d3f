"""Non-volatile memory of the simulated devices, with power cuts at any byte.

A ``Medium`` is a stretch of storage that is written in place. ``Memory`` keeps one value in two alternating slots with
generation and CRC-32: a cut in the middle of a save leaves the older value. ``Log`` is an append-only list of entries,
each with its CRC-32; a cut leaves all entries but the one being written. Its start moves between two media when it is
rewritten, by the same rule as the slots.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable
from pathlib import Path


class PowerCut(Exception):
    """The supply went away in the middle of a write: nothing after this byte was stored."""


class Medium:
    """Bytes that survive a power cut, in RAM of the test. ``cut_after`` counts down the bytes still to be written."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = bytearray(data)
        self.cut_after: int | None = None
        self.written = 0

    def read(self) -> bytes:
        return bytes(self.data)

    def write(self, offset: int, data: bytes) -> None:
        """Store ``data`` at ``offset``. Raises PowerCut after as many bytes as ``cut_after`` allows."""
        cut = self.cut_after is not None and self.cut_after < len(data)
        if self.cut_after is not None:
            allowed = min(self.cut_after, len(data))
            self.cut_after -= allowed
            data = data[:allowed]
        self._store(offset, data)
        self.written += len(data)
        if cut:
            raise PowerCut

    def _store(self, offset: int, data: bytes) -> None:
        if len(self.data) < offset:
            self.data += bytes(offset - len(self.data))
        self.data[offset : offset + len(data)] = data


class FileMedium(Medium):
    """A medium in a file, written in place through the operating system's cache, so that it survives kill -9.

    With ``sync`` every write is flushed to the disk, so that it survives the host's own power cut as well.
    """

    def __init__(self, path: Path, *, sync: bool = False) -> None:
        super().__init__()
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        self._sync = sync

    def read(self) -> bytes:
        os.lseek(self._fd, 0, os.SEEK_SET)
        chunks = []
        while chunk := os.read(self._fd, 1 << 20):
            chunks.append(chunk)
        return b"".join(chunks)

    def _store(self, offset: int, data: bytes) -> None:
        while data:
            if hasattr(os, "pwrite"):
                count = os.pwrite(self._fd, data, offset)
            else:
                os.lseek(self._fd, offset, os.SEEK_SET)
                count = os.write(self._fd, data)
            data, offset = data[count:], offset + count
        if self._sync:
            os.fsync(self._fd)

    def close(self) -> None:
        os.close(self._fd)


class Media:
    """Where a device finds its media by name: in RAM, or as files of one folder."""

    def __init__(self, folder: Path | None = None, *, sync: bool = False) -> None:
        self._folder = folder
        self._sync = sync
        self._open: dict[str, Medium] = {}
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def medium(self, name: str) -> Medium:
        """The medium of that name, made empty at first use; always the same object."""
        if name not in self._open:
            if self._folder is None:
                self._open[name] = Medium()
            else:
                self._open[name] = FileMedium(self._folder / f"{name}.nv", sync=self._sync)
        return self._open[name]

    def memory(self, name: str) -> Memory:
        return Memory(self.medium(f"{name}-0"), self.medium(f"{name}-1"))

    def log(self, name: str) -> Log:
        return Log(self.medium(f"{name}-0"), self.medium(f"{name}-1"))

    def close(self) -> None:
        for medium in self._open.values():
            if isinstance(medium, FileMedium):
                medium.close()
        self._open.clear()


_SLOT = struct.Struct("<4sIII")  # magic, generation, length, CRC-32 over generation, length and data
_MAGIC = b"HWS1"


def _slot_bytes(generation: int, data: bytes) -> bytes:
    head = struct.pack("<II", generation, len(data))
    return _SLOT.pack(_MAGIC, generation, len(data), zlib.crc32(head + data)) + data


def _slot_read(raw: bytes) -> tuple[int, bytes] | None:
    if len(raw) < _SLOT.size:
        return None
    magic, generation, length, crc = _SLOT.unpack_from(raw)
    data = raw[_SLOT.size : _SLOT.size + length]
    if magic != _MAGIC or len(data) != length or zlib.crc32(struct.pack("<II", generation, length) + data) != crc:
        return None
    return generation, data


class Memory:
    """One value in two alternating slots."""

    def __init__(self, first: Medium, second: Medium) -> None:
        self._media = (first, second)
        self._generation = 0

    def load(self) -> bytes | None:
        """The newest value that was stored whole, or None."""
        found = [slot for slot in (_slot_read(m.read()) for m in self._media) if slot is not None]
        if not found:
            return None
        self._generation, data = max(found)
        return data

    def save(self, data: bytes) -> None:
        """Store a value in the older slot. ``load`` must have been called once before."""
        generation = self._generation + 1
        self._media[generation & 1].write(0, _slot_bytes(generation, data))
        self._generation = generation


_ENTRY = struct.Struct("<HI")  # length, CRC-32 over generation, position and data


class Log:
    """Entries of at most 65,535 bytes in the order of their writing."""

    REWRITE_AT = 1 << 18

    def __init__(self, first: Medium, second: Medium) -> None:
        self._media = (first, second)
        self._generation = 0
        self._end = 0

    def load(self) -> list[bytes]:
        """All entries that were stored whole. Must be called before anything is written."""
        best: tuple[int, int, list[bytes]] | None = None
        for medium in self._media:
            raw = medium.read()
            start = _slot_read(raw)
            if start is None or (best is not None and start[0] < best[0]):
                continue
            generation, packed = start
            entries, at = self._unpack(generation, packed, 0)
            if at != len(packed):
                continue
            base = _SLOT.size + len(packed)
            later, end = self._unpack(generation, raw[base:], base)
            best = (generation, base + end, entries + later)
        if best is None:
            self._rewrite([])
            return []
        self._generation, self._end, found = best
        return found

    @property
    def size(self) -> int:
        return self._end

    def append(self, entry: bytes) -> None:
        """Add one entry; it is stored whole or not at all."""
        data = self._pack(self._generation, self._end, entry)
        self._media[self._generation & 1].write(self._end, data)
        self._end += len(data)

    def rewrite(self, entries: Iterable[bytes]) -> None:
        """Replace everything by ``entries``; a cut leaves either the old log or the new one."""
        self._rewrite(list(entries))

    def _rewrite(self, entries: list[bytes]) -> None:
        generation = self._generation + 1
        packed = bytearray()
        for entry in entries:
            packed += self._pack(generation, len(packed), entry)
        data = _slot_bytes(generation, bytes(packed))
        self._media[generation & 1].write(0, data)
        self._generation = generation
        self._end = len(data)

    @staticmethod
    def _pack(generation: int, position: int, entry: bytes) -> bytes:
        return _ENTRY.pack(len(entry), zlib.crc32(struct.pack("<II", generation, position) + entry)) + entry

    @staticmethod
    def _unpack(generation: int, raw: bytes, base: int) -> tuple[list[bytes], int]:
        entries, at = [], 0
        while at + _ENTRY.size <= len(raw):
            length, crc = _ENTRY.unpack_from(raw, at)
            data = raw[at + _ENTRY.size : at + _ENTRY.size + length]
            # Old bytes behind the end carry another generation or position and so another CRC.
            if len(data) != length or zlib.crc32(struct.pack("<II", generation, base + at) + data) != crc:
                break
            entries.append(data)
            at += _ENTRY.size + length
        return entries, at
