"""Reading boards on the machine behind a URL: learn hand-dealt ones, or compare played ones with their set."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from dealer.board import Board
from dealer.duplication.options import JobOptions
from dealer.duplication.progress import OnProgress
from dealer.readback import Comparison, compare, learn
from dealer.reading import BoardContent, BoardReader
from dealer.store.reveals import record_reveal
from dealer.store.schema import DEALING_DB, MIGRATIONS
from drivers.host import HostIdentity
from drivers.registry import open_machine
from firmware_bridge.clock import SystemClock
from firmware_bridge.db import Database
from firmware_bridge.errors import DealError, ExitStatus


async def learn_boards(
    url: str,
    host: HostIdentity,
    numbers: Sequence[int],
    *,
    on_progress: OnProgress | None = None,
    on_board: Callable[[Board], None],
    options: JobOptions | None = None,
) -> list[Board]:
    """Read the boards with these numbers; each goes to ``on_board`` as soon as it is read.

    A board that has not 13 readable, different cards in each pocket is sent back to be put right and read again.
    Raises DeviceError when the machine is lost, or a board can't be read after several tries; ``on_board`` has had the
    boards before it by then.
    """
    learnt: list[Board] = []

    def take(content: BoardContent) -> str:
        try:
            board = learn(content.board, content.hands)
        except DealError as error:
            return error.what.rstrip(".")
        twin = next((one for one in learnt if one.deal == board.deal), None)
        if twin is not None:
            return f"it has the same cards as board {twin.number}"
        learnt.append(board)
        on_board(board)
        return ""

    await _read(url, host, numbers, take, on_progress, options)
    return learnt


async def verify_boards(
    url: str,
    host: HostIdentity,
    boards: Collection[Board],
    numbers: Sequence[int],
    *,
    on_progress: OnProgress | None = None,
    on_board: Callable[[Comparison], None],
    options: JobOptions | None = None,
) -> list[Comparison]:
    """Read the boards with these numbers and compare each with the set's; the facts of Laws 13 and 87."""
    by_number = {board.number: board for board in boards}
    found: list[Comparison] = []

    def take(content: BoardContent) -> str:
        wanted = by_number[content.board]
        result = compare(content.hands, wanted, (board for board in boards if board is not wanted))
        found.append(result)
        on_board(result)
        return ""

    await _read(url, host, numbers, take, on_progress, options)
    return found


async def _read(
    url: str,
    host: HostIdentity,
    numbers: Sequence[int],
    take: Callable[[BoardContent], str],
    on_progress: OnProgress | None,
    options: JobOptions | None,
) -> None:
    clock = SystemClock()
    machine = open_machine(url, host, clock)
    try:
        reader = BoardReader(machine, clock, on_progress=on_progress, options=options)
        async for content in reader.read(numbers):
            if why := take(content):
                reader.send_back(why)
    finally:
        await machine.close()


def reveal_board(directory: Path, boards: Collection[Board], number: int, source: str) -> Board:
    """The board to restore, after the reveal is on record. Raises DealError when the set has no such board."""
    board = next((one for one in boards if one.number == number), None)
    if board is None:
        raise no_such_board(number, source)
    _record(directory, "restore", source, number)
    return board


def no_such_board(number: int, source: str) -> DealError:
    """The error for a board that the set does not have; asked before anybody is asked to confirm anything."""
    return DealError(
        f"there is no board {number} in this file.",
        where=source,
        next_step="Name a board of the set.",
        code="no-such-board",
        exit_status=ExitStatus.USAGE,
    )


def record_showing(directory: Path, what: str, source: str) -> None:
    """Put on record that a command may show cards of a set. Raises StoreError; nothing may be shown then."""
    _record(directory, what, source, 0)


def record_unsealing(directory: Path, source: str) -> None:
    """Put on record that a sealed file is written out in plain. Raises StoreError; nothing may be written then."""
    _record(directory, "unseal", source, 0)


def _record(directory: Path, what: str, source: str, board: int) -> None:
    database = Database.open(directory / DEALING_DB, MIGRATIONS)
    try:
        record_reveal(database, what, source, board, SystemClock())
    finally:
        database.close()
