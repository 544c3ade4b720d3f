"""Whose names stand where after a change of plan: another number of a pair, a substitute for some rounds. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from terminals.movement import happenings as h
from terminals.movement.state import Plan
from terminals.store.desk import Person
from terminals.sync.seats import People, from_round, later_seat


def renumbered(people: People, letter: str, plan: Plan, new: Sequence[h.Happening]) -> list[Person]:
    """The names of a pair belong to its new number too."""
    out = []
    for one in new:
        if isinstance(one, h.Renumbered):
            before = plan.last_number(one.pair)
            found = [p for (section, pair, _), p in people.items() if section == letter and pair == before]
            out += [replace(person, pair=one.number) for person in found]
    return out


def substitutes(people: People, letter: str, before: Plan, after: Plan) -> list[Person]:
    """Who sits where in which round, as far as the players that were substituted are known by name (Law 3)."""

    def seats(plan: Plan) -> dict[tuple[int, str], Person]:
        out: dict[tuple[int, str], Person] = {}
        for one in plan.lineups:
            pair = plan.number_of(one.pair, one.round)
            for seat in ("1", "2"):
                person = people.get((letter, pair, seat))
                if person is None or person.name.casefold() != one.player.casefold():
                    continue
                if one.to_round and one.to_round < plan.actual.rounds:
                    place = later_seat(seat, one.to_round + 1)
                    out.setdefault((pair, place), replace(person, seat=place))
                place = later_seat(seat, one.round)
                out[pair, place] = Person(letter, pair, place, "", one.substitute)
        return out

    was, now = seats(before), seats(after)
    for (pair, place), person in was.items():
        if (pair, place) not in now:  # taken back: whoever sits there by himself
            back = people.get((letter, pair, from_round(place)[0]), person)
            now[pair, place] = replace(back, seat=place)
    return [person for key, person in now.items() if people.get((letter, *key)) != person]
