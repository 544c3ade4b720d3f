"""The Mitchell family on one set of boards: odd, skip, share and relay, with or without a half table.

North-South stay, East-West go up one table a round, boards go down one. With an odd number of tables that is all;
with an even number East-West either skip a table half-way or two tables share a set and a relay stands between the
middle tables. A missing pair leaves a phantom: whoever should meet it sits out, and no boards lie there.
"""

from __future__ import annotations

from dataclasses import replace

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement.model import Direction, Group, Movement, Seating, Share, SitOut, board_set, find_shares

ODD, SKIP, SHARE = "mitchell", "skip-mitchell", "share-and-relay-mitchell"
MAX_TABLES = 100


def mitchell(
    tables: int,
    set_size: int,
    *,
    variant: str | None = None,
    rounds: int | None = None,
    missing: Direction | None = None,
    first_board: int = 1,
) -> Movement:
    """A two-winner Mitchell movement.

    tables: 2 to 100, half tables included. set_size: boards per round. variant: ODD, SKIP or SHARE; by default ODD for
    an odd number of tables and SHARE for an even one. rounds: fewer than the movement has, to curtail it.
    missing: the side on which one pair is missing; the phantom is the last pair of that side. A missing North-South
    pair stands at the last table, which spares a share-and-relay movement its sharing.
    Pairs are numbered North-South from 1, then East-West. Raises EntryError (exit status USAGE) when it can't be.
    """
    variant = variant or (ODD if tables % 2 else SHARE)
    check_size(tables, set_size, first_board)
    if variant not in (ODD, SKIP, SHARE):
        raise EntryError(f"There is no Mitchell movement called {variant!r}.", exit_status=ExitStatus.USAGE)
    if (variant == ODD) != (tables % 2 == 1):
        need = "an odd" if variant == ODD else "an even"
        raise EntryError(
            f"A {variant} movement needs {need} number of tables, not {tables}.", exit_status=ExitStatus.USAGE
        )
    full = tables - 1 if variant == SKIP else tables
    rounds = full if rounds is None else rounds
    if not 1 <= rounds <= full:
        raise EntryError(
            f"A {variant} movement of {tables} tables has 1 to {full} rounds, not {rounds}.",
            exit_status=ExitStatus.USAGE,
        )
    half = tables // 2
    ns_pairs = tables - (missing is Direction.NS)
    seatings: list[Seating] = []
    sit_outs: list[SitOut] = []
    for r in range(rounds):
        for i in range(tables):
            j = (i - r - (variant == SKIP and r >= half)) % tables  # index of the East-West pair
            place = i + (variant == SHARE and i >= half)  # the relay stands between the middle tables
            boards = board_set((place + r) % tables + 1, set_size, first_board)
            ns, ew = i + 1, ns_pairs + j + 1
            if missing is Direction.NS and i == tables - 1:
                sit_outs.append(SitOut(r + 1, ew, i + 1, Direction.EW, boards))
            elif missing is Direction.EW and j == tables - 1:
                sit_outs.append(SitOut(r + 1, ns, i + 1, Direction.NS, boards))
            else:
                seatings.append(Seating(r + 1, i + 1, ns, ew, boards))
    total = 2 * tables - (missing is not None)
    return Movement(
        name=describe(
            {ODD: "Mitchell", SKIP: "Skip Mitchell", SHARE: "Share and relay Mitchell"}[variant],
            tables,
            rounds,
            set_size,
            total,
            sits_out=missing is not None,
        ),
        kind=variant,
        tables=tables,
        rounds=rounds,
        boards_per_round=set_size,
        seatings=tuple(seatings),
        sit_outs=tuple(sit_outs),
        groups=(Group("NS", tuple(range(1, ns_pairs + 1))), Group("EW", tuple(range(ns_pairs + 1, total + 1)))),
        shares=find_shares(seatings),
        notes=_notes(variant, tables, half, missing, shares=find_shares(seatings)),
    )


def _notes(
    variant: str, tables: int, half: int, missing: Direction | None, shares: tuple[Share, ...]
) -> tuple[str, ...]:
    notes = ["North-South stay. East-West move up one table, boards move down one table."]
    if variant == SKIP:
        notes.append(f"After round {half} East-West skip a table (move up two), boards as always.")
    if variant == SHARE:
        notes.append(f"Boards from table {half + 1} go to the relay stand, and from there to table {half}.")
        if shares:
            notes.append(f"Tables 1 and {tables} share their boards.")
    if missing is Direction.NS:
        notes.append(f"Nobody sits North-South at table {tables}: the East-West pair that comes there sits out.")
    elif missing is Direction.EW:
        notes.append(f"There is no East-West pair {2 * tables}: the pair that would meet it sits out.")
    return tuple(notes)


def arrow_switch(movement: Movement, rounds: tuple[int, ...]) -> Movement:
    """The same movement with the arrow turned in ``rounds``: one winner, everybody in one ranking.

    Boards stay as they are and players change seats only for those rounds. Raises EntryError for a round that it lacks.
    """
    for number in rounds:
        if not 1 <= number <= movement.rounds:
            raise EntryError(
                f"There is no round {number} to switch in {movement.rounds} rounds.", exit_status=ExitStatus.USAGE
            )
    turned = set(rounds)
    everybody = tuple(sorted(c for group in movement.groups for c in group.contestants))
    words = ("round " if len(turned) == 1 else "rounds ") + ", ".join(str(number) for number in sorted(turned))
    return replace(
        movement,
        name=f"{movement.name}, arrow switched in {words}" if turned else f"{movement.name}, one winner",
        seatings=tuple(s.switched() if s.round in turned else s for s in movement.seatings),
        sit_outs=tuple(replace(s, direction=s.direction.other) if s.round in turned else s for s in movement.sit_outs),
        groups=(Group("all", everybody),),
        notes=(*movement.notes, f"Arrow switch in {words}: North-South and East-West change seats.")
        if turned
        else movement.notes,
    )


def check_size(tables: int, set_size: int, first_board: int, *, least: int = 2, most: int = MAX_TABLES) -> None:
    """Raises EntryError (exit status USAGE) for a number of tables or boards that no movement can have."""
    if not least <= tables <= most:
        raise EntryError(
            f"A movement of {tables} tables can't be: it needs {least} to {most}.", exit_status=ExitStatus.USAGE
        )
    if not 1 <= set_size <= 99:
        raise EntryError(f"Rounds of {set_size} boards can't be: they have 1 to 99.", exit_status=ExitStatus.USAGE)
    if not 1 <= first_board <= 999:
        raise EntryError(
            f"The first board can't be number {first_board}: it is 1 to 999.", exit_status=ExitStatus.USAGE
        )


def describe(kind: str, tables: int, rounds: int, set_size: int, pairs: int, *, sits_out: bool = False) -> str:
    """The name of a movement, with the numbers that a director looks for."""
    boards = f"{rounds} round{'s' if rounds != 1 else ''} of {set_size}"
    return f"{kind}, {tables} tables, {pairs} pairs{' (one sits out)' if sits_out else ''}, {boards}"
