"""The state of a session's plan, and the two small changes to it that all others are made of.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from terminals.movement.happenings import Renumbered, Substituted, Verdict
from terminals.movement.model import Direction, Movement, NewNumber, Seating, SitOut


@dataclass(frozen=True, slots=True)
class Played:
    """A board that was really played: what a result says about the plan."""

    round: int
    table: int
    ns: int
    ew: int
    board: int


@dataclass(frozen=True, slots=True)
class Unplayed:
    """Boards of the plan that these pairs do not play against each other, and what stands in their place.

    ns, ew: 0 where nobody of the movement sits.
    """

    round: int
    table: int
    ns: int
    ew: int
    boards: tuple[int, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Plan:
    """planned: as announced. actual: as played so far and to be played from now on.

    Pairs are named by the number that they began with, whatever they show later; ``shown`` is what tables are told.
    gone: contestants that left, and are in no later draw. cancelled: those of them whose results count for nobody.
    """

    planned: Movement
    actual: Movement
    unplayed: tuple[Unplayed, ...] = ()
    numbers: tuple[Renumbered, ...] = ()
    lineups: tuple[Substituted, ...] = ()
    without_standing: frozenset[int] = frozenset()
    gone: frozenset[int] = frozenset()
    cancelled: frozenset[int] = frozenset()

    def number_of(self, pair: int, round: int) -> int:
        """The number that a pair shows in a round."""
        shown = [n for n in self.numbers if n.pair == pair and n.round <= round]
        return shown[-1].number if shown else pair

    def pair_of(self, number: int, round: int) -> int | None:
        """The pair that shows a number in a round."""
        if not self.numbers:
            return number if number in self.actual.pairs else None
        return next((pair for pair in self.actual.pairs if self.number_of(pair, round) == number), None)

    def last_number(self, pair: int) -> int:
        """The number that a pair shows at the end, under which it is ranked."""
        return self.number_of(pair, self.actual.rounds)

    def shown(self) -> Movement:
        """The actual rounds with the numbers that pairs show in each: what tables are told and results name."""
        numbers = [change for change in self.numbers if change.round <= self.actual.rounds]
        if not numbers:
            return self.actual
        movement = self.actual
        changes = []
        for number, pair in sorted({(change.round, change.pair) for change in numbers}):
            before, after = self.number_of(pair, number - 1), self.number_of(pair, number)
            if before != after:
                changes.append(NewNumber(number, before, after))
        for number in sorted({change.round for change in numbers}):
            names = {pair: self.number_of(pair, number) for pair in self.actual.pairs}
            movement = renamed(self.actual, names, number, movement)
        return replace(
            movement,
            groups=tuple(
                replace(group, contestants=tuple(self.last_number(one) for one in group.contestants))
                for group in self.actual.groups
            ),
            renumbered=tuple(changes),
        )

    def substitutes(self, pair: int, round: int) -> dict[str, str]:
        """player -> substitute for a pair in a round (Law 3)."""
        return {
            s.player: s.substitute
            for s in self.lineups
            if s.pair == pair and s.round <= round and (not s.to_round or round <= s.to_round)
        }


def without_boards(plan: Plan, seating: Seating, boards: Iterable[int], verdict: Verdict, *, absent: int = 0) -> Plan:
    """Takes boards from a seating; when none is left both pairs sit out."""
    gone = tuple(b for b in seating.boards if b in set(boards))
    left = tuple(b for b in seating.boards if b not in gone)
    others = tuple(s for s in plan.actual.seatings if s is not seating)
    sit_outs = plan.actual.sit_outs
    if left:
        others = (*others, replace(seating, boards=left))
    else:
        sit_outs = (*sit_outs, *(
            SitOut(seating.round, pair, seating.table, side, gone, absent=pair == absent)
            for side in Direction for pair in seating.side(side)
        ))  # fmt: skip
    record = Unplayed(seating.round, seating.table, seating.ns, seating.ew, gone, verdict)
    movement = replace(plan.actual, seatings=others, sit_outs=sit_outs)
    return replace(plan, actual=movement, unplayed=(*plan.unplayed, record))


def renamed(movement: Movement, names: Mapping[int, int], from_round: int, earlier: Movement | None = None) -> Movement:
    """The movement with other pairs in the same seats from a round on; rounds before it are those of ``earlier``."""
    before = movement if earlier is None else earlier

    def seat(s: Seating) -> Seating:
        players = tuple(names.get(p, p) for p in s.players)
        return replace(s, ns=names.get(s.ns, s.ns), ew=names.get(s.ew, s.ew), players=players)

    return replace(
        movement,
        seatings=(
            *(s for s in before.seatings if s.round < from_round),
            *(seat(s) for s in movement.seatings if s.round >= from_round),
        ),
        sit_outs=(
            *(s for s in before.sit_outs if s.round < from_round),
            *(replace(s, pair=names.get(s.pair, s.pair)) for s in movement.sit_outs if s.round >= from_round),
        ),
    )
