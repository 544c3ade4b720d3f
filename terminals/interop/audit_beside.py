"""Numbers that are published beside the totals: a second total in another unit, and places.

Files do not say what a second total counts or by what contestants were placed (handicaps, carried scores, ties broken
by some rule). So a column is checked against each meaning that it may have; where most of it follows one of them, the
rest of it differs, and where it follows none, a note says that it was not checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from terminals.interop.audit_values import Mismatch, Tolerance, decimals_of
from terminals.interop.exchange import Entrant, ExchangeEvent, Published
from terminals.scoring.lines import Contestant

PLACE = "place"
"""What a mismatch of a place says of itself."""

Label = Callable[[Contestant], str]
Values = Mapping[Contestant, Fraction]


@dataclass(frozen=True, slots=True)
class Beside:
    """What was found. checked: numbers that were compared."""

    checked: int = 0
    mismatches: tuple[Mismatch, ...] = ()
    notes: tuple[str, ...] = ()


def check_second_totals(event: ExchangeEvent, meanings: Iterable[Values], label: Label) -> Beside:
    """The second total of each contestant against what it may count: ``meanings`` are exact, without adjustments."""
    held = [(one, one.second_total) for one in event.entrants if one.second_total is not None]
    tolerance = Tolerance(decimals_of(number for _, number in held))
    best: list[Mismatch] | None = None
    checked = 0
    for values in meanings:
        found = []
        compared = 0
        for one, number in held:
            computed = values.get(one.contestant)
            if computed is None:
                continue
            compared += 1
            if not tolerance.equal_total(number, computed, one.adjustment):
                detail = "second total"
                found.append(
                    Mismatch(
                        number.value,
                        computed,
                        contestant=label(one.contestant),
                        detail=detail,
                        decimals=tolerance.decimals,
                    )
                )
        if compared and (best is None or len(found) < len(best)):
            best, checked = found, compared
    if best is None:
        return Beside()
    if 2 * len(best) > checked:
        return Beside(notes=("a second total of the contestants counts something else; it was not checked",))
    return Beside(checked, tuple(best))


@dataclass(frozen=True, slots=True)
class Share:
    """A percentage of a board as it was published, and what it may have to be."""

    published: Published
    computed: Fraction
    board: int
    contestant: str
    side: str


def check_shares(ways: Iterable[Sequence[Share]]) -> Beside:
    """Percentages of boards, by the way of factoring that most of them follow."""
    best: list[Mismatch] | None = None
    checked = 0
    for way in ways:
        tolerance = Tolerance(decimals_of(one.published for one in way))
        found = [
            Mismatch(
                one.published.value, one.computed, one.board, one.contestant, one.side, "percent", tolerance.decimals
            )
            for one in way
            if not tolerance.equal(one.published.value, one.computed)
        ]
        if way and (best is None or len(found) < len(best)):
            best, checked = found, len(way)
    if best is None:
        return Beside()
    if 2 * len(best) > checked:
        return Beside(notes=("the percentages of the boards count something else; they were not checked",))
    return Beside(checked, tuple(best))


def check_places(event: ExchangeEvent, computed: Values, label: Label) -> Beside:
    """Places against the order of the totals, published or computed; contestants with equal totals may share or not."""
    placed = [(int(match[1]), one) for one in event.entrants if (match := _PLACE.fullmatch(one.place.strip()))]
    teams = {team for match in event.matches for team in (match.team, match.opponent)}
    best: list[tuple[int, int, Entrant]] | None = None
    checked = 0
    for group_of in _GROUPS:
        groups: dict[Hashable, list[tuple[int, Entrant]]] = {}
        for place, one in placed:
            groups.setdefault((group_of(one), one.contestant in teams), []).append((place, one))
        wrong: list[tuple[int, int, Entrant]] = []
        compared = 0
        for held in groups.values():
            bases = _orders([one for _, one in held], computed)
            compared += len(held) if bases else 0
            wrong += [
                (place, _ranks(one, bases[0])[0], one) for place, one in held if bases and not _fits(place, one, bases)
            ]
        if compared and (best is None or len(wrong) < len(best)):
            best, checked = wrong, compared
    if not best:
        return Beside(checked)
    if 2 * len(best) > checked:
        return Beside(notes=("the places do not follow these totals; they were not checked",))
    found = [
        Mismatch(Fraction(place), Fraction(rank), contestant=label(one.contestant), detail=PLACE)
        for place, rank, one in best
    ]
    return Beside(checked, tuple(found))


_PLACE = re.compile(r"=?\s*(\d{1,6})\s*=?", re.ASCII)

_GROUPS: tuple[Callable[[Entrant], Hashable], ...] = (
    lambda one: (one.of_section, one.direction),
    lambda one: one.direction,
    lambda one: one.of_section,
    lambda one: "",
)
"""Who may have been ranked together: a direction of a section, a direction, a section, all."""


def _orders(entrants: Sequence[Entrant], computed: Values) -> list[dict[Contestant, Fraction]]:
    """What these contestants may have been ordered by; only what all of them have."""
    ways: tuple[Callable[[Entrant], Fraction | None], ...] = (
        lambda one: None if one.total is None else one.total.value,
        lambda one: computed.get(one.contestant),
        lambda one: None if one.total is None else one.total.value + _adjustment(one),
        lambda one: None if one.contestant not in computed else computed[one.contestant] + _adjustment(one),
        lambda one: None if one.second_total is None else one.second_total.value,
    )
    orders = []
    for way in ways:
        values = {one.contestant: value for one in entrants if (value := way(one)) is not None}
        if len(values) == len(entrants):
            orders.append(values)
    return orders


def _adjustment(one: Entrant) -> Fraction:
    return one.adjustment.value if one.adjustment is not None else Fraction(0)


def _ranks(one: Entrant, order: Mapping[Contestant, Fraction]) -> tuple[int, int]:
    """First and last place that the contestant can have in this order."""
    own = order[one.contestant]
    better = sum(value > own for value in order.values())
    return better + 1, better + sum(value == own for value in order.values())


def _fits(place: int, one: Entrant, orders: Iterable[Mapping[Contestant, Fraction]]) -> bool:
    return any(first <= place <= last for first, last in (_ranks(one, order) for order in orders))
