"""Many deals at once with numpy: the same deal for the same index. ``dealer.bulk_check`` tells whether they are good.

A hand is four 13-bit masks, one a suit, ace in the highest bit. In that form the lexicographic order of hands is the
descending order of the masks read as one number, so a rank is taken apart suit by suit: how many cards the suit holds
and which, from a table of the 8,192 masks sorted and counted beforehand; East's and South's masks are then spread over
the cards that are left.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from dealer.cards import Seat
from dealer.deal import INDEX_BYTES, N_DEALS, Deal
from dealer.generate import RandBytes

U64 = npt.NDArray[np.uint64]
Masks = npt.NDArray[np.uint16]

_FULL = 0x1FFF
_EAST_BLOCK = comb(39, 13) * comb(26, 13)
_SOUTH_BLOCK = comb(26, 13)
_KEY = np.uint64(1 << 40)
_NEAR_BITS = 13
_LIMIT = np.frombuffer(N_DEALS.to_bytes(INDEX_BYTES, "big"), ">u4").astype(np.uint64)


@dataclass(frozen=True, slots=True)
class BulkDeals:
    """Deals as arrays.

    index: (n, 3) uint32, the index in base 2^32, most significant first. masks: (3, 4, n) uint16, North, East and
    South by suit, ace in bit 12; West has what is left.
    """

    index: npt.NDArray[np.uint32]
    masks: Masks

    def __len__(self) -> int:
        return int(self.index.shape[0])

    def __repr__(self) -> str:
        return f"BulkDeals({len(self)} deals)"

    def index_of(self, place: int) -> int:
        high, middle, low = (int(part) for part in self.index[place])
        return (high << 64) | (middle << 32) | low

    def deal(self, place: int) -> Deal:
        """One deal as the value that the rest of the program uses."""
        owners = bytearray([Seat.WEST]) * 52
        for seat in range(3):
            for suit in range(4):
                mask = int(self.masks[seat, suit, place])
                for rank in range(13):
                    if mask >> (12 - rank) & 1:
                        owners[13 * suit + rank] = seat
        return Deal(bytes(owners))


@dataclass(frozen=True, slots=True)
class _Tables:
    """Tables of 13-bit masks. For each level (suits still to come after this one: 3, 2, 1, 0) and number of cards still
    wanted: the masks in descending order, and how many hands come before each. last_start: where each number of cards
    starts in the table of the last suit. near: the place of every ``1 << shift``-th hand of each number of cards, from
    ``base`` on: nearly all hands are at the place of the one before them or at the next, found without a search.
    """

    popcount: npt.NDArray[np.uint8]
    keys: tuple[U64, ...]
    masks: tuple[Masks, ...]
    near: tuple[npt.NDArray[np.int32], ...]
    base: tuple[npt.NDArray[np.intp], ...]
    shift: tuple[U64, ...]
    last_start: U64
    spread_high: npt.NDArray[np.uint8]
    spread_low: npt.NDArray[np.uint8]


@lru_cache(maxsize=1)
def _tables() -> _Tables:
    values = np.arange(8192, dtype=np.uint16)
    popcount = np.bitwise_count(values).astype(np.uint8)
    descending = values[::-1]
    held = popcount[descending]
    all_keys: list[U64] = []
    all_masks: list[Masks] = []
    all_near: list[npt.NDArray[np.int32]] = []
    all_base: list[npt.NDArray[np.intp]] = []
    all_shift: list[U64] = []
    for suits_left in range(4):
        places = 13 * suits_left
        keys: list[U64] = []
        masks: list[Masks] = []
        near: list[npt.NDArray[np.int32]] = []
        shift: list[int] = []
        for wanted in range(14):
            ways = np.array([comb(places, wanted - k) if wanted >= k else 0 for k in range(14)], dtype=np.uint64)[held]
            possible = ways > 0
            before = np.cumsum(ways[possible]) - ways[possible]
            shift.append(max(0, (comb(places + 13, wanted) - 1).bit_length() - _NEAR_BITS))
            steps = np.arange(((comb(places + 13, wanted) - 1) >> shift[-1]) + 1, dtype=np.uint64) << np.uint64(
                shift[-1]
            )
            first = sum(map(len, keys))
            near.append((np.searchsorted(before, steps, side="right") + (first - 1)).astype(np.int32))
            keys.append(before.astype(np.uint64) + np.uint64(wanted) * _KEY)
            masks.append(descending[possible])
        all_keys.append(np.concatenate([*keys, np.array([14], dtype=np.uint64) * _KEY]))
        all_masks.append(np.concatenate(masks))
        all_near.append(np.concatenate(near))
        all_base.append(np.cumsum([0, *map(len, near[:-1])]))
        all_shift.append(np.array(shift, dtype=np.uint64))
    last_start = np.searchsorted(all_keys[0], np.arange(14, dtype=np.uint64) * _KEY).astype(np.uint64)
    return _Tables(
        popcount,
        tuple(all_keys),
        tuple(all_masks),
        tuple(all_near),
        tuple(all_base),
        tuple(all_shift),
        last_start,
        _spread_table(7),
        _spread_table(6),
    )


def _spread_table(width: int) -> npt.NDArray[np.uint8]:
    """table[free, bits]: the low bits of ``bits``, taken from its top, put on the set places of ``free``, top first.

    ``bits`` has popcount(free) digits.
    """
    size = 1 << width
    bits = np.arange(size, dtype=np.uint8)
    free = bits[:, None]
    left = np.bitwise_count(free)
    table = np.zeros((size, size), dtype=np.uint8)
    for place in range(width - 1, -1, -1):
        taken = free >> place & 1
        left = left - taken
        table |= (bits >> left & taken) << place
    return table


def random_indices(count: int, randbytes: RandBytes = os.urandom) -> npt.NDArray[np.uint32]:
    """``count`` indices, uniform in [0, N_DEALS), as (count, 3) uint32. Takes the bytes in the same order, and rejects
    the same draws, as ``dealer.generate.random_index`` called ``count`` times.
    """
    parts: list[npt.NDArray[np.uint32]] = []
    missing = count
    while missing:
        drawn = np.frombuffer(randbytes(missing * INDEX_BYTES), ">u4").reshape(missing, 3).astype(np.uint32)
        kept = drawn[_below_limit(drawn)]
        parts.append(kept)
        missing -= len(kept)
    return np.concatenate(parts) if parts else np.zeros((0, 3), dtype=np.uint32)


def _below_limit(drawn: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    high, middle, low = (drawn[:, column] for column in range(3))
    a, b, c = (int(part) for part in _LIMIT)
    result: npt.NDArray[np.bool_] = (high < a) | ((high == a) & ((middle < b) | ((middle == b) & (low < c))))
    return result


def unrank(index: npt.NDArray[np.uint32]) -> BulkDeals:
    """Deals for indices given as (n, 3) uint32; the caller has made sure that they are below N_DEALS."""
    tables = _tables()
    count = index.shape[0]
    masks = np.empty((3, 4, count), dtype=np.uint16)
    north, rest = _divide(index[:, 0], index[:, 1], index[:, 2], _EAST_BLOCK)
    east, south = np.divmod(rest, np.uint64(_SOUTH_BLOCK))
    _subset(north, 4, masks[0], tables)
    free = np.bitwise_xor(masks[0], _FULL)
    packed = _subset_packed(east, 3, tables)
    _spread(packed, 39, free, masks[1], tables)
    free ^= masks[1]
    packed = _subset_packed(south, 2, tables)
    _spread(packed, 26, free, masks[2], tables)
    return BulkDeals(index, masks)


def _divide(
    high: npt.NDArray[np.uint32], middle: npt.NDArray[np.uint32], low: npt.NDArray[np.uint32], divisor: int
) -> tuple[U64, U64]:
    """Quotient and remainder of 96-bit numbers by a divisor below 2^57; the quotient fits in 64 bits.

    An estimate in floating point is off by a little; what is left of it fits in 64 bits and is put right exactly.
    """
    top = high.astype(np.uint64) << np.uint64(32) | middle
    bottom = low.astype(np.uint64)
    estimate = (top.astype(np.float64) * 4294967296.0 + bottom.astype(np.float64)) / float(divisor)
    quotient = estimate.astype(np.uint64)
    # Modulo 2^64 is enough: the true remainder is small, whatever overflows cancels.
    whole = (top << np.uint64(32)) + bottom
    rest = (whole - quotient * np.uint64(divisor)).view(np.int64)
    off = np.floor_divide(rest, divisor)
    quotient = (quotient.view(np.int64) + off).view(np.uint64)
    rest -= off * divisor
    return quotient, rest.view(np.uint64)


def _digits(rank: U64, suits: int, tables: _Tables) -> list[Masks]:
    """13-bit blocks of the subset with this rank among 13 * suits cards, first block first."""
    blocks: list[Masks] = []
    wanted: npt.NDArray[Any] = np.full(rank.shape, 13, dtype=np.uint64)
    rest: npt.NDArray[Any] = rank
    for suits_left in range(suits - 1, -1, -1):
        keys, masks = tables.keys[suits_left], tables.masks[suits_left]
        if not suits_left:
            # In the last suit each holding is one hand, so that its place can be told without a search.
            blocks.append(masks[tables.last_start[wanted] + rest])
            break
        key = rest + wanted * _KEY
        part = (rest >> tables.shift[suits_left][wanted]).astype(np.intp)
        place = tables.near[suits_left][tables.base[suits_left][wanted] + part]
        place += keys[place + 1] <= key
        further = np.flatnonzero(keys[place + 1] <= key)
        place[further] = np.searchsorted(keys, key[further], side="right") - 1
        mask = masks[place]
        blocks.append(mask)
        rest = key - keys[place]
        wanted = wanted - tables.popcount[mask]
    return blocks


def _subset(rank: U64, suits: int, out: Masks, tables: _Tables) -> None:
    for suit, block in enumerate(_digits(rank, suits, tables)):
        out[suit] = block


def _subset_packed(rank: U64, suits: int, tables: _Tables) -> U64:
    packed = np.zeros(rank.shape, dtype=np.uint64)
    for block in _digits(rank, suits, tables):
        packed = packed << np.uint64(13) | block
    return packed


def _spread(packed: U64, width: int, free: Masks, out: Masks, tables: _Tables) -> None:
    """Put the bits of ``packed`` (``width`` of them, first card on top) on the free cards of the four suits."""
    left = np.full(packed.shape, width, dtype=np.uint64)
    for suit in range(4):
        for shift, table in ((6, tables.spread_high), (0, tables.spread_low)):
            part = free[suit] >> shift & (0x7F if shift else 0x3F)
            size = tables.popcount[part].astype(np.uint64)
            left -= size
            bits = packed >> left & ((np.uint64(1) << size) - np.uint64(1))
            spread = table[part, bits].astype(np.uint16)
            if shift:
                out[suit] = spread << 6
            else:
                out[suit] |= spread


def west_masks(deals: BulkDeals) -> Masks:
    """(4, n) uint16: what North, East and South leave."""
    rest: Masks = np.bitwise_xor(deals.masks[0] | deals.masks[1] | deals.masks[2], np.uint16(_FULL))
    return rest


def pack_hands(deals: BulkDeals) -> tuple[U64, U64, U64]:
    """North, East and South as 52-bit numbers, spade ace on top."""
    north, east, south = (
        (hand[0].astype(np.uint64) << np.uint64(39))
        | (hand[1].astype(np.uint64) << np.uint64(26))
        | (hand[2].astype(np.uint64) << np.uint64(13))
        | hand[3]
        for hand in deals.masks
    )
    return north, east, south


def routings(deals: BulkDeals) -> npt.NDArray[np.uint8]:
    """(n, 13) uint8: ``Deal.routing`` of each deal."""
    north, east, south = pack_hands(deals)
    west = ~(north | east | south) & np.uint64((1 << 52) - 1)
    low, high = east | west, south | west
    result = np.empty((len(deals), 13), dtype=np.uint8)
    table = _routing_table()
    for place in range(13):
        shift = np.uint64(48 - 4 * place)
        nibbles = ((high >> shift) & np.uint64(15)) << np.uint64(4) | ((low >> shift) & np.uint64(15))
        result[:, place] = table[nibbles]
    return result


@lru_cache(maxsize=1)
def _routing_table() -> npt.NDArray[np.uint8]:
    table = np.zeros(256, dtype=np.uint8)
    for value in range(256):
        for card in range(4):
            seat = (value >> (3 - card) & 1) | (value >> (7 - card) & 1) << 1
            table[value] |= seat << 2 * card
    return table


def rank(masks: Masks) -> npt.NDArray[np.uint32]:
    """Inverse of ``unrank``: indices as (n, 3) uint32 for (3, 4, n) masks, 13 cards a hand, none shared."""
    tables = _tables()
    north = _rank_of([masks[0, suit] for suit in range(4)])
    free = np.bitwise_xor(masks[0], np.uint16(_FULL))
    east = _rank_of(_squeeze(masks[1], free, 39, tables))
    free ^= masks[1]
    south = _rank_of(_squeeze(masks[2], free, 26, tables))
    rest = east * np.uint64(_SOUTH_BLOCK) + south
    # north * block + rest in base 2^32; north has 40 bits and the block 57, so each product below has fewer than 64
    low_block, high_block = np.uint64(_EAST_BLOCK & 0xFFFFFFFF), np.uint64(_EAST_BLOCK >> 32)
    half, word = np.uint64(20), np.uint64(32)
    mask = np.uint64(0xFFFFFFFF)
    n0, n1 = north & np.uint64(0xFFFFF), north >> half
    cross = n1 * low_block
    low = n0 * low_block + ((cross & np.uint64(0xFFF)) << half) + (rest & mask)
    middle = (low >> word) + (cross >> np.uint64(12)) + north * high_block + (rest >> word)
    return np.stack([middle >> word, middle & mask, low & mask], axis=1).astype(np.uint32)


@lru_cache(maxsize=4)
def _before(suits_left: int) -> U64:
    """table[wanted, mask]: hands that come before those that hold ``mask`` in this suit and are to get ``wanted``."""
    tables = _tables()
    table = np.zeros((14, 8192), dtype=np.uint64)
    keys = tables.keys[suits_left][:-1]
    wanted = (keys // _KEY).astype(np.intp)
    table[wanted, tables.masks[suits_left]] = keys % _KEY
    return table


def _rank_of(blocks: Sequence[Masks]) -> U64:
    tables = _tables()
    result = np.zeros(blocks[0].shape, dtype=np.uint64)
    wanted = np.full(blocks[0].shape, 13, dtype=np.intp)
    for place, block in enumerate(blocks):
        result += _before(len(blocks) - 1 - place)[wanted, block]
        wanted -= tables.popcount[block]
    return result


def _squeeze(masks: Masks, free: Masks, width: int, tables: _Tables) -> list[Masks]:
    """13-bit blocks of a hand among the free cards only: the inverse of ``_spread``."""
    packed = np.zeros(masks.shape[1], dtype=np.uint64)
    for suit in range(4):
        for shift, table in ((6, _squeeze_table(7)), (0, _squeeze_table(6))):
            keep = 0x7F if shift else 0x3F
            part = free[suit] >> shift & keep
            packed = packed << tables.popcount[part].astype(np.uint64) | table[part, masks[suit] >> shift & keep]
    return [(packed >> np.uint64(shift) & np.uint64(_FULL)).astype(np.uint16) for shift in range(width - 13, -1, -13)]


@lru_cache(maxsize=2)
def _squeeze_table(width: int) -> npt.NDArray[np.uint8]:
    """table[free, held]: the bits of ``held`` at the set places of ``free``, moved together."""
    size = 1 << width
    table = np.zeros((size, size), dtype=np.uint8)
    held = np.arange(size, dtype=np.uint16)
    for free in range(size):
        row: npt.NDArray[Any] = np.zeros(size, dtype=np.uint16)
        for place in range(width - 1, -1, -1):
            if free >> place & 1:
                row = row << 1 | (held >> place & 1)
        table[free] = row
    return table
