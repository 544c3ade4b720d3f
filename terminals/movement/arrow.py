"""How many rounds to switch the arrow so that a Mitchell has one fair winner: computed, not guessed.

Fewer than clubs think: one round for five to eleven tables, two for thirteen to seventeen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement.mitchell import arrow_switch
from terminals.movement.model import Movement
from terminals.movement.verify import variance_per_set


@dataclass(frozen=True, slots=True)
class Switching:
    """Competition variance (per set of one board) by the number of switched rounds, from none up; the least is best."""

    best: int
    variances: tuple[Fraction, ...]


def best_switching(movement: Movement) -> Switching:
    """How many of the last rounds of a two-winner movement to switch, trying up to half of them.

    Raises EntryError for a movement that has one ranking already.
    """
    if movement.winners < 2:
        raise EntryError("This movement has one winner without an arrow switch.", exit_status=ExitStatus.USAGE)
    single = replace(movement, seatings=tuple(replace(s, boards=s.boards[:1]) for s in movement.seatings))
    variances = []
    for count in range(movement.rounds // 2 + 1):
        variances.append(variance_per_set(arrow_switch(single, last_rounds(single, count))))
        if count > 3 and variances[-1] > 2 * min(variances):
            break  # past the minimum it only grows: switching k or all but k rounds is the same competition
    return Switching(variances.index(min(variances)), tuple(variances))


def switched(movement: Movement, count: int | None = None) -> Movement:
    """The movement with its last ``count`` rounds switched; by default the computed best number."""
    count = best_switching(movement).best if count is None else count
    if not 0 <= count <= movement.rounds:
        raise EntryError(f"{count} rounds can't be switched in {movement.rounds} rounds.", exit_status=ExitStatus.USAGE)
    return arrow_switch(movement, last_rounds(movement, count))


def last_rounds(movement: Movement, count: int) -> tuple[int, ...]:
    """The numbers of the last ``count`` rounds."""
    return tuple(range(movement.rounds - count + 1, movement.rounds + 1))
