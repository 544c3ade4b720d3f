"""Random deals for a club's set: one uniform index a board, from the operating system's generator.

Twelve bytes make a number below 2^96; it is thrown away when it is not below the number of deals, so every deal has
exactly the same chance. ``dealer.bulk`` gives the same deals for the same indices, many at a time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from dealer.board import Board
from dealer.deal import INDEX_BYTES, N_DEALS, Deal
from firmware_bridge.errors import ConfigError, DealError

RandBytes = Callable[[int], bytes]
"""Gives that many random bytes."""

MAX_BOARD_NUMBER = 10_000_000
"""Board numbers above this are refused: nobody has such a set, and a slip of the finger must not fill the memory."""


class Origin(StrEnum):
    """Where a set of boards comes from; it decides what a repeat means and whether the set may be played."""

    OWN = "own"
    SEEDED = "seeded"
    EXTERNAL = "external"
    REPLAY = "replay"
    CONSTRAINED = "constrained"


@dataclass(frozen=True, slots=True)
class DealSet:
    """Boards that belong together.

    id: 16 hex digits drawn at random; it says nothing about the cards and stays the same when the set is extended.
    fingerprint: of the commitment the set was made under, or "".
    """

    id: str
    origin: Origin
    boards: tuple[Board, ...] = field(repr=False)
    fingerprint: str = ""

    @property
    def not_for_play(self) -> bool:
        """True for a seeded set: whoever knows the seed knows the cards."""
        return self.origin is Origin.SEEDED

    def extended(self, more: Sequence[Board]) -> DealSet:
        """The same set with further boards. Raises DealError when a number is there already."""
        taken = {board.number for board in self.boards}
        for board in more:
            if board.number in taken:
                raise DealError(
                    f"Board {board.number} is in the set already.",
                    next_step=f"Ask for numbers from {max(taken) + 1} on.",
                    code="board-repeated",
                )
        return DealSet(self.id, self.origin, (*self.boards, *more), self.fingerprint)


class SeededBytes:
    """A repeatable stream of bytes from a seed: SHA-256 in counter mode. For simulations only."""

    def __init__(self, seed: int | str) -> None:
        self._key = hashlib.sha256(b"firmware-bridge simulation seed\x00" + str(seed).encode()).digest()
        self._block = 0
        self._left = b""

    def __call__(self, size: int) -> bytes:
        parts = [self._left]
        have = len(self._left)
        while have < size:
            parts.append(hashlib.sha256(self._key + self._block.to_bytes(8, "little")).digest())
            self._block += 1
            have += 32
        stream = b"".join(parts)
        self._left = stream[size:]
        return stream[:size]


def random_index(randbytes: RandBytes = os.urandom) -> int:
    """A deal index, uniform in [0, N_DEALS): 12 bytes, big-endian, drawn again until the number is below N_DEALS."""
    while True:
        index = int.from_bytes(randbytes(INDEX_BYTES), "big")
        if index < N_DEALS:
            return index


def generate(numbers: Iterable[int], randbytes: RandBytes = os.urandom) -> list[Board]:
    """One random board per number, in the order given.

    Raises DealError when a number comes twice or is not in 1..MAX_BOARD_NUMBER.
    """
    return [Board(number, Deal.from_index(random_index(randbytes))) for number in check_numbers(numbers)]


def new_set(numbers: Iterable[int], *, seed: int | str | None = None, randbytes: RandBytes = os.urandom) -> DealSet:
    """A set of random boards: own random, or seeded (never for play) when ``seed`` is given."""
    if seed is not None:
        return DealSet(seeded_set_id(seed), Origin.SEEDED, tuple(generate(numbers, SeededBytes(seed))))
    return DealSet(randbytes(8).hex(), Origin.OWN, tuple(generate(numbers, randbytes)))


def seeded_set_id(seed: int | str) -> str:
    """The id of a seeded set: the same for the same seed."""
    return hashlib.sha256(f"set id {seed}".encode()).hexdigest()[:16]


def check_numbers(numbers: Iterable[int]) -> list[int]:
    """The numbers as a list. Raises DealError for one that repeats or lies outside 1..MAX_BOARD_NUMBER."""
    seen: set[int] = set()
    for number in (wanted := list(numbers)):
        if not 1 <= number <= MAX_BOARD_NUMBER:
            raise DealError(f"There is no board {number}.", code="board-number")
        if number in seen:
            raise DealError(f"Board {number} is asked for twice.", code="board-repeated")
        seen.add(number)
    return wanted


def parse_runs(text: str) -> list[tuple[int, int]]:
    """Board numbers as people write them, "1-24", "3", "1-8,25-27", as (first, count) in the order given.

    Raises ConfigError for anything else, a range that goes down, or a number twice.
    """
    runs: list[tuple[int, int]] = []
    for part in text.split(","):
        low, dash, high = (piece.strip() for piece in part.partition("-"))
        ends = (low, high) if dash else (low, low)
        if not all(end.isascii() and end.isdigit() and len(end) <= 8 for end in ends):
            raise ConfigError(f"Board numbers can't be read from {text[:40]!r}.", next_step="Write them like 1-24,27.")
        first, last = int(ends[0]), int(ends[1])
        if not 1 <= first <= last <= MAX_BOARD_NUMBER:
            raise ConfigError(f"{part.strip()} is not a range of board numbers.", next_step="Write it like 1-24.")
        runs.append((first, last - first + 1))
    end = 0
    for first, count in sorted(runs):
        if first < end:
            raise ConfigError("A board number is asked for twice.", next_step="Name every board once.")
        end = first + count
    return runs


def parse_numbers(text: str) -> list[int]:
    """``parse_runs`` as a list of numbers."""
    return [number for first, count in parse_runs(text) for number in range(first, first + count)]
