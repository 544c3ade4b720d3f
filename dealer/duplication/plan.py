"""What is to be made: the boards of a set, times their copies, in the order in which the operator wants to make them.

Pure values. A plan is refused, before a motor moves, when it could only end in trouble: two boards with the same
deal, a number that the machine can't show, a deal that no shuffled pack gives.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from dealer.board import Board
from dealer.cards import Seat
from dealer.deal import Deal
from dealer.verify import unshuffled_name
from firmware_bridge.errors import ConfigError, DealError

MAX_BOARD = 999
"""Highest board number that ARM can carry (protocol, section 4)."""

MAX_COPIES = 99
"""More copies of a board than any event plays at once; a slip of the finger must not print hundreds."""


class Order(StrEnum):
    """In which order boards are made. Copies of a board follow each other except in ``BY_COPY``."""

    BY_BOARD = "by-board"
    BY_COPY = "by-copy"
    DESCENDING = "descending"


@dataclass(frozen=True, slots=True, order=True)
class BoardKey:
    """One physical board of a set: its number and which of the copies it is, 1 the first."""

    board: int
    copy: int

    def __str__(self) -> str:
        return f"board {self.board}, copy {self.copy}"


@dataclass(frozen=True, slots=True)
class BoardCopy:
    """One physical board to be made. ``digest``: 8 bytes, of the deal under this number (protocol, section 6)."""

    board: int
    copy: int
    deal: Deal = field(repr=False)
    digest: bytes = field(repr=False)

    @property
    def key(self) -> BoardKey:
        return BoardKey(self.board, self.copy)

    @property
    def routing(self) -> bytes:
        """13 bytes for ARM."""
        return self.deal.routing

    def pocket_of(self, card: int) -> int:
        """Pocket (seat 0-3) that card 0-51 belongs into."""
        return self.deal.owners[card]


@dataclass(frozen=True, slots=True)
class Plan:
    """The boards to make, in order. ``set_id`` names the set in the journal, whatever part of it is made today."""

    set_id: str
    items: tuple[BoardCopy, ...] = field(repr=False)
    copies: int

    @property
    def boards(self) -> tuple[int, ...]:
        """Board numbers, each once, in ascending order."""
        return tuple(sorted({item.board for item in self.items}))

    @property
    def digests(self) -> dict[int, bytes]:
        """Digest of each board number."""
        return {item.board: item.digest for item in self.items}

    def hands(self, board: int) -> dict[str, list[int]]:
        """The four hands of a board by seat letter: cards, for files that may carry them."""
        deal = next(item.deal for item in self.items if item.board == board)
        return {seat.letter: list(deal.hand(seat)) for seat in Seat}


def set_id_of(boards: Iterable[Board]) -> str:
    """Name for a set that brings none of its own: 16 hex digits from the digests of all its boards.

    The same file gives the same name on every run, so that a second run resumes the first.
    """
    digests = sorted((board.number, board.digest) for board in boards)
    hashed = hashlib.sha256(b"".join(number.to_bytes(4, "little") + digest for number, digest in digests))
    return hashed.hexdigest()[:16]


def plan(
    boards: Collection[Board],
    copies: int = 1,
    order: str = Order.BY_BOARD,
    subset: Collection[int] | None = None,
    *,
    set_id: str | None = None,
    allow_unshuffled: bool = False,
) -> Plan:
    """The plan for ``copies`` copies of the boards of a set, or of those whose numbers are in ``subset``.

    boards: the whole set; its name is derived from all of them unless ``set_id`` is given.
    Raises ConfigError for a wrong order, number of copies or subset; DealError for a set that can't be made: no
    boards, a number twice or outside 1-999, two boards with the same deal, a deal that no shuffled pack gives.
    """
    if order not in list(Order):
        raise ConfigError(f"There is no order {order!r}.", next_step="Choose by-board, by-copy or descending.")
    if not 1 <= copies <= MAX_COPIES:
        raise ConfigError(f"{copies} copies can't be made.", next_step=f"Ask for 1 to {MAX_COPIES} copies.")
    _check_set(boards, allow_unshuffled)
    wanted = {board.number for board in boards} if subset is None else set(subset)
    missing = sorted(wanted - {board.number for board in boards})
    if missing:
        raise ConfigError(
            f"The set has no board {', '.join(map(str, missing[:8]))}{' and more' if len(missing) > 8 else ''}.",
            next_step="Ask only for boards that are in the file.",
        )
    if not wanted:
        raise ConfigError("No board is asked for.", next_step="Name at least one board.")
    chosen = sorted((b for b in boards if b.number in wanted), key=lambda b: b.number, reverse=order == "descending")
    made = [BoardCopy(b.number, copy, b.deal, b.digest) for b in chosen for copy in range(1, copies + 1)]
    if order == Order.BY_COPY:
        made.sort(key=lambda item: item.copy)  # stable: boards stay in order within a copy
    return Plan(set_id or set_id_of(boards), tuple(made), copies)


def _check_set(boards: Collection[Board], allow_unshuffled: bool) -> None:
    if not boards:
        raise DealError("The set has no boards.", code="set-empty")
    numbers: set[int] = set()
    owners: dict[bytes, int] = {}
    for board in boards:
        if not 1 <= board.number <= MAX_BOARD:
            raise DealError(
                f"Board {board.number} can't be made: a machine shows numbers from 1 to {MAX_BOARD}.",
                code="board-number",
            )
        if board.number in numbers:
            raise DealError(f"Board {board.number} is in the set twice.", code="board-repeated")
        numbers.add(board.number)
        other = owners.setdefault(board.deal.owners, board.number)
        if other != board.number:
            raise DealError(f"Boards {other} and {board.number} have the same deal.", code="deal-repeated")
        if not allow_unshuffled and unshuffled_name(board.deal) is not None:
            raise DealError(
                f"Board {board.number} is not a shuffled deal: it looks like filler of a deal file.",
                next_step="Leave this board out, or take another file.",
                code="unshuffled",
            )
