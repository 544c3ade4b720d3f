"""Three-quarter Howell: fewer rounds than a full Howell, more pairs that stay, one winner.

R rounds of R sets at t tables (t < R < 2t - 1): 2t - R pairs stay, each at a table of its own, and R pairs follow each
other in a circle; one round fixes all others as in a Howell. Such a movement is never perfectly balanced, so who sits
North-South is not cyclic: it was optimised for the least competition variance, once, offline, and is kept as one bit
per table and round. ``verify`` recomputes the variance of what is built here.
"""

from __future__ import annotations

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement.mitchell import check_size, describe
from terminals.movement.model import Direction, Group, Movement, Seating, SitOut, board_set

THREE_QUARTER = "three-quarter-howell"

_Stay = tuple[tuple[int, int], ...]
_Move = tuple[tuple[int, int, int], ...]

# (tables, rounds) -> stationary tables (position of the moving pair, set), moving tables (position, position, set), and
# bits, first round and first table highest: 1 = the stationary pair, or the first position, sits North-South.
_STARTERS: dict[tuple[int, int], tuple[_Stay, _Move, int]] = {
    (5, 6): (((0, 2), (1, 0), (2, 5), (5, 3)), ((4, 3, 4),), 0x250c33d6),
    (5, 7): (((0, 0), (1, 6), (5, 1)), ((4, 6, 3), (3, 2, 4)), 0x1a4faf368),
    (6, 8): (((1, 4), (2, 3), (4, 6), (5, 1)), ((6, 7, 5), (3, 0, 0)), 0x600dd022a021),
    (6, 9): (((1, 0), (3, 7), (5, 1)), ((6, 4, 4), (0, 8, 2), (2, 7, 8)), 0x3c2ffe5dc81ea8),
    (6, 10): (((3, 5), (8, 9)), ((4, 5, 4), (6, 2, 0), (9, 1, 6), (0, 7, 3)), 0xd5c3e7d5881fff),
    (7, 8): (((1, 7), (2, 5), (4, 3), (5, 6), (6, 2), (7, 1)), ((0, 3, 0),), 0x8400089569019c),
    (7, 9): (((0, 1), (1, 6), (3, 2), (5, 0), (8, 5)), ((2, 6, 4), (4, 7, 7)), 0x3298e4230d33640e),
    (7, 10): (((0, 0), (2, 8), (7, 1), (8, 7)), ((3, 4, 6), (9, 6, 4), (1, 5, 2)), 0x2703317aaa8f134ff3),
    (7, 11): (((0, 7), (1, 9), (8, 8)), ((3, 5, 6), (9, 2, 0), (6, 7, 1), (10, 4, 3)), 0x89f5fca9b94bd3f4f00),
    (7, 12): (((7, 6), (8, 0)), ((0, 2, 3), (3, 6, 8), (4, 9, 4), (11, 10, 7), (5, 1, 11)), 0x36003f0d7a4a95859aa5e),
    (8, 10): (((3, 8), (4, 2), (5, 1), (7, 4), (8, 7), (9, 0)), ((1, 0, 3), (2, 6, 6)), 0xc8a2573dd07bbd0491bb),
    (8, 11): (((0, 9), (3, 10), (6, 6), (7, 1), (10, 7)),
        ((1, 2, 3), (8, 5, 0), (4, 9, 8)),
        0xd2884a2fb742d1a15abf63),
    (8, 12): (((2, 10), (4, 8), (5, 7), (6, 11)),
        ((9, 0, 9), (10, 3, 1), (1, 11, 0), (7, 8, 2)),
        0xb9b74452fb054dbcb2d3456c),
    (8, 13): (((7, 7), (9, 1), (12, 8)),
        ((1, 0, 3), (5, 2, 12), (6, 10, 5), (8, 3, 9), (4, 11, 2)),
        0x10c47e1662c9556725b5acfffa),
    (9, 10): (((1, 2), (2, 4), (3, 3), (4, 9), (5, 8), (6, 0), (8, 5), (9, 7)),
        ((0, 7, 6),),
        0xdd71cb50c482475542088b),
    (9, 11): (((1, 6), (2, 1), (3, 9), (4, 4), (7, 3), (9, 7), (10, 0)),
        ((0, 5, 8), (8, 6, 10)),
        0x32d31584e8c60227b85d4c55),
    (9, 12): (((1, 10), (2, 8), (5, 5), (8, 9), (10, 0), (11, 4)),
        ((0, 7, 3), (3, 4, 2), (6, 9, 1)),
        0x792b624e14656943c41f3ca233c),
    (9, 13): (((5, 10), (6, 5), (8, 6), (10, 1), (12, 2)),
        ((9, 11, 4), (2, 3, 3), (7, 0, 9), (4, 1, 11)),
        0x12007d6311c203c7042e552892f83b),
    (10, 12): (((1, 5), (2, 8), (4, 9), (5, 1), (6, 4), (7, 6), (9, 10), (10, 7)),
        ((3, 8, 3), (11, 0, 2)),
        0xb6fe91f6cbfc76fed7d39bff2cacec),
    (10, 13): (((2, 2), (3, 9), (4, 8), (6, 1), (7, 3), (10, 11), (11, 10)),
        ((9, 8, 6), (0, 5, 7), (12, 1, 4)),
        0x1e9c70adeccca45c815ca8c4e7d098e07),
    (11, 12): (((0, 11), (2, 2), (3, 9), (4, 1), (5, 8), (6, 7), (7, 5), (8, 10), (9, 4), (11, 3)),
        ((10, 1, 6),),
        0xc0ce7dc65ebf5b627bf1744d4dd97a427),
    (11, 13): (((0, 0), (1, 7), (2, 3), (3, 11), (4, 6), (5, 8), (9, 5), (11, 10), (12, 9)),
        ((7, 8, 12), (6, 10, 4)),
        0x15d14cc8d25477c23c24e40948835d979ccb),

}  # fmt: skip


def three_quarter_rounds(tables: int) -> tuple[int, ...]:
    """Numbers of rounds for which there is a three-quarter Howell of so many tables, ascending."""
    return tuple(sorted(rounds for t, rounds in _STARTERS if t == tables))


def three_quarter_howell(
    tables: int, rounds: int, set_size: int, *, missing: bool = False, first_board: int = 1
) -> Movement:
    """A three-quarter Howell of 5 to 11 tables.

    set_size: boards per round. missing: an odd number of pairs; the pair that stays at table 1 is the phantom and has
    the last number. Moving pairs are 1 to ``rounds``. Raises EntryError (exit status USAGE) when there is none.
    """
    check_size(tables, set_size, first_board)
    starter = _STARTERS.get((tables, rounds))
    if starter is None:
        known = ", ".join(str(r) for r in three_quarter_rounds(tables)) or "none"
        raise EntryError(
            f"There is no three-quarter Howell of {tables} tables with {rounds} rounds; rounds that exist: {known}.",
            exit_status=ExitStatus.USAGE,
        )
    stay, move, bits = starter
    shift, first_set = stay[0]  # renamed so that round 1 has pair 1 and set 1 at table 1
    last = 2 * tables
    seatings, sit_outs = [], []
    for r in range(rounds):
        lines = [(last - k, (p - shift + r) % rounds + 1, c) for k, (p, c) in enumerate(stay)]
        lines += [((a - shift + r) % rounds + 1, (b - shift + r) % rounds + 1, c) for a, b, c in move]
        for i, (one, two, number) in enumerate(lines):
            upright = bits >> (rounds * tables - 1 - (r * tables + i)) & 1
            ns, ew = (one, two) if upright else (two, one)
            boards = board_set((number - first_set + r) % rounds + 1, set_size, first_board)
            if missing and one == last:
                sit_outs.append(SitOut(r + 1, two, i + 1, Direction.EW if upright else Direction.NS, boards))
            else:
                seatings.append(Seating(r + 1, i + 1, ns, ew, boards))
    total = last - missing
    return Movement(
        name=describe("Three-quarter Howell", tables, rounds, set_size, total, sits_out=missing),
        kind=THREE_QUARTER,
        tables=tables,
        rounds=rounds,
        boards_per_round=set_size,
        seatings=tuple(seatings),
        sit_outs=tuple(sit_outs),
        groups=(Group("all", tuple(range(1, total + 1))),),
        notes=(
            f"Pairs {rounds + 1} to {total} stay at their tables, turning the arrow as their guide cards say.",
            f"Pairs 1 to {rounds} follow the pair numbered one lower (1 follows {rounds}).",
        ),
    )
