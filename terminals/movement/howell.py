"""Howell movements: everybody meets everybody once, one winner, 2 to 10 tables.

With n = 2 tables - 1 the pairs 1 to n follow each other in a circle and pair n + 1 stays at table 1. One round (a
"starter") fixes all others: every pair goes to the seat of the pair numbered one higher, and boards advance one set.
The starters below were searched so that each number of tables has the least competition variance that any orientation
of a cyclic Howell has: 0 for 2, 4, 6, 8 and 10 tables (their North-South seats are difference sets), 16/5, 24/7 and
32/9 for 5, 7 and 9. Three tables have no Howell without sharing at all (there is no Room square of side 5): the one
here shares in a single round, the first.
"""

from __future__ import annotations

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement.mitchell import check_size, describe
from terminals.movement.model import Direction, Group, Movement, Seating, SitOut, board_set, find_shares

HOWELL = "howell"

# tables -> per table (north-south, east-west, set) of one round, in residues modulo 2 tables - 1; None = stationary.
_STARTERS: dict[int, tuple[tuple[int | None, int, int], ...]] = {
    2: ((None, 0, 0), (1, 2, 0)),
    4: ((None, 1, 6), (3, 0, 0), (6, 5, 1), (2, 4, 3)),
    5: ((None, 7, 2), (2, 0, 0), (8, 5, 4), (4, 3, 6), (6, 1, 7)),
    6: ((None, 10, 5), (2, 0, 0), (8, 3, 2), (4, 1, 8), (6, 7, 9), (5, 9, 6)),
    7: ((None, 10, 11), (0, 3, 0), (2, 6, 1), (7, 12, 5), (11, 9, 3), (4, 5, 8), (8, 1, 10)),
    8: ((None, 7, 12), (3, 0, 0), (6, 4, 2), (9, 1, 4), (14, 13, 7), (11, 2, 3), (5, 10, 9), (12, 8, 14)),
    9: ((None, 15, 4), (1, 0, 0), (3, 5, 1), (9, 6, 3), (10, 14, 2), (2, 13, 6), (8, 16, 11), (12, 7, 14), (11, 4, 12)),
    10: (
        (None, 16, 3), (1, 0, 0), (5, 3, 1), (7, 10, 2), (15, 4, 9),
        (12, 17, 5), (2, 11, 12), (9, 13, 17), (8, 14, 11), (6, 18, 8),
    ),
}  # fmt: skip

# Three tables: per round, per table (north-south, east-west, set).
_THREE: tuple[tuple[tuple[int, int, int], ...], ...] = (
    ((6, 1, 1), (2, 5, 1), (3, 4, 1)),
    ((6, 2, 2), (1, 3, 5), (4, 5, 3)),
    ((6, 3, 3), (2, 4, 5), (5, 1, 4)),
    ((6, 4, 4), (3, 5, 2), (1, 2, 3)),
    ((6, 5, 5), (1, 4, 2), (2, 3, 4)),
)
# The second half of ten rounds, with pairs renamed so that both halves together have competition variance 0.
_THREE_AGAIN = {1: 4, 2: 5, 3: 3, 4: 2, 5: 1, 6: 6}


def howell(
    tables: int, set_size: int, *, rounds: int | None = None, missing: bool = False, first_board: int = 1
) -> Movement:
    """A Howell movement of 2 to 10 tables.

    set_size: boards per round. rounds: fewer than 2 tables - 1, to curtail it; 10 for three tables plays everybody
    twice. missing: an odd number of pairs; the stationary pair is the phantom, so each pair sits out once.
    Raises EntryError (exit status USAGE) when it can't be.
    """
    check_size(tables, set_size, first_board, most=10)
    n = 2 * tables - 1
    full = 10 if tables == 3 else n
    rounds = n if rounds is None else rounds
    if not 1 <= rounds <= full:
        raise EntryError(
            f"A Howell movement of {tables} tables has 1 to {full} rounds, not {rounds}.", exit_status=ExitStatus.USAGE
        )
    seatings: list[Seating] = []
    sit_outs: list[SitOut] = []
    for r in range(rounds):
        for table, (ns, ew, number) in enumerate(_round(tables, r), 1):
            boards = board_set(number, set_size, first_board)
            if missing and ns == n + 1:
                sit_outs.append(SitOut(r + 1, ew, table, Direction.EW, boards))
            else:
                seatings.append(Seating(r + 1, table, ns, ew, boards))
    pairs = n + (not missing)
    shares = find_shares(seatings)
    notes = [f"Pairs follow the pair numbered one lower (1 follows {n}). Use the guide cards."]
    notes.append(
        f"There is no pair {n + 1}: who comes to table 1 sits out." if missing else f"Pair {n + 1} stays at table 1."
    )
    if shares:
        notes.append("Tables share boards in round " + ", ".join(str(s.round) for s in shares) + ".")
    return Movement(
        name=describe("Howell", tables, rounds, set_size, pairs, sits_out=missing),
        kind=HOWELL,
        tables=tables,
        rounds=rounds,
        boards_per_round=set_size,
        seatings=tuple(seatings),
        sit_outs=tuple(sit_outs),
        groups=(Group("all", tuple(range(1, pairs + 1))),),
        shares=shares,
        notes=tuple(notes),
    )


def _round(tables: int, r: int) -> list[tuple[int, int, int]]:
    """(north-south, east-west, set) per table of round ``r`` (from 0), pairs and sets from 1."""
    if tables == 3:
        if r < 5:
            return list(_THREE[r])
        return [(_THREE_AGAIN[ns], _THREE_AGAIN[ew], number + 5) for ns, ew, number in _THREE[r - 5]]
    n = 2 * tables - 1
    starter = _STARTERS[tables]
    _, first_pair, first_set = starter[0]  # renamed so that round 1 has pair 1 and set 1 at table 1
    rows = []
    for ns, ew, number in starter:
        north = n + 1 if ns is None else (ns - first_pair + r) % n + 1
        rows.append((north, (ew - first_pair + r) % n + 1, (number - first_set + r) % n + 1))
    return rows
