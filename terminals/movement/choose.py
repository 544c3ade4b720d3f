"""Which movement for so many tables and boards, when nobody named one: the default choice, the same every time.

The choice of a club director: two-winner Mitchell from five tables, Howell up to four where its rounds come out, sets
of two to four boards, no sharing where it can be helped. ``propose`` weighs time and fairness on top of this.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement.howell import HOWELL, howell
from terminals.movement.mitchell import MAX_TABLES, ODD, SHARE, mitchell
from terminals.movement.model import Direction, Movement

USUAL_TABLES = 7
LARGEST_HOWELL = 8


@dataclass(frozen=True, slots=True)
class Candidate:
    """A movement that would use ``boards`` boards; ``cost`` is lower for what a club would rather play."""

    kind: str
    tables: int
    rounds: int
    set_size: int
    cost: int

    @property
    def boards(self) -> int:
        return self.set_size * (self.tables if self.kind != HOWELL else self.rounds)

    def build(self, pairs: int, first_board: int) -> Movement:
        odd = pairs % 2 == 1
        if self.kind == HOWELL:
            return howell(self.tables, self.set_size, missing=odd, first_board=first_board)
        side = (Direction.NS if self.kind == SHARE else Direction.EW) if odd else None
        return mitchell(self.tables, self.set_size, variant=self.kind, missing=side, first_board=first_board)


def candidates(tables: int, boards: int) -> Iterator[Candidate]:
    """Complete movements of so many tables that use exactly so many boards, in no order."""
    if boards >= tables >= 2 and boards % tables == 0:
        size = boards // tables
        kind = ODD if tables % 2 else SHARE
        cost = _size_cost(size) + (2 if kind == SHARE else 0) + _small_mitchell_cost(tables)
        yield Candidate(kind, tables, tables, size, cost)
    n = 2 * tables - 1
    if 2 <= tables <= LARGEST_HOWELL and boards >= n and boards % n == 0:
        size = boards // n
        yield Candidate(HOWELL, tables, n, size, _size_cost(size) + (0 if tables <= 4 else 5))


def _small_mitchell_cost(tables: int) -> int:
    """With few tables everybody should rather meet everybody; two pairs a side have nobody to be compared with."""
    return 12 if tables == 2 else 1 if tables <= 4 else 0


def _size_cost(size: int) -> int:
    """How far from the sets of two to four boards that clubs play; one-board rounds and very long ones come last."""
    if 2 <= size <= 4:
        return 0
    return 8 if size == 1 else 6 * (size - 4)


def for_tables(tables: int, boards: int, pairs: int | None = None, *, first_board: int = 1) -> Movement:
    """The default movement for ``tables`` tables that plays exactly ``boards`` boards.

    pairs: 2 * tables unless one pair is missing. Raises EntryError (exit status USAGE) naming the numbers of boards
    that would do when these do not.
    """
    pairs = 2 * tables if pairs is None else pairs
    _check_pairs(tables, pairs)
    choice = min(candidates(tables, boards), key=lambda c: (c.cost, c.kind), default=None)
    if choice is None:
        near = sorted(_possible(tables, limit=max(boards * 2, 4 * tables)), key=lambda b: (abs(b - boards), b))[:3]
        raise EntryError(
            f"No movement for {tables} tables plays exactly {boards} boards.",
            next_step="Take " + " or ".join(str(b) for b in sorted(near)) + " boards, or another number of tables.",
            code="no-movement-fits",
            exit_status=ExitStatus.USAGE,
        )
    return choice.build(pairs, first_board)


def fitting(
    boards_available: int, tables: int | None = None, pairs: int | None = None, *, first_board: int = 1
) -> Movement:
    """The default movement that can be played with the boards at hand, using as many of them as is sensible.

    The least sum of: cost of the set size and of sharing, 2 for each board left unused, 1 for each table more or less
    than seven (if the number of tables is free). Raises EntryError (exit status USAGE) naming the numbers when
    nothing fits.
    """
    if tables is None and pairs is not None:
        tables = (pairs + 1) // 2
    if tables is not None:
        _check_pairs(tables, 2 * tables if pairs is None else pairs)
    sizes = [tables] if tables is not None else list(range(2, min(MAX_TABLES, 20) + 1))
    found = [
        (c.cost + 2 * (boards_available - boards) + (abs(t - USUAL_TABLES) if tables is None else 0), t, c.kind, c)
        for t in sizes
        for boards in _possible(t, limit=boards_available)
        for c in candidates(t, boards)
    ]
    if not found:
        least = 2 if tables is None else min(_possible(tables, limit=4 * tables))
        who = "A movement" if tables is None else f"A movement of {tables} tables"
        verb = "is" if boards_available == 1 else "are"
        raise EntryError(
            f"{who} needs at least {least} boards, and there {verb} {boards_available}.",
            next_step="Give more boards" + (" or fewer tables." if tables is not None and tables > 2 else "."),
            code="no-movement-fits",
            exit_status=ExitStatus.USAGE,
        )
    _, t, _, choice = min(found, key=lambda item: item[:3])
    return choice.build(2 * t if pairs is None else pairs, first_board)


def _possible(tables: int, *, limit: int) -> list[int]:
    """Numbers of boards up to ``limit`` for which ``candidates`` has a movement, ascending."""
    steps = [tables] + ([2 * tables - 1] if tables <= LARGEST_HOWELL else [])
    return sorted({boards for step in steps for boards in range(step, min(limit, 99 * step) + 1, step)})


def _check_pairs(tables: int, pairs: int) -> None:
    if not 2 <= tables <= MAX_TABLES:
        raise EntryError(
            f"A movement needs 2 to {MAX_TABLES} tables, not {tables}.",
            code="no-movement-fits",
            exit_status=ExitStatus.USAGE,
        )
    if not 2 * tables - 1 <= pairs <= 2 * tables:
        raise EntryError(
            f"{pairs} pairs do not sit at {tables} tables: {2 * tables - 1} or {2 * tables} do.",
            next_step=f"Take {(pairs + 1) // 2} tables." if pairs >= 3 else "Take at least 3 pairs.",
            code="no-movement-fits",
            exit_status=ExitStatus.USAGE,
        )
