"""PBN text of many consecutive boards at once: the bytes that ``dealer.formats.pbn`` writes for each of them.

Sixteen boards (a cycle of Law 2) make one row of constant length as long as the board numbers have the same number of
digits: everything but the numbers and the hands is a template. A hand's text is laid down suit by suit from a table of
the 8,192 holdings; each piece is 14 bytes wide, and the next piece covers what is too much of it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dealer.board import Board, dealer_of
from dealer.bulk import BulkDeals, Masks, west_masks
from dealer.cards import RANKS, Seat
from dealer.deal import Deal
from dealer.formats.options import WriteOptions
from dealer.formats.pbn_write import charset_for, game_tags
from dealer.generate import MAX_BOARD_NUMBER

_CYCLE = 16
_PIECE = 14
_DEAL_CHARS = 67
"""Four hands with their dots and blanks, without the first seat."""
_NO_DEAL = Deal(bytes(card // 13 for card in range(52)))


@lru_cache(maxsize=1)
def _pieces() -> tuple[npt.NDArray[np.void], npt.NDArray[np.void], npt.NDArray[np.intp]]:
    """Text of each holding with "." behind it, the same with " " behind it, and its length with that character."""
    masks = np.arange(8192, dtype=np.uint16)
    held = (masks[:, None] >> np.arange(12, -1, -1, dtype=np.uint16) & 1).astype(np.bool_)
    order = np.argsort(~held, axis=1, kind="stable")
    text = np.full((8192, _PIECE), ord(" "), dtype=np.uint8)
    text[:, :13] = np.where(
        np.take_along_axis(held, order, axis=1), np.frombuffer(RANKS.encode(), dtype=np.uint8)[order], ord(" ")
    )
    lengths = held.sum(axis=1)
    with_blank = text.copy()
    text[masks, lengths] = ord(".")
    void = f"V{_PIECE}"
    return text.view(void).ravel(), with_blank.view(void).ravel(), (lengths + 1).astype(np.intp)


def runs_of_one_width(first: int, count: int) -> list[tuple[int, int]]:
    """(first number, count) of the pieces of a run of boards in which all numbers have the same number of digits."""
    runs = []
    while count:
        here = min(count, 10 ** len(str(first)) - first)
        runs.append((first, here))
        first += here
        count -= here
    return runs


def pbn_text(deals: BulkDeals, first: int, options: WriteOptions) -> memoryview:
    """Text of boards ``first``, ``first`` + 1, ...; all numbers have the same number of digits."""
    count = len(deals)
    rows = -(-count // _CYCLE)
    end = "\r\n" if options.dialect != "import" else "\n"
    layout = [_template(first + place, options, end) for place in range(_CYCLE)]
    width = sum(len(template) for template, _, _ in layout)
    text = np.empty(rows * width + _PIECE, dtype=np.uint8)
    table = text[: rows * width].reshape(rows, width)
    west = west_masks(deals)
    offset = 0
    for place, (template, number_at, deal_at) in enumerate(layout):
        boards = slice(place, count, _CYCLE)
        used = len(range(*boards.indices(count)))
        size = len(template)
        table[:, offset : offset + deal_at] = template[:deal_at]
        start = Seat.NORTH if options.dialect == "import" else dealer_of(first + place)
        masks = [
            (west if (start + hand) % 4 == Seat.WEST else deals.masks[(start + hand) % 4])[:, boards]
            for hand in range(4)
        ]
        _lay_hands(text, np.arange(used, dtype=np.intp) * width + (offset + deal_at), masks)
        behind = deal_at + _DEAL_CHARS
        table[:, offset + behind : offset + size] = template[behind:]
        _lay_numbers(table[:used, offset + number_at :], first + place, used)
        offset += size
    full, rest = divmod(count, _CYCLE)
    length = full * width + sum(len(template) for template, _, _ in layout[:rest])
    return text.data[:length]


def longest_row(options: WriteOptions) -> int:
    """Bytes that a board's text has at most."""
    return len(_template(MAX_BOARD_NUMBER, options, "\r\n")[0]) + len("None")


def _template(number: int, options: WriteOptions, end: str) -> tuple[npt.NDArray[np.uint8], int, int]:
    """Bytes of a board's tags, where its number starts, and where the hands start."""
    lines = [f'[{name} "{value}"]' for name, value in game_tags(Board(number, _NO_DEAL), options)]
    text = (end.join(lines) + end + end).encode(charset_for(options), "replace")
    number_at = text.index(f'[Board "{number}"]'.encode()) + len('[Board "')
    deal_at = text.index(b'[Deal "') + len('[Deal "N:')
    return np.frombuffer(text, dtype=np.uint8), number_at, deal_at


def _lay_hands(text: npt.NDArray[np.uint8], at: npt.NDArray[np.intp], masks: list[Masks]) -> None:
    with_dot, with_blank, lengths = _pieces()
    # Every place of the text as the start of a 14-byte piece; the buffer has room for the last one.
    starts: npt.NDArray[np.void] = np.ndarray(
        shape=(text.size - _PIECE + 1,), dtype=f"V{_PIECE}", buffer=text.data, strides=(1,)
    )
    for hand in masks:
        for suit in range(4):
            held = hand[suit]
            starts[at] = (with_blank if suit == 3 else with_dot)[held]
            at += lengths[held]


def _lay_numbers(table: npt.NDArray[np.uint8], first: int, count: int) -> None:
    numbers = np.arange(count, dtype=np.int64) * _CYCLE + first
    for place in range(len(str(first)) - 1, -1, -1):
        table[:, place] = numbers % 10 + 48
        numbers //= 10
