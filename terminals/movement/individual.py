"""Individual movements: every player is a contestant and changes partner each round (Law 3).

Whist (4 to 24 players at up to 6 tables, all tables on the same set): with 4n players everybody partners everybody
once and opposes everybody twice; with 5, 9, 13 or 17 one sits out each round. Rainbow (a table count that is a prime
number, 8 or 9): boards stay, North, South, East and West move by four different steps, so that each round brings
a new partner and new opponents.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Callable

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement.mitchell import check_size
from terminals.movement.model import Format, Group, Movement, Seating, SitOut, board_set, find_shares

WHIST, RAINBOW = "whist-individual", "rainbow-individual"

# players -> one round, residues modulo players - 1; (a, b, c, d): a and b are partners against c and d; None stays.
_WHIST: dict[int, tuple[tuple[int | None, int, int, int], ...]] = {
    4: ((None, 0, 1, 2),),
    8: ((None, 0, 1, 3), (2, 6, 4, 5)),
    12: ((None, 0, 1, 3), (2, 9, 6, 7), (4, 10, 8, 5)),
    16: ((None, 0, 1, 2), (3, 10, 12, 7), (4, 8, 11, 13), (5, 14, 9, 6)),
    20: ((None, 0, 1, 2), (3, 10, 15, 13), (4, 9, 6, 17), (5, 18, 14, 11), (7, 16, 8, 12)),
    24: ((None, 0, 1, 2), (3, 15, 9, 22), (4, 6, 17, 20), (5, 21, 13, 8), (7, 16, 18, 12), (10, 14, 11, 19)),
}
# players (a prime power 4n + 1) -> a generator of the field's multiplicative group: one sits out each round.
_GENERATORS = {5: 2, 9: 4, 13: 2, 17: 3}
# tables (a prime power) -> irreducible polynomial as a list of coefficients, lowest first, over the base.
_FIELDS = {8: (2, (1, 1, 0, 1)), 9: (3, (1, 0, 1))}


def individual(players: int, set_size: int, *, rounds: int | None = None, copies: int | None = None) -> Movement:
    """The individual movement for so many players: whist up to 24, rainbow where tables allow it.

    rounds: fewer than the movement has. copies: of each board, for whist, where all tables play the same set; by
    default 1 if a set has as many boards as there are tables (they are passed round), else one per table.
    Raises EntryError (exit status USAGE) naming the numbers that do.
    """
    if players in _WHIST or players in _GENERATORS:
        return whist(players, set_size, rounds=rounds, copies=copies)
    if players % 4 == 0 and has_rainbow(players // 4):
        return rainbow(players // 4, set_size, rounds=rounds)
    raise _no_movement(f"individual movement for {players} players", individual_sizes())


def _no_movement(what: str, numbers: list[int]) -> EntryError:
    return EntryError(
        f"There is no {what}.",
        next_step=f"Numbers that do: {', '.join(str(number) for number in numbers)}.",
        code="no-movement-fits",
        exit_status=ExitStatus.USAGE,
    )


def individual_sizes() -> list[int]:
    """Numbers of players up to 100 for which there is an individual movement, ascending."""
    return sorted({*_WHIST, *_GENERATORS, *(4 * t for t in range(4, 26) if has_rainbow(t))})


def has_rainbow(tables: int) -> bool:
    """Rainbow movements exist here for prime numbers of tables from 5 and for 8 and 9."""
    return tables in _FIELDS or (tables >= 5 and all(tables % d for d in range(2, int(tables**0.5) + 1)))


def whist(players: int, set_size: int, *, rounds: int | None = None, copies: int | None = None) -> Movement:
    """Everybody partners everybody once; see ``individual``. Players from 1, the stationary one is the last."""
    if players not in _WHIST and players not in _GENERATORS:
        raise _no_movement(f"whist movement for {players} players", sorted({*_WHIST, *_GENERATORS}))
    sits_out = players in _GENERATORS
    n = players if sits_out else players - 1
    lines: tuple[tuple[int | None, int, int, int], ...] = _generated(players) if sits_out else _WHIST[players]
    subtract = _arithmetic(n)[0] if n in _FIELDS else lambda a, b: (a - b) % n

    def turn(residue: int, r: int) -> int:
        return subtract(residue, subtract(0, r)) + 1

    tables = len(lines)
    check_size(tables, set_size, 1, least=1)
    rounds = _rounds(rounds, n, players)
    copies = (1 if set_size >= tables else tables) if copies is None else copies
    if not 1 <= copies <= tables:
        raise EntryError(f"{copies} copies can't be: {tables} tables need 1 to {tables}.", exit_status=ExitStatus.USAGE)
    seatings, sit_outs = [], []
    for r in range(rounds):
        boards = board_set(r + 1, set_size)
        for i, (north, south, east, west) in enumerate(lines):
            four = (players if north is None else turn(north, r), *(turn(p, r) for p in (east, south, west)))
            order = boards[i % set_size :] + boards[: i % set_size]  # tables on one copy begin with different boards
            seatings.append(Seating(r + 1, i + 1, four[0], four[1], order, i % copies + 1, four))
        if sits_out:
            sit_outs.append(SitOut(r + 1, turn(0, r), 0, boards=boards))
    return Movement(
        name=f"Individual (whist), {tables} tables, {players} players, {rounds} rounds of {set_size}",
        kind=WHIST,
        tables=tables,
        rounds=rounds,
        boards_per_round=set_size,
        seatings=tuple(seatings),
        sit_outs=tuple(sit_outs),
        groups=(Group("all", tuple(range(1, players + 1))),),
        shares=find_shares(seatings),
        copies=copies,
        format=Format.INDIVIDUAL,
        notes=("All tables play the same boards in a round. " + (
            "Use the guide cards." if n in _FIELDS else
            f"Everybody goes to the seat of the player numbered one lower (1 goes to the seat of {n})."),),
    )  # fmt: skip


def _generated(players: int) -> tuple[tuple[int, int, int, int], ...]:
    """Table i of a whist round over a field of 4n + 1: g^i and its negative against g^(i+n) and its negative."""
    n, g = players // 4, _GENERATORS[players]
    multiply = _arithmetic(players)[1]
    power = [1]
    for _ in range(4 * n - 1):
        power.append(multiply(power[-1], g))
    return tuple((power[i], power[i + 2 * n], power[i + n], power[i + 3 * n]) for i in range(n))


def rainbow(tables: int, set_size: int, *, rounds: int | None = None, first_board: int = 1) -> Movement:
    """Boards stay; in a prime number of tables North goes up one, South up two, East down one, West down two.

    Players: North 1 to t, then South, East, West. Prime numbers of tables from 5; 8 and 9 by guide cards.
    Raises EntryError (exit status USAGE) for others.
    """
    check_size(tables, set_size, first_board)
    if not has_rainbow(tables):
        raise _no_movement(f"rainbow movement of {tables} tables", [t for t in range(5, 26) if has_rainbow(t)])
    rounds = _rounds(rounds, tables, 4 * tables)
    subtract, multiply = _arithmetic(tables)
    # seat s of table i is taken in round r by player i - step_s * r: four different steps, so every couple meets once
    steps = (1, 2, 3, 4) if tables in _FIELDS else (1, tables - 1, 2, tables - 2)  # N, E, S, W
    seatings = []
    for r in range(rounds):
        for i in range(tables):
            n, e, s, w = (subtract(i, multiply(step, r)) for step in steps)
            four = (n + 1, 2 * tables + e + 1, tables + s + 1, 3 * tables + w + 1)
            boards = board_set(i + 1, set_size, first_board)
            seatings.append(Seating(r + 1, i + 1, four[0], four[1], boards, 1, four))
    note = (
        "Boards stay. Use the guide cards."
        if tables in _FIELDS
        else "Boards stay. North moves up one table, South up two, East down one, West down two."
    )
    return Movement(
        name=f"Individual (rainbow), {tables} tables, {4 * tables} players, {rounds} rounds of {set_size}",
        kind=RAINBOW,
        tables=tables,
        rounds=rounds,
        boards_per_round=set_size,
        seatings=tuple(seatings),
        groups=(Group("all", tuple(range(1, 4 * tables + 1))),),
        format=Format.INDIVIDUAL,
        notes=(note,),
    )


def _arithmetic(tables: int) -> tuple[Callable[[int, int], int], Callable[[int, int], int]]:
    """Subtraction and multiplication of the field with so many elements, numbered from 0."""
    if tables not in _FIELDS:
        return (lambda a, b: (a - b) % tables), (lambda a, b: a * b % tables)
    base, poly = _FIELDS[tables]
    degree = len(poly) - 1

    def digits(number: int) -> list[int]:
        return [number // base**k % base for k in range(degree)]

    def number(coefficients: list[int]) -> int:
        return sum(c % base * base**k for k, c in enumerate(coefficients))

    def subtract(a: int, b: int) -> int:
        return number([x - y for x, y in zip(digits(a), digits(b), strict=True)])

    def multiply(a: int, b: int) -> int:
        product = [0] * (2 * degree - 1)
        for i, x in enumerate(digits(a)):
            for j, y in enumerate(digits(b)):
                product[i + j] += x * y
        for k in range(2 * degree - 2, degree - 1, -1):  # the polynomials are monic
            for j in range(degree):
                product[k - degree + j] -= product[k] * poly[j]
        return number(product[:degree])

    return subtract, multiply


def _rounds(rounds: int | None, most: int, players: int) -> int:
    rounds = most if rounds is None else rounds
    if not 1 <= rounds <= most:
        raise EntryError(
            f"An individual of {players} players has 1 to {most} rounds, not {rounds}.", exit_status=ExitStatus.USAGE
        )
    return rounds
