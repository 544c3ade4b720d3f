"""Who sits for a pair in which round: seats "1" and "2" from the start, and "1@5" whoever takes seat 1 from round 5 on.

Most events seat people once. A scoring program may say anew for every round who sits where; then one pair has other
players in some rounds. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from terminals.movement.model import Movement
from terminals.store.desk import Person

People = Mapping[tuple[str, int, str], Person]
"""(section letter, pair, seat) -> person."""


def by_place(people: Iterable[Person]) -> dict[tuple[str, int, str], Person]:
    return {(one.section, one.pair, one.seat): one for one in people}


def later_seat(seat: str, round: int) -> str:
    """The name of seat "1" or "2" for whoever takes it from this round on."""
    return f"{seat}@{round}"


def from_round(seat: str) -> tuple[str, int]:
    """("1", 5) for "1@5", ("1", 1) for "1"."""
    base, _, round = seat.partition("@")
    return base, int(round) if round.isascii() and round.isdigit() else 1


def seat_at(people: People, section: str, pair: int, seat: str, round: int) -> str:
    """The seat under which whoever sits in "1" or "2" of a pair in a round is kept."""
    rounds = [
        begun
        for letter, number, name in people
        if (letter, number) == (section, pair)
        for base, begun in (from_round(name),)
        if base == seat and name != base and begun <= round
    ]
    return later_seat(seat, max(rounds)) if rounds else seat


def sitting(people: People, section: str, pair: int, round: int) -> tuple[Person | None, Person | None]:
    """The two persons of a pair in a round; None where nobody is known."""
    first, second = (people.get((section, pair, seat_at(people, section, pair, seat, round))) for seat in ("1", "2"))
    return first, second


def round_here(movement: Movement | None, pair: int, table: int, now: int) -> int:
    """The round in which a pair is at a table: the first one from ``now`` on, else its last one; ``now`` if never."""
    if movement is None:
        return now
    rounds = sorted(
        {one.round for one in movement.seatings if one.table == table and pair in one.contestants}
        | {one.round for one in movement.sit_outs if (one.table, one.pair) == (table, pair)}
    )
    return next((one for one in rounds if one >= now), rounds[-1] if rounds else now)
