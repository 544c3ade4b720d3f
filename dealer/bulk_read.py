"""Checking large PBN files that are regular, block by block: the layout that programs write, nothing to repair.

A file in which anything is unusual (a comment, a tag out of place, a hand that is not thirteen cards, a repeat) is not
judged here: the answer is None, and the reader that lists repairs and problems by line takes over. The names of tags
that say nothing about the boards are not looked at.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dealer.bulk import BulkDeals, Masks, pack_hands
from dealer.bulk_check import verify_bulk
from dealer.formats.collect import Collector
from dealer.formats.pbn_games import read_escape_line
from dealer.generate import MAX_BOARD_NUMBER, Origin

MAX_BYTES = 4 * 1024**3
BLOCK = 1 << 20
_ROW = 69
"""Characters of a Deal value."""
_ROWS = 2048

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class RegularFile:
    """What is known of a regular file that has no fault: the number of boards, and the set as its header names it."""

    found: int
    set_id: str
    origin: Origin | None
    fingerprint: str


class _IrregularError(Exception):
    """Something here needs the careful reader."""


def check_regular_pbn(path: str | os.PathLike[str]) -> RegularFile | None:
    """Read and verify a PBN file of any size in constant memory; None when it is not regular or not good.

    Verified as ``verify_boards`` does: 52 different cards, 13 a hand, dealer and vulnerability by the number, no number
    and no deal twice, no unshuffled pack. Raises OSError.
    """
    if os.path.getsize(path) > MAX_BYTES:
        return None
    about = Collector("pbn")
    numbers: list[npt.NDArray[np.int32]] = []
    hands: list[npt.NDArray[np.uint64]] = []
    try:
        for block in _blocks(path, about):
            number, deals = _parse(block)
            if verify_bulk(deals):
                return None
            numbers.append(number.astype(np.int32))
            north, east, _ = pack_hands(deals)
            # One number for both hands; two different deals have the same one with a chance of 2^-64.
            hands.append((north * np.uint64(0x9E3779B97F4A7C15)) ^ east)
    except _IrregularError:
        return None
    if not numbers:
        return None
    found = sum(map(len, numbers))
    if _any_twice(numbers) or _any_twice(hands):
        return None
    return RegularFile(found, about.set_id, about.origin, about.fingerprint)


def _any_twice(parts: list[Any]) -> bool:
    every = np.concatenate(parts)
    parts.clear()
    every.sort()
    return bool(np.any(every[1:] == every[:-1]))


def _blocks(path: str | os.PathLike[str], about: Collector) -> Iterator[bytes]:
    """Pieces of whole games, without the header's escape lines."""
    with open(path, "rb") as file:
        rest = b""
        first = True
        while True:
            more = file.read(BLOCK)
            data = rest + more
            if first:
                data = _without_header(data, about)
                first = False
            if not more:
                if data.strip():
                    yield data
                return
            cut = max(data.rfind(b"\r\n\r\n"), data.rfind(b"\n\n"))
            if cut < 0:
                raise _IrregularError
            cut = data.index(b"[", cut) if b"[" in data[cut:] else len(data)
            rest = data[cut:]
            yield data[:cut]


def _without_header(data: bytes, about: Collector) -> bytes:
    at = 0
    while data.startswith(b"%", at):
        end = data.find(b"\n", at)
        if end < 0:
            raise _IrregularError
        read_escape_line(data[at:end].decode("latin-1"), about)
        at = end + 1
    if data.startswith(b"[Generator ", at):
        at = data.find(b"\n", at) + 1
    return data[at:]


def _parse(data: bytes) -> tuple[npt.NDArray[np.int64], BulkDeals]:
    # One byte at a time is searched for ten times as fast as two.
    if any(sign in data for sign in (b"{", b";", b"#", b"\\", b"\x00", b"\x1a")):
        raise _IrregularError
    text: Bytes = np.frombuffer(data, dtype=np.uint8)
    starts: Places = np.concatenate([np.zeros(1, dtype=np.intp), np.flatnonzero(text[:-1] == 10) + 1])
    first = text[starts]
    tags = starts[first == ord("[")]
    blank = int(np.count_nonzero((first == 13) | (first == 10)))
    if len(tags) + blank != len(starts) or data.count(b"[") != len(tags) or not len(tags):
        raise _IrregularError
    _check_ends(text, data, starts[first == ord("[")], starts)
    padded = np.concatenate([text, np.zeros(100, dtype=np.uint8)])
    first_letter, fourth_letter = padded[tags + 1], padded[tags + 4]
    # A tag in other letters, or the beginning of one more game behind the last: both are said by the careful reader.
    if (first_letter > ord("Z")).any() or ((fourth_letter >= ord("A")) & (fourth_letter <= ord("Z"))).any():
        raise _IrregularError
    kind = first_letter.astype(np.int64) << 8 | fourth_letter
    board = _kind(padded, tags[kind == (ord("B") << 8 | ord("r"))], b'[Board "')
    vulnerable = _kind(padded, tags[kind == (ord("V") << 8 | ord("n"))], b'[Vulnerable "')
    dealers = tags[kind == (ord("D") << 8 | ord("l"))]
    dealers = dealers[padded[dealers + 3] == ord("a")]
    is_deal = padded[dealers + 5] == ord(" ")
    deal = _kind(padded, dealers[is_deal], b'[Deal "')
    dealer = _kind(padded, dealers[~is_deal], b'[Dealer "')
    count = len(board)
    if count and data.rfind(b"[Event ") > board[-1]:
        raise _IrregularError
    if not count or not len(vulnerable) == len(deal) == len(dealer) == count or blank < count - 1:
        raise _IrregularError
    in_order = (board < dealer) & (dealer < vulnerable) & (vulnerable < deal)
    if not in_order.all() or not (deal[:-1] < board[1:]).all():
        raise _IrregularError
    numbers = _numbers(padded, board + 8)
    _check_law_2(padded, numbers, dealer + 9, vulnerable + 13)
    masks = np.concatenate([_masks(padded, deal[at : at + _ROWS] + 7) for at in range(0, count, _ROWS)], axis=2)
    return numbers, BulkDeals(np.zeros((count, 3), dtype=np.uint32), masks)


def _check_ends(text: Bytes, data: bytes, tags: Places, starts: Places) -> None:
    """Raise unless every tag's line ends with a quotation mark and a bracket, and holds no other quotation mark."""
    ends = np.append(starts[1:], len(text)) - 1
    ends = ends[text[starts] == ord("[")]
    if text[-1] != 10:
        ends[-1] += 1
    ends = ends - (text[ends - 1] == 13)
    if not ((text[ends - 1] == ord("]")) & (text[ends - 2] == ord('"'))).all() or data.count(b'"') != 2 * len(tags):
        raise _IrregularError


def _kind(text: Bytes, at: Places, name: bytes) -> Places:
    """``at``, when the tag's name stands at every one of these places."""
    for place, letter in enumerate(name):
        if not (text[at + place] == letter).all():
            raise _IrregularError
    return at


def _numbers(text: Bytes, at: Places) -> npt.NDArray[np.int64]:
    value = np.zeros(len(at), dtype=np.int64)
    going = np.ones(len(at), dtype=np.bool_)
    for place in range(9):
        letter = text[at + place].astype(np.int64)
        digit = going & (letter >= 48) & (letter <= 57)
        value = np.where(digit, value * 10 + letter - 48, value)
        ended = going & ~digit
        if not (letter[ended] == ord('"')).all():
            raise _IrregularError
        going = digit
    if going.any() or (value < 1).any() or (value > MAX_BOARD_NUMBER).any():
        raise _IrregularError
    return value


def _check_law_2(text: Bytes, numbers: npt.NDArray[np.int64], dealer: Places, vulnerable: Places) -> None:
    seats = np.frombuffer(b"NESW", dtype=np.uint8)
    if not (text[dealer] == seats[(numbers - 1) % 4]).all() or not (text[dealer + 1] == ord('"')).all():
        raise _IrregularError
    words = [b'None"', b'NS"\0\0', b'EW"\0\0', b'All"\0']
    turn = (numbers - 1) % 16
    expected = (turn + turn // 4) % 4
    for place in range(5):
        wanted = np.array([word[place] for word in words], dtype=np.uint8)[expected]
        if not ((text[vulnerable + place] == wanted) | (wanted == 0)).all():
            raise _IrregularError


_BITS = np.zeros(256, dtype=np.uint16)
for _place, _letter in enumerate(b"AKQJT98765432"):
    _BITS[_letter] = 1 << (12 - _place)
_MARKS = np.frombuffer(b":... ... ... ...", dtype=np.uint8)
"""What stands before each of the sixteen holdings of a Deal value."""


def _masks(text: Bytes, at: Places) -> Masks:
    """(3, 4, n) masks of the Deal values at these places.

    A value has room for 52 cards and 16 marks; thirteen different bits in each of four hands leave none for a repeat.
    """
    count = len(at)
    rows = np.lib.stride_tricks.as_strided(text, shape=(len(text) - _ROW - 2, _ROW + 2), strides=(1, 1))[at]
    if not ((rows[:, _ROW] == ord('"')) & (rows[:, _ROW + 1] == ord("]"))).all():
        raise _IrregularError
    letters = rows[:, 1:_ROW].ravel()
    bits = _BITS[letters]
    # Whatever is no card begins a holding, so that a strange letter is a mark too many.
    marks = np.flatnonzero(bits == 0)
    if len(marks) != 16 * count or not (letters[marks].reshape(count, 16) == _MARKS).all():
        raise _IrregularError
    held = np.bitwise_or.reduceat(bits, marks).reshape(count, 4, 4)
    if (np.bitwise_count(held).sum(axis=2) != 13).any():
        raise _IrregularError
    start = np.full(256, 9, dtype=np.int64)
    start[list(b"NESW")] = range(4)
    turn = start[rows[:, 0]]
    if (turn > 3).any():
        raise _IrregularError
    # Hand h of the value belongs to seat (start + h) % 4.
    order = (np.arange(4)[None, :] - turn[:, None]) % 4
    by_seat = np.take_along_axis(held, order[:, :, None], axis=1)
    if (np.bitwise_or.reduce(by_seat, axis=1) != 0x1FFF).any():
        raise _IrregularError
    return np.ascontiguousarray(by_seat[:, :3].transpose(1, 2, 0))
