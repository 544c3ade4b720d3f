"""Master points from award tables in files: who gets how many for which place, in a field of which size.

Federations' scales change every year and are no part of the program. A table is TOML: ``name``, ``version``, optional
``source``, ``unit`` ("points" or "hundredths"), ``ties`` ("average", "higher" or "share"), ``one_in`` (awards for one
third: 3; left out: for every listed place), and ``[[award]]`` entries with ``from``, optional ``to`` (number of
contestants) and ``places`` (awards for the 1st, 2nd, 3rd ...).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TypeGuard

from firmware_bridge.errors import EntryError
from terminals.scoring.lines import Contestant
from terminals.scoring.profile_file import parse_toml, read_text
from terminals.scoring.ranking import RankRow


class AwardTies(StrEnum):
    """What contestants who share a place get."""

    AVERAGE = "average"  # the mean of the places they take up
    HIGHER = "higher"  # the award of the place that they share
    SHARE = "share"  # like average, but a place without an award counts as nothing


@dataclass(frozen=True, slots=True)
class Award:
    """Awards for fields of ``low`` to ``high`` contestants (None: no limit), by place."""

    low: int
    high: int | None
    places: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class AwardTable:
    """An award table. one_in: awards for one in so many contestants, rounded up; None: for every listed place."""

    name: str
    version: int
    awards: tuple[Award, ...]
    unit: str = "points"
    ties: AwardTies = AwardTies.AVERAGE
    one_in: int | None = None
    source: str = ""

    def places(self, contestants: int) -> tuple[Fraction, ...]:
        """Awards of a field, best place first; empty when the table has none for its size."""
        for award in self.awards:
            if award.low <= contestants and (award.high is None or contestants <= award.high):
                count = len(award.places) if self.one_in is None else -(-contestants // self.one_in)
                return award.places[:count]
        return ()


def award_master_points(ranking: Sequence[RankRow], table: AwardTable) -> dict[Contestant, Fraction]:
    """Awards of one winner group; contestants without an award are left out."""
    places = table.places(len(ranking))
    out: dict[Contestant, Fraction] = {}
    index = 0
    while index < len(ranking):
        end = index + 1
        while end < len(ranking) and ranking[end].place == ranking[index].place:
            end += 1
        taken = [places[place] if place < len(places) else Fraction(0) for place in range(index, end)]
        if table.ties is AwardTies.HIGHER:
            each = taken[0]
        elif table.ties is AwardTies.AVERAGE and index < len(places):
            listed = places[index:end]
            each = sum(listed, Fraction(0)) / len(listed)
        else:
            each = sum(taken, Fraction(0)) / len(taken)
        if each:
            out.update((row.contestant, each) for row in ranking[index:end])
        index = end
    return out


def load_award_table(path: Path) -> AwardTable:
    """An award table from a file. Raises EntryError that names the key or the entry."""
    where = str(path)
    data = parse_toml(read_text(path), where)
    for key in data:
        if key not in ("name", "version", "source", "unit", "ties", "one_in", "award"):
            raise _bad(f"{key[:40]}: there is no such key", where)
    name, version = data.get("name"), data.get("version", 1)
    if not isinstance(name, str) or not 1 <= len(name) <= 80:
        raise _bad("name: a text of up to 80 characters is wanted", where)
    if not _is_int(version, 1, 10**6):
        raise _bad("version: a whole number is wanted", where)
    unit, ties = data.get("unit", "points"), data.get("ties", "average")
    if unit not in ("points", "hundredths"):
        raise _bad("unit: points or hundredths is wanted", where)
    if ties not in tuple(AwardTies):
        raise _bad(f"ties: one of {', '.join(AwardTies)} is wanted", where)
    one_in = data.get("one_in")
    if one_in is not None and not _is_int(one_in, 1, 100):
        raise _bad("one_in: a whole number from 1 to 100 is wanted", where)
    entries = data.get("award")
    if not isinstance(entries, list) or not 1 <= len(entries) <= 500:
        raise _bad("award: from 1 to 500 entries are wanted", where)
    awards: list[Award] = []
    for number, entry in enumerate(entries, start=1):
        awards.append(_entry(entry, awards[-1] if awards else None, f"{where}, award {number}"))
    source = str(data.get("source", ""))[:300]
    return AwardTable(name, version, tuple(awards), unit, AwardTies(ties), one_in, source)


def _entry(entry: object, before: Award | None, where: str) -> Award:
    if not isinstance(entry, dict) or set(entry) - {"from", "to", "places"}:
        raise _bad("from, to and places are wanted", where)
    low, high, places = entry.get("from"), entry.get("to"), entry.get("places")
    if not _is_int(low, 1, 100_000):
        raise _bad("from is a whole number from 1 on", where)
    if high is not None and not _is_int(high, low, 100_000):
        raise _bad("to is a whole number, not below from", where)
    if before is not None and (before.high is None or low <= before.high):
        raise _bad("it overlaps the entry before it", where)
    if not isinstance(places, list) or not 1 <= len(places) <= 1000:
        raise _bad("places: a list of awards is wanted", where)
    values = []
    for value in places:
        if isinstance(value, bool) or not isinstance(value, (int, Fraction)) or not 0 <= value <= 10**6:
            raise _bad("an award is a number from 0 on", where)
        values.append(Fraction(value))
    if values != sorted(values, reverse=True):
        raise _bad("a lower place has a higher award", where)
    return Award(low, high, tuple(values))


def _is_int(value: object, low: int, high: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _bad(what: str, where: str) -> EntryError:
    return EntryError(f"{what}.", where=where, next_step="Correct the award table.", code="bad-awards")
