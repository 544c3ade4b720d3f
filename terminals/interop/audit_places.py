"""Published places against published totals: a note, not a difference, because programs break ties in many ways."""

from __future__ import annotations

import re
from collections.abc import Callable

from terminals.interop.exchange import Entrant, ExchangeEvent
from terminals.scoring.lines import Contestant


def place_notes(event: ExchangeEvent, label: Callable[[Contestant], str]) -> list[str]:
    """Neighbours of one section and direction of whom the one with the better total has the worse place."""
    groups: dict[tuple[str, str, bool], list[tuple[int, Entrant]]] = {}
    teams = {team for match in event.matches for team in (match.team, match.opponent)}
    for one in event.entrants:
        match = re.fullmatch(r"(\d{1,6})=?", one.place.strip(), re.ASCII)
        if match and one.total is not None:
            key = (one.section, one.direction if event.winners == 2 else "", one.contestant in teams)
            groups.setdefault(key, []).append((int(match.group(1)), one))
    notes = []
    for held in groups.values():
        held.sort(key=lambda pair: pair[0])
        for index, (place, one) in enumerate(held[1:], start=1):
            better_place, better = held[index - 1]
            assert one.total is not None
            assert better.total is not None
            if one.total.value > better.total.value and place > better_place:
                notes.append(
                    f"{label(one.contestant)} has {one.total.text} and place {one.place}, "
                    f"{label(better.contestant)} has {better.total.text} and place {better.place}"
                )
    return notes
