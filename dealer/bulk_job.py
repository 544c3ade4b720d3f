"""A large set from random bytes to a PBN file and the history, block by block in constant memory.

While a block's text is laid out and written, another thread puts its digests into the history: that is a few long
calls into SQLite, which lets go of the interpreter, so that the two never wait for each other. Where there is a second
core, another process deals the first half of every block.
"""

from __future__ import annotations

import hashlib
import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from dealer.bulk import BulkDeals, random_indices, routings, unrank
from dealer.bulk_check import repeated_places, verify_bulk
from dealer.bulk_half import Half
from dealer.bulk_pbn import longest_row, pbn_text, runs_of_one_width
from dealer.files import settle
from dealer.formats.options import WriteOptions
from dealer.formats.pbn_write import charset_for, header
from dealer.generate import RandBytes
from dealer.history import DIGEST_BYTES, HISTORY_TAG
from firmware_bridge.errors import DealError

BLOCK = 32_768
"""Boards whose digests are sorted and recorded together: the more, the faster the database takes them."""
CHUNK = 16_384
"""Boards whose arrays fit into a processor's cache together."""

Record = Callable[[bytes, bytes, int], None]
"""Takes digests in ascending order (16 bytes each), board numbers (8 digits each), and how many."""

WORTH_A_PROCESS = 20_000
TOO_MANY_FOR_TWO = 250_000
"""From here on one process works alone, so that the whole run stays below 100 MB."""


def second_process(total: int, options: WriteOptions, *, with_digests: bool) -> Half | None:
    """A process for half of the work of ``total`` boards, or None where that is not possible or not worth it.

    Start it before a database is opened: an open one must not be carried into another process.
    """
    if not WORTH_A_PROCESS <= total <= TOO_MANY_FOR_TWO or not hasattr(os, "fork") or (os.cpu_count() or 1) < 2:
        return None
    work = partial(_deal_part, options=options, with_digests=with_digests)
    return Half(work, (4 * BLOCK + 6) // 7, longest_row(options))


def generate_to_file(
    runs: Sequence[tuple[int, int]],
    file: BinaryIO,
    options: WriteOptions,
    *,
    randbytes: RandBytes = os.urandom,
    record: Record | None = None,
    progress: Callable[[int], None] | None = None,
    half: Half | None = None,
) -> npt.NDArray[np.uint32]:
    """Deal boards, verify them, record them, write them as PBN. Returns the index of every board, (n, 3) uint32.

    The boards are the ones that ``dealer.generate.generate`` deals from the same bytes. half: see ``second_process``;
    made with digests when there is a ``record``. Raises DealError when a deal is refused, and whatever ``record`` or
    ``file`` raises.
    """
    end = "\r\n" if options.dialect != "import" else "\n"
    charset = charset_for(options)
    lines = header(options, charset)
    if options.dialect == "import":
        lines.append('[Generator "Big Deal version 2.0"]')
    file.write((end.join(lines) + end).encode(charset, "replace"))
    every = np.empty((sum(count for _, count in runs), 3), dtype=np.uint32)
    done = 0
    blocks = _drawn(runs, randbytes)
    block = next(blocks, None)
    with _Worker() as worker:
        if block is not None and half is not None:
            half.start(block[1][: _lent(block[1])], block[0])
        while block is not None:
            first, index = block
            lent = _lent(index) if half is not None else 0
            bad, digests, text = _deal_part(
                index[lent:], first + lent, options=options, with_digests=record is not None
            )
            block = next(blocks, None)
            if half is not None:
                # The helper's part is the first one: written out at once, it frees the helper for the next block.
                other_bad, other_digests, other_text = half.result(lent, record is not None)
                bad, digests = bad or other_bad, other_digests + digests
                file.write(other_text)
                if block is not None:
                    half.start(block[1][: _lent(block[1])], block[0])
            if bad:
                raise DealError(f"Board {bad} is not a deal of a shuffled pack.", code="unshuffled")
            if record is not None:
                worker.do(partial(record, *_in_order(digests, first), len(index)))
            for piece in text:
                file.write(piece)
            every[done : done + len(index)] = index
            done += len(index)
            if progress:
                progress(done)
        again = repeated_places(every)
        # The disk is at work while the last digests are still on their way into the database.
        settle(file)
    if again:
        raise DealError(f"{len(again)} deals come twice; chance does not do that.", code="deal-repeated")
    return every


def _lent(index: npt.NDArray[np.uint32]) -> int:
    """How many boards of a block the helping process deals: more than half, as the rest of the work is done here."""
    return (4 * len(index) + 6) // 7


def _drawn(runs: Sequence[tuple[int, int]], randbytes: RandBytes) -> Iterator[tuple[int, npt.NDArray[np.uint32]]]:
    """First board number and indices of each block."""
    for first, count in runs:
        parts = -(-count // BLOCK)
        edges = [first + part * count // parts for part in range(parts + 1)]
        for start, end in pairwise(edges):
            yield start, random_indices(end - start, randbytes)


def _deal_part(
    index: npt.NDArray[np.uint32], first: int, *, options: WriteOptions, with_digests: bool
) -> tuple[int, bytes, list[memoryview]]:
    """Number of a board that is no deal of a shuffled pack (0 when all are good), 16 bytes of digest a deal, text."""
    digests: list[bytes] = []
    text: list[memoryview] = []
    for place in range(0, len(index), CHUNK):
        part = unrank(index[place : place + CHUNK])
        bad = verify_bulk(part)
        if bad:
            return first + place + bad[0], b"", []
        if with_digests:
            digests.append(_digests(part))
        at = 0
        for start, count in runs_of_one_width(first + place, len(part)):
            piece = BulkDeals(part.index[at : at + count], part.masks[:, :, at : at + count])
            text.append(pbn_text(piece, start, options))
            at += count
    return 0, b"".join(digests), text


def _digests(part: BulkDeals) -> bytes:
    rows = routings(part).tobytes()
    sha256, tag, size = hashlib.sha256, HISTORY_TAG, DIGEST_BYTES
    return b"".join([sha256(tag + rows[at : at + 13]).digest()[:size] for at in range(0, len(rows), 13)])


def _in_order(digests: bytes, first: int) -> tuple[bytes, bytes]:
    """Digests in ascending order, and the board number of each as eight digits."""
    table = np.frombuffer(digests, dtype=np.uint8).reshape(-1, DIGEST_BYTES)
    order = np.argsort(np.ascontiguousarray(table[:, :8]).view(">u8").ravel().astype(np.uint64))
    numbers = order + first
    text = np.empty((len(table), 8), dtype=np.uint8)
    for place in range(7, -1, -1):
        text[:, place] = numbers % 10 + 48
        numbers //= 10
    return table[order].tobytes(), text.tobytes()


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
