"""Members of the Mitchell family for the evenings that do not come out even.

Bye-stand: an even number of tables with two spare sets, so that nobody shares and nobody skips. Hesitation: one round
more than tables, one winner. Rover: one pair more than seats. Web: many tables, few rounds, several copies of the
boards. Scissors: two sections that cross at half-time, one winner.
"""

from __future__ import annotations

from dataclasses import replace

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement.mitchell import SKIP, check_size, describe, mitchell
from terminals.movement.model import Direction, Group, Movement, Seating, SitOut, board_set, find_shares
from terminals.movement.rover import seat_rover

BYE_STAND, HESITATION, ROVER, WEB, SCISSORS = (
    "bye-stand-mitchell",
    "hesitation-mitchell",
    "rover-mitchell",
    "web-mitchell",
    "scissors",
)


def bye_stand(
    tables: int, set_size: int, *, rounds: int | None = None, missing: Direction | None = None, first_board: int = 1
) -> Movement:
    """Even number of tables, ``tables`` + 2 sets: one spare set rests half-way and one after the last table.

    Two winners, every round against new opponents, no sharing and no skip; each pair misses two of the sets.
    missing: the side with the phantom (its last pair). Raises EntryError (exit status USAGE) when it can't be.
    """
    check_size(tables, set_size, first_board)
    _even(tables, "bye-stand Mitchell")
    rounds = _rounds(rounds, tables, "bye-stand Mitchell", tables)
    half, sets = tables // 2, tables + 2
    ns_pairs = tables - (missing is Direction.NS)
    seatings, sit_outs = [], []
    for r in range(rounds):
        for i in range(tables):
            j = (i - r) % tables
            boards = board_set((i + (i >= half) + r) % sets + 1, set_size, first_board)
            ns, ew = i + 1, ns_pairs + j + 1
            if missing is Direction.NS and i == tables - 1:
                sit_outs.append(SitOut(r + 1, ew, i + 1, Direction.EW, boards))
            elif missing is Direction.EW and j == tables - 1:
                sit_outs.append(SitOut(r + 1, ns, i + 1, Direction.NS, boards))
            else:
                seatings.append(Seating(r + 1, i + 1, ns, ew, boards))
    total = 2 * tables - (missing is not None)
    return Movement(
        name=describe("Bye-stand Mitchell", tables, rounds, set_size, total, sits_out=missing is not None),
        kind=BYE_STAND,
        tables=tables,
        rounds=rounds,
        boards_per_round=set_size,
        seatings=tuple(seatings),
        sit_outs=tuple(sit_outs),
        groups=(Group("NS", tuple(range(1, ns_pairs + 1))), Group("EW", tuple(range(ns_pairs + 1, total + 1)))),
        notes=(
            "North-South stay. East-West move up one table, boards move down one table.",
            f"A set of boards rests between tables {half} and {half + 1}, another between tables {tables} and 1.",
        ),
    )


def hesitation(tables: int, set_size: int, *, missing: bool = False, first_board: int = 1) -> Movement:
    """Odd number of tables, one round and one set more than tables, one winner.

    East-West move up; at the last table they play once East-West and once North-South before they go on to table 1.
    A relay stands half-way. missing: the last moving pair is a phantom. Raises EntryError (exit status USAGE).
    """
    check_size(tables, set_size, first_board, least=3)
    if tables % 2 == 0:
        raise EntryError(
            f"A hesitation Mitchell needs an odd number of tables, not {tables}.", exit_status=ExitStatus.USAGE
        )
    n, half = tables + 1, (tables - 1) // 2
    phantom = 2 * tables if missing else 0
    seatings, sit_outs = [], []
    for r in range(n):
        for i in range(tables):
            boards = board_set((i + (i >= half) + r) % n + 1, set_size, first_board)
            ew = tables + (i - r) % n
            ns = i + 1 if i < tables - 1 else tables + (tables - r) % n
            if phantom in (ns, ew):
                pair, side = (ew, Direction.EW) if ns == phantom else (ns, Direction.NS)
                sit_outs.append(SitOut(r + 1, pair, i + 1, side, boards))
            else:
                seatings.append(Seating(r + 1, i + 1, ns, ew, boards))
    total = 2 * tables - missing
    return Movement(
        name=describe("Hesitation Mitchell", tables, n, set_size, total, sits_out=missing),
        kind=HESITATION,
        tables=tables,
        rounds=n,
        boards_per_round=set_size,
        seatings=tuple(seatings),
        sit_outs=tuple(sit_outs),
        groups=(Group("all", tuple(range(1, total + 1))),),
        notes=(
            f"North-South pairs 1 to {tables - 1} stay. East-West move up one table, boards move down one table.",
            f"At table {tables} East-West turn to North-South for the next round, then go to table 1 East-West.",
            f"A relay stands between tables {half} and {half + 1}.",
        ),
    )


def rover(tables: int, set_size: int, *, rounds: int | None = None, first_board: int = 1) -> Movement:
    """A Mitchell with one pair more than there are seats: the rover takes a North-South pair's place each round.

    The rover has the last number and is ranked North-South. It sits out the first round (or more, where no path is
    free); each displaced pair sits out once. Even numbers of tables use the skip movement.
    Raises EntryError (exit status USAGE) when there is no path.
    """
    base = mitchell(tables, set_size, variant=SKIP if tables % 2 == 0 else None, rounds=rounds, first_board=first_board)
    pair = 2 * tables + 1
    ns = replace(base.groups[0], contestants=(*base.groups[0].contestants, pair))
    movement = seat_rover(replace(base, groups=(ns, base.groups[1])), pair, from_round=2, sides=(Direction.NS,))
    return replace(
        movement,
        name=describe("Rover Mitchell", tables, base.rounds, set_size, pair, sits_out=True),
        kind=ROVER,
    )


def web(
    tables: int,
    sets: int,
    set_size: int,
    *,
    rounds: int | None = None,
    missing: Direction | None = None,
    first_board: int = 1,
) -> Movement:
    """Many tables on few boards, with several copies: the first part plays its sets upwards, the second downwards.

    sets: number of sets in play. With an odd number a pair plays up to all of them; with an even number East-West
    skip a table after half of them and one set is missed. An even number of tables is halved (two copies as long as
    each half has no more tables than sets); an odd number needs the parts to differ by exactly ``sets`` tables.
    missing: side of the phantom. Raises EntryError (exit status USAGE) when there is no such web.
    """
    check_size(tables, set_size, first_board, least=4)
    skip = sets % 2 == 0
    most = min(sets - skip, tables - skip)
    if not 3 <= sets <= 99:
        raise EntryError(f"A web of {sets} sets can't be: it has 3 to 99.", exit_status=ExitStatus.USAGE)
    rounds = _rounds(rounds, most, "web Mitchell", tables)
    if tables % 2 == 0:
        upward = tables // 2
    elif not skip and tables > sets:
        upward = (tables + sets) // 2
    else:
        raise EntryError(
            f"A web of {tables} tables needs an odd number of sets below {tables}, not {sets}.",
            exit_status=ExitStatus.USAGE,
        )
    copies_up = -(-upward // sets)
    copies = copies_up + -(-(tables - upward) // sets)
    ns_pairs = tables - (missing is Direction.NS)
    seatings, sit_outs = [], []
    for r in range(rounds):
        for i in range(tables):
            j = (i - r - (skip and r >= sets // 2)) % tables
            if i < upward:
                number, copy = (i + r) % sets, i // sets + 1
            else:
                number, copy = (upward - 2 - (i - upward) - r) % sets, copies_up + (i - upward) // sets + 1
            boards = board_set(number + 1, set_size, first_board)
            ns, ew = i + 1, ns_pairs + j + 1
            if missing is Direction.NS and i == tables - 1:
                sit_outs.append(SitOut(r + 1, ew, i + 1, Direction.EW, boards))
            elif missing is Direction.EW and j == tables - 1:
                sit_outs.append(SitOut(r + 1, ns, i + 1, Direction.NS, boards))
            else:
                seatings.append(Seating(r + 1, i + 1, ns, ew, boards, copy))
    total = 2 * tables - (missing is not None)
    notes = [
        f"North-South stay. East-West move up one table through the whole room. {copies} copies of every board.",
        f"Tables 1 to {upward} play the sets in ascending order, tables {upward + 1} to {tables} in descending order.",
        "Boards move down one table inside each part; sets that no table needs rest on a relay stand of that part.",
    ]
    if skip:
        notes.append(f"After round {sets // 2} East-West skip a table.")
    return Movement(
        name=describe("Web Mitchell", tables, rounds, set_size, total, sits_out=missing is not None)
        + f", {copies} copies",
        kind=WEB,
        tables=tables,
        rounds=rounds,
        boards_per_round=set_size,
        seatings=tuple(seatings),
        sit_outs=tuple(sit_outs),
        groups=(Group("NS", tuple(range(1, ns_pairs + 1))), Group("EW", tuple(range(ns_pairs + 1, total + 1)))),
        shares=find_shares(seatings),
        copies=copies,
        notes=tuple(notes),
    )


def scissors(tables: int, set_size: int, *, first_board: int = 1) -> Movement:
    """Two sections of ``tables`` / 2 tables (an odd number, 5 or more) that cross at half-time; one winner, two copies.

    First half: an ordinary Mitchell in each section. Then the North-South pairs of both sections meet each other, and
    so do the East-West pairs; every pair plays every set once. Raises EntryError (exit status USAGE).
    """
    check_size(tables, set_size, first_board, least=10)
    t = tables // 2
    if tables % 2 or t % 2 == 0:
        raise EntryError(
            f"Scissors need two sections of an odd number of tables, not {tables} tables in all.",
            exit_status=ExitStatus.USAGE,
        )
    first = (t + 1) // 2
    seatings = []
    for section in (0, 1):
        ns0, ew0, table0 = 2 * t * section, 2 * t * section + t, t * section
        for r in range(first):
            for i in range(t):
                boards = board_set((i + r) % t + 1, set_size, first_board)
                seatings.append(Seating(r + 1, table0 + i + 1, ns0 + i + 1, ew0 + (i - r) % t + 1, boards, section + 1))
    # Pairs that stayed have sets index + first ... index + t - 1 left; those that moved have the same in steps of two.
    left = range(first, t)
    for step, table0, home, away, copy in ((1, 0, 0, 2 * t, 1), (2, t, t, 3 * t, 2)):
        for r, other in zip(left, reversed(left), strict=True):
            for i in range(t):
                opponent = (i + step * (r - other)) % t
                boards = board_set((i + step * r) % t + 1, set_size, first_board)
                seatings.append(Seating(r + 1, table0 + i + 1, home + i + 1, away + opponent + 1, boards, copy))
    return Movement(
        name=describe("Scissors", tables, t, set_size, 4 * t),
        kind=SCISSORS,
        tables=tables,
        rounds=t,
        boards_per_round=set_size,
        seatings=tuple(seatings),
        groups=(Group("all", tuple(range(1, 4 * t + 1))),),
        copies=2,
        notes=(
            f"Tables 1 to {t} and {t + 1} to {tables} play a Mitchell of their own for {first} rounds.",
            f"After round {first} the sections cross: use the guide cards.",
        ),
    )


def _even(tables: int, kind: str) -> None:
    if tables % 2:
        raise EntryError(f"A {kind} needs an even number of tables, not {tables}.", exit_status=ExitStatus.USAGE)


def _rounds(rounds: int | None, most: int, kind: str, tables: int) -> int:
    rounds = most if rounds is None else rounds
    if not 1 <= rounds <= most:
        raise EntryError(
            f"A {kind} of {tables} tables has 1 to {most} rounds, not {rounds}.", exit_status=ExitStatus.USAGE
        )
    return rounds
