"""Which board numbers a format can hold."""

from __future__ import annotations

from collections.abc import Sequence

from dealer.board import Board
from firmware_bridge.errors import DealError


def without_gaps(boards: Sequence[Board], name: str, most: int, highest: int) -> tuple[int, int]:
    """Lowest and highest number of boards that rise by one.

    Raises DealError when there are too many, a number is too high, or one is left out: the file would shift them.
    """
    if len(boards) > most:
        raise DealError(
            f"{name} holds {most} boards at most, not {len(boards)}.",
            next_step="Write several files, or another format.",
            code="too-many-boards",
        )
    low = boards[0].number
    if any(board.number != low + place for place, board in enumerate(boards)):
        raise DealError(
            f"{name} numbers boards by their place; these numbers have gaps or are out of order.",
            next_step="Write one file for each run of numbers, or another format.",
            code="number-gap",
        )
    high = boards[-1].number
    if high > highest:
        raise DealError(f"{name} has no board {high}; {highest} is its highest.", code="board-number")
    return low, high
