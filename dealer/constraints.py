"""Teaching sets: deals that meet conditions, found by dealing at random and leaving out what does not fit.

Nothing is arranged: among the deals that fit, each is as likely as any other. A condition reads "SEAT WHAT HOW-MUCH":
SEAT is N, E, S, W, NS or EW; WHAT is hcp, spades, hearts, diamonds, clubs, balanced or shape; HOW-MUCH is a number, a
range ("15-17"), "12+", or for shape the lengths in any order ("5332", several joined by "|"). Several must all be met.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dealer.board import Board
from dealer.bulk import BulkDeals, random_indices, unrank, west_masks
from dealer.generate import DealSet, Origin, RandBytes, SeededBytes, check_numbers, seeded_set_id
from firmware_bridge.errors import ConfigError, DealError

MAX_TRIED = 50_000_000
"""Deals that are looked at before a set is given up (about a minute)."""
_BATCH = 8192
_SUITS = {"spades": 0, "hearts": 1, "diamonds": 2, "clubs": 3}
_BALANCED = frozenset({"4333", "4432", "5332"})
_CONDITION = re.compile(r"\s*(NS|EW|[NESW])\s+([a-z]+)(?:\s+(\S+))?\s*\Z", re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,2})(?:(\+)|-(\d{1,2}))?\Z")


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition. seats: whose cards are counted together. low, high: both ends count. shapes: for "shape" only."""

    seats: tuple[int, ...]
    what: str
    low: int = 0
    high: int = 99
    shapes: frozenset[str] = frozenset()

    def holds(self, facts: Facts) -> npt.NDArray[np.bool_]:
        """For each deal whether it meets the condition."""
        if self.shapes:
            wanted = [int(shape) for shape in self.shapes]
            return np.isin(facts.shape[self.seats[0]], wanted)
        table = facts.points if self.what == "hcp" else facts.lengths[:, _SUITS[self.what]]
        total = table[list(self.seats)].sum(axis=0)
        met: npt.NDArray[np.bool_] = (total >= self.low) & (total <= self.high)
        return met


@dataclass(frozen=True, slots=True)
class Facts:
    """Of n deals: points (4, n), lengths (4 seats, 4 suits, n), and shape (4, n), lengths as digits, longest first."""

    points: npt.NDArray[Any]
    lengths: npt.NDArray[Any]
    shape: npt.NDArray[Any]


def facts_of(deals: BulkDeals) -> Facts:
    """High-card points and lengths of all hands."""
    masks = np.concatenate([deals.masks, west_masks(deals)[np.newaxis]])
    lengths = np.bitwise_count(masks).astype(np.int64)
    honours = (masks >> 9).astype(np.int64)  # ace, king, queen, jack
    worth = np.array([sum(4 - k for k in range(4) if value >> (3 - k) & 1) for value in range(16)])
    points = worth[honours].sum(axis=1)
    ordered = -np.sort(-lengths, axis=1)
    shape = ((ordered[:, 0] * 100 + ordered[:, 1]) * 100 + ordered[:, 2]) * 100 + ordered[:, 3]
    return Facts(points, lengths, shape)


def _shape_key(shape: str) -> str:
    digits = sorted((int(digit) for digit in shape), reverse=True)
    return str(((digits[0] * 100 + digits[1]) * 100 + digits[2]) * 100 + digits[3])


def parse_condition(text: str) -> Condition:
    """Raises ConfigError for what is no condition, or can never be met."""
    match = _CONDITION.match(text)
    if match is None:
        raise _wrong(text)
    who, what, amount = match.group(1).upper(), match.group(2).lower(), match.group(3)
    seats = tuple("NESW".index(letter) for letter in who)
    if what in ("shape", "balanced"):
        shapes = sorted(_BALANCED) if what == "balanced" else (amount or "").split("|")
        plain = all(len(shape) == 4 and shape.isdigit() and sum(map(int, shape)) == 13 for shape in shapes)
        if len(seats) != 1 or not plain or (what == "balanced") == (amount is not None):
            raise _wrong(text)
        return Condition(seats, "shape", shapes=frozenset(map(_shape_key, shapes)))
    found = _RANGE.match(amount or "")
    if found is None or (what != "hcp" and what not in _SUITS):
        raise _wrong(text)
    low = int(found.group(1))
    high = 99 if found.group(2) else int(found.group(3) or low)
    most = 37 if what == "hcp" and len(seats) == 1 else 40 if what == "hcp" else 13
    if low > high or low > most:
        raise _wrong(text)
    return Condition(seats, what, low, high)


def _wrong(text: str) -> ConfigError:
    return ConfigError(
        f"{text[:60]!r} is not a condition that a deal can meet.",
        next_step="Write for example 'N hcp 15-17', 'S spades 5+', 'EW hcp 20+', 'N shape 5332|4432', 'N balanced'.",
    )


def constrained_set(
    numbers: Sequence[int],
    conditions: Sequence[str],
    *,
    seed: int | str | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[DealSet, str]:
    """A set whose boards all meet the conditions, and the acceptance rate in words.

    The set is marked constrained, or seeded (not for play) with a seed. Raises ConfigError for a bad condition and
    DealError when too few deals fit.
    """
    wanted = check_numbers(numbers)
    rules = [parse_condition(text) for text in conditions]
    source: RandBytes = os.urandom if seed is None else SeededBytes(seed)
    boards: list[Board] = []
    tried = 0
    while len(boards) < len(wanted):
        if tried >= MAX_TRIED:
            raise DealError(
                f"Only {len(boards)} of {tried} deals meet the conditions.",
                next_step="Ask for less.",
                code="conditions-too-narrow",
            )
        deals = unrank(random_indices(_BATCH, source))
        facts = facts_of(deals)
        fits = np.ones(len(deals), dtype=np.bool_)
        for rule in rules:
            fits &= rule.holds(facts)
        for place in np.flatnonzero(fits):
            boards.append(Board(wanted[len(boards)], deals.deal(int(place))))
            if len(boards) == len(wanted):
                tried += int(place) + 1
                break
        else:
            tried += len(deals)
            if tried % (_BATCH * 512) == 0:
                tell(f"{tried} deals looked at, {len(boards)} of {len(wanted)} found")
    rate = f"Accepted {len(boards)} of {tried} deals ({100 * len(boards) / tried:.4g} %)."
    if seed is not None:
        return DealSet(seeded_set_id(seed), Origin.SEEDED, tuple(boards)), rate
    return DealSet(os.urandom(8).hex(), Origin.CONSTRAINED, tuple(boards)), rate
