"""A large set from random bytes to a PBN file and the history, block by block in constant memory.

While a block's text is laid out and written, another thread puts its digests into the history: that is a few long
calls into SQLite, which lets go of the interpreter, so that the two never wait for each other.
"""

from __future__ import annotations

import hashlib
import os
import queue
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from dealer.bulk import BulkDeals, random_indices, repeated_places, routings, unrank, verify_bulk
from dealer.bulk_pbn import pbn_text, runs_of_one_width
from dealer.formats.options import WriteOptions
from dealer.formats.pbn_write import header
from dealer.generate import RandBytes
from dealer.history import DIGEST_BYTES, HISTORY_TAG
from firmware_bridge.errors import DealError

BLOCK = 65_536
"""Boards whose digests are sorted and recorded together: the more, the faster the database takes them."""
CHUNK = 16_384
"""Boards whose arrays fit into a processor's cache together."""

Record = Callable[[bytes, bytes, int], None]
"""Takes digests in ascending order (16 bytes each), board numbers (8 digits each), and how many."""


def generate_to_file(
    runs: Sequence[tuple[int, int]],
    file: BinaryIO,
    options: WriteOptions,
    *,
    randbytes: RandBytes = os.urandom,
    record: Record | None = None,
    progress: Callable[[int], None] | None = None,
) -> npt.NDArray[np.uint32]:
    """Deal boards, verify them, record them, write them as PBN. Returns the index of every board, (n, 3) uint32.

    The boards are the ones that ``dealer.generate.generate`` deals from the same bytes. Raises DealError when a deal is
    refused, and whatever ``record`` or ``file`` raises.
    """
    end = "\r\n" if options.dialect != "import" else "\n"
    lines = header(options)
    if options.dialect == "import":
        lines.append('[Generator "Big Deal version 2.0"]')
    file.write((end.join(lines) + end).encode("latin-1", "replace"))
    every = np.empty((sum(count for _, count in runs), 3), dtype=np.uint32)
    done = 0
    with _Worker() as worker:
        for first, count in _blocks(runs):
            index = random_indices(count, randbytes)
            parts = [unrank(index[place : place + CHUNK]) for place in range(0, count, CHUNK)]
            digests: list[bytes] = []
            for place, part in enumerate(parts):
                bad = verify_bulk(part)
                if bad:
                    number = first + place * CHUNK + bad[0]
                    raise DealError(f"Board {number} is not a deal of a shuffled pack.", code="unshuffled")
                if record is not None:
                    digests += _digests(part)
            if record is not None:
                rows = _in_order(digests, first)
                worker.do(partial(record, *rows, count))
            _write(file, options, first, parts)
            every[done : done + count] = index
            done += count
            if progress:
                progress(done)
    again = repeated_places(every)
    if again:
        raise DealError(f"{len(again)} deals come twice; chance does not do that.", code="deal-repeated")
    return every


def _blocks(runs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    blocks = []
    for first, count in runs:
        for start in range(first, first + count, BLOCK):
            blocks.append((start, min(BLOCK, first + count - start)))
    return blocks


def _digests(part: BulkDeals) -> list[bytes]:
    rows = routings(part).tobytes()
    sha256, tag = hashlib.sha256, HISTORY_TAG
    return [sha256(tag + rows[at : at + 13]).digest() for at in range(0, len(rows), 13)]


def _in_order(digests: list[bytes], first: int) -> tuple[bytes, bytes]:
    """Digests cut to 16 bytes, in ascending order, and the board number of each as eight digits."""
    table = np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(len(digests), -1)[:, :DIGEST_BYTES]
    order = np.argsort(np.ascontiguousarray(table[:, :8]).view(">u8").ravel().astype(np.uint64))
    numbers = order + first
    text = np.empty((len(digests), 8), dtype=np.uint8)
    for place in range(7, -1, -1):
        text[:, place] = numbers % 10 + 48
        numbers //= 10
    return table[order].tobytes(), text.tobytes()


def _write(file: BinaryIO, options: WriteOptions, first: int, parts: list[BulkDeals]) -> None:
    for part in parts:
        at = 0
        for start, count in runs_of_one_width(first, len(part)):
            piece = BulkDeals(part.index[at : at + count], part.masks[:, :, at : at + count])
            file.write(pbn_text(piece, start, options))
            at += count
        first += len(part)


class _Worker:
    """One thread that does jobs in order, one waiting at most; its first error comes back to the caller."""

    def __init__(self) -> None:
        self._jobs: queue.Queue[Callable[[], None] | None] = queue.Queue(maxsize=1)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="deal-writer", daemon=True)

    def __enter__(self) -> _Worker:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._error = self._error or RuntimeError("stopped")
        self._jobs.put(None)
        self._thread.join()
        if kind is None and self._error is not None:
            raise self._error

    def do(self, job: Callable[[], None]) -> None:
        if self._error is not None:
            raise self._error
        self._jobs.put(job)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            if self._error is None:
                try:
                    job()
                except BaseException as error:
                    self._error = error
