"""Finds the path of a pair that has no seat of its own: a rover in a Mitchell, an appendix table in a Howell.

In each round the pair takes the place of another, which sits out. The search keeps the promises that make a session
fair: nobody meets the same opponents twice on the rover's account, nobody replays a board, and as few pairs as
possible sit out twice.
"""

from __future__ import annotations

from dataclasses import replace

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement.model import Direction, Movement, Seating, SitOut

_STEPS_PER_LEVEL = 4_000
_STEPS = 40_000


def seat_rover(
    movement: Movement,
    pair: int,
    *,
    from_round: int,
    sides: tuple[Direction, ...] = (Direction.NS, Direction.EW),
    played: frozenset[int] = frozenset(),
    met: frozenset[int] = frozenset(),
    absent_before: bool = False,
    appendix_table: int = 0,
) -> Movement:
    """The movement with ``pair`` roving from ``from_round`` on.

    sides: where it may take a place. played, met: boards and opponents that it has already had. absent_before: rounds
    before count as absence (a late pair), not as sit-outs. appendix_table: number of an extra table to which the
    displaced pair's opponents come with their boards; 0 = the rover goes to their table.
    Raises EntryError when there is no path that plays at least half of the rounds left.
    """
    rounds = list(range(from_round, movement.rounds + 1))
    path = _path(movement, rounds, sides, played, met) if rounds else None
    if path is None or sum(step is not None for step in path) * 2 < len(rounds):
        raise EntryError(
            f"There is no way for pair {pair} to play without meeting the same pairs or boards twice.",
            next_step="Let it play from the next session on, or open a second section.",
            code="no-movement-fits",
            exit_status=ExitStatus.FAILED,
        )
    seatings = list(movement.seatings)
    sit_outs = list(movement.sit_outs)
    sit_outs += [SitOut(r, pair, 0, absent=absent_before) for r in range(1, from_round)]
    words = []
    for number, step in zip(rounds, path, strict=True):
        if step is None:
            sit_outs.append(SitOut(number, pair, 0))
            words.append(f"round {number} sits out")
            continue
        seating, side = step
        displaced = seating.side(side)[0]
        table = appendix_table or seating.table
        ns, ew = (pair, seating.ew) if side is Direction.NS else (seating.ns, pair)
        if appendix_table:
            ns, ew = pair, seating.opponents_of(displaced)[0]
        seatings.remove(seating)
        seatings.append(replace(seating, table=table, ns=ns, ew=ew))
        sit_outs.append(SitOut(number, displaced, seating.table, side, seating.boards))
        words.append(f"round {number} table {seating.table} {side}")
    verb = "stays at the appendix table; opponents come from" if appendix_table else "takes the place at"
    return replace(
        movement,
        seatings=tuple(seatings),
        sit_outs=tuple(sit_outs),
        tables=max(movement.tables, appendix_table),
        notes=(
            *movement.notes,
            f"Pair {pair} {verb}: " + ", ".join(words) + ". The pair whose place it takes sits out.",
        ),
    )


Step = tuple[Seating, Direction] | None


def _path(
    movement: Movement, rounds: list[int], sides: tuple[Direction, ...], played: frozenset[int], met: frozenset[int]
) -> list[Step] | None:
    """The path with the fewest sit-outs; among these the one where nobody is displaced twice, if there is one."""
    start = {s.pair: 1 for s in movement.sit_outs if not s.absent}
    steps = 0
    for skips in range(len(rounds) // 2 + 1):
        for limit in (1, 2):
            search = _Search(movement, rounds, sides, limit)
            found = search.go(0, skips, 0, set(played), set(met), dict(start))
            steps += search.steps
            if found is not None:
                return found
            if steps > _STEPS:
                return None
    return None


class _Search:
    """Depth first over the rounds, bounded in steps so that it always ends quickly, the same way every time."""

    def __init__(self, movement: Movement, rounds: list[int], sides: tuple[Direction, ...], limit: int) -> None:
        self.tables = [movement.in_round(number) for number in rounds]
        self.sides = sides
        self.limit = limit
        self.steps = 0

    def go(
        self, at: int, skips: int, last: int, played: set[int], met: set[int], sat_out: dict[int, int]
    ) -> list[Step] | None:
        """The steps from round ``at`` on. Two tables up from the last one comes first: in a Mitchell of a number of
        tables without the factors 2 and 3 that alone is a complete path."""
        if at == len(self.tables):
            return []
        self.steps += 1
        if self.steps > _STEPS_PER_LEVEL:
            return None
        tables = self.tables[at]
        first = next((i for i, seating in enumerate(tables) if seating.table >= last + 2), 0) if last else 0
        for seating in (*tables[first:], *tables[:first]):
            if played.intersection(seating.boards):
                continue
            for side in self.sides:
                displaced, opponent = seating.side(side)[0], seating.side(side.other)[0]
                if opponent in met or sat_out.get(displaced, 0) >= self.limit:
                    continue
                played.update(seating.boards)
                met.add(opponent)
                sat_out[displaced] = sat_out.get(displaced, 0) + 1
                rest = self.go(at + 1, skips, seating.table, played, met, sat_out)
                if rest is not None:
                    return [(seating, side), *rest]
                played.difference_update(seating.boards)
                met.discard(opponent)
                sat_out[displaced] -= 1
        if skips:
            rest = self.go(at + 1, skips - 1, last, played, met, sat_out)
            if rest is not None:
                return [None, *rest]
        return None
