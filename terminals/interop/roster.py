"""From the labels of a result file to contestants: the same label always gives the same one, and only one.

Files number pairs in many ways: the same number for both directions of a two-winner Mitchell, the same numbers in
every section, letters before or directions behind the number, three-part labels of pairs in teams.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from terminals.interop.exchange import Entrant
from terminals.interop.tokens import read_label
from terminals.scoring.lines import Contestant

_FIRST_INVENTED = 100_001


def numbers_collide(plays: Iterable[tuple[object, str, str]]) -> bool:
    """Whether the two directions use the same numbers: one of them is on both sides of the same board.

    plays: (board and section, label of North-South, label of East-West).
    """
    sides: dict[object, tuple[set[str], set[str]]] = {}
    for board, north_south, east_west in plays:
        held = sides.setdefault(board, (set(), set()))
        held[0].add(north_south.strip().upper())
        held[1].add(east_west.strip().upper())
    return any((ns & ew) - {"", "-"} for ns, ew in sides.values())


class Roster:
    """Collects entrants, then finds who sits where. ``close`` comes between the two.

    winners: 1, 2, or 0 when the file does not say. colliding: see ``numbers_collide``; set before ``close``.
    """

    def __init__(self, winners: int = 0) -> None:
        self.winners = winners
        self.colliding = False
        self.entrants: list[Entrant] = []
        self.warnings: list[str] = []
        self._raw: list[tuple[str, str, Entrant, bool]] = []
        self._found: dict[tuple[str, str, str, bool], Contestant] = {}
        self._used: set[Contestant] = set()
        self._invented = _FIRST_INVENTED

    def enter(self, label: str, section: str, entrant: Entrant, *, team: bool = False) -> None:
        """Add a participant; its ``contestant`` is set by ``close``."""
        self._raw.append((label.strip(), section, entrant, team))

    def listed_once(self) -> set[str]:
        """Labels of participants that were entered once, without a direction."""
        counts = Counter(label for label, _, _, _ in self._raw)
        return {label for label, _, entrant, _ in self._raw if counts[label] == 1 and not entrant.direction}

    @property
    def two_fields(self) -> bool:
        """True when the same numbers occur in both directions, which only two winners can mean."""
        return any(one.contestant.direction for one in self.entrants)

    def close(self) -> None:
        """Decide everybody's contestant. The direction belongs to it only where numbers would collide."""
        counts: dict[tuple[str, str, bool], int] = {}
        parsed: list[tuple[str, int | None, str]] = []
        for label, section, entrant, team in self._raw:
            found = read_label(label)
            direction = entrant.direction if entrant.direction in ("NS", "EW") else ""
            if found is None:
                parsed.append((section, None, direction))
                continue
            letters, number, behind = found
            place = section or letters
            parsed.append((place, number, behind or direction))
            counts[place, str(number), team] = counts.get((place, str(number), team), 0) + 1
        listed: set[tuple[str, int]] = set()
        for (label, section, entrant, team), (place, numeral, direction) in zip(self._raw, parsed, strict=True):
            if self.colliding and numeral is not None and not direction and not team:
                # Numbers that are there twice without a direction: North-South is listed before East-West.
                direction = "EW" if (place, numeral) in listed else "NS"
                listed.add((place, numeral))
            if numeral is None:
                contestant = Contestant(place, self._next())
            elif direction and (self.colliding or counts[place, str(numeral), team] > 1):
                contestant = Contestant(place, numeral, direction)
            else:
                contestant = Contestant(place, numeral)
            if contestant in self._used:
                if not team and not self._is_team(contestant):
                    self.warnings.append(f"number {label[:12]} is given to two participants")
                contestant = Contestant(place, self._next(), contestant.direction)
            self._used.add(contestant)
            self._remember(label, section, direction, team, contestant)
            self.entrants.append(replace(entrant, contestant=contestant, direction=direction))

    def _is_team(self, contestant: Contestant) -> bool:
        return any(found == contestant for key, found in self._found.items() if key[3])

    def _next(self) -> int:
        self._invented += 1
        return self._invented - 1

    def _remember(
        self, label: str, section: str, direction: str, team: bool, contestant: Contestant, *, only: bool = False
    ) -> None:
        sides = {direction} if only else {direction, ""}
        for side in sides:
            self._found.setdefault((section, label.upper(), side, team), contestant)
        parsed = read_label(label)
        if parsed is not None:
            letters, number, _ = parsed
            for side in sides:
                self._found.setdefault((section or letters, str(number), side, team), contestant)

    def seat(self, label: str, section: str, side: str, at: str, *, team: bool = False) -> Contestant:
        """Who sits there: by label, section and side; a stranger becomes an entrant of his own, with a warning."""
        text = label.strip().upper()
        parsed = read_label(text)
        keys: list[tuple[str, str]] = [(section, text), ("", text)]
        if parsed is not None:
            letters, number, behind = parsed
            side = behind or side
            keys += [(letters or section, str(number)), (section, str(number)), ("", str(number))]
        for kind in (team, not team):  # teams without pairs of their own sit down under the team's number
            for place, name in keys:
                for wanted in (side,) if self.colliding and side else (side, ""):
                    found = self._found.get((place, name, wanted, kind))
                    if found is not None:
                        return found
        numeral = parsed[1] if parsed is not None else self._next()
        direction = side if self.winners == 2 or self.colliding else ""
        contestant = Contestant(section, numeral, direction)
        if contestant in self._used:
            contestant = Contestant(section, self._next(), direction)
        self._used.add(contestant)
        self._remember(text, section, side, team, contestant, only=bool(direction))
        self.entrants.append(Entrant(contestant, label.strip(), direction=side, section=section))
        self.warnings.append(f"{at}: number {label[:12]!r} is not among the participants")
        return contestant
