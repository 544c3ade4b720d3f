"""Several sections in one evening: of the same or of different size, scored apart or across the field.

A contestant is a section letter and a number ("A7"): the same numbers may be used in every section. Whether results
are compared inside the section or across the field is a setting of the scoring, so it can be changed after play.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement.model import Movement
from terminals.movement.swiss import SWISS_PAIRS
from terminals.movement.teams import MULTIPLE_TEAMS

MAX_SECTIONS = 78
"""A to Z, then AA to ZZ, then AAA to ZZZ."""
_LETTERS = re.compile(r"([A-Z])\1{0,2}", re.ASCII | re.IGNORECASE)
_CONTESTANT = re.compile(r"(([A-Z])\2{0,2}) *([0-9]{1,4})", re.ASCII | re.IGNORECASE)


def section_letter(number: int) -> str:
    """1 is A, 26 is Z, 27 is AA, 78 is ZZZ. Raises EntryError."""
    if not 1 <= number <= MAX_SECTIONS:
        raise EntryError(f"there is no section number {number}.", code="bad-section")
    times, letter = divmod(number - 1, 26)
    return chr(65 + letter) * (times + 1)


def section_number(letter: str) -> int:
    """Inverse of ``section_letter``. Raises EntryError."""
    if _LETTERS.fullmatch(letter):
        return ord(letter[0].upper()) - 64 + 26 * (len(letter) - 1)
    raise EntryError(
        f"{letter[:8]!r} is no section; one letter from A to Z is wanted, once to three times.", code="bad-section"
    )


class Field(StrEnum):
    """With whom a result is compared and a contestant ranked."""

    SEPARATE = "separate"
    ACROSS = "across"


@dataclass(frozen=True, slots=True)
class Section:
    """letter: as ``section_letter`` gives it. movement: its own, with pair numbers from 1."""

    letter: str
    movement: Movement


@dataclass(frozen=True, slots=True)
class Ranking:
    """Contestants that are ranked together, and the sections whose results are compared on every board."""

    name: str
    sections: tuple[str, ...]
    contestants: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sections:
    """The sections of an evening, in the order of their letters. Raises EntryError for letters that can't be."""

    sections: tuple[Section, ...]
    field: Field = Field.SEPARATE

    def __post_init__(self) -> None:
        letters = [section.letter for section in self.sections]
        proper = all(_LETTERS.fullmatch(letter) and letter.isupper() for letter in letters)
        if not 1 <= len(letters) <= MAX_SECTIONS or not proper or len(set(letters)) != len(letters):
            raise EntryError("Sections have a letter each, every letter once.", exit_status=ExitStatus.USAGE)
        object.__setattr__(self, "sections", tuple(sorted(self.sections, key=lambda one: section_number(one.letter))))

    def scored(self, field: Field) -> Sections:
        """The same evening scored the other way; nothing that was played changes."""
        return replace(self, field=field)

    def rankings(self) -> tuple[Ranking, ...]:
        """Who is ranked with whom. Across the field, groups of the same name are one ranking.

        Sections with one winner and sections with two can't be ranked together, nor rounds of a Swiss event and a whole
        session, nor pairs and teams: each keeps its own rankings then, but results are still compared across the field.
        """
        letters = tuple(section.letter for section in self.sections)
        alike = len({_way(s.movement) for s in self.sections}) == 1
        if self.field is Field.ACROSS and alike and len(self.sections) > 1:
            return tuple(
                Ranking(
                    group.name,
                    letters,
                    tuple(f"{s.letter}{c}" for s in self.sections for c in s.movement.groups[at].contestants),
                )
                for at, group in enumerate(self.sections[0].movement.groups)
            )
        return tuple(
            Ranking(
                f"{s.letter} {group.name}",
                letters if self.field is Field.ACROSS else (s.letter,),
                tuple(f"{s.letter}{c}" for c in group.contestants),
            )
            for s in self.sections
            for group in s.movement.groups
        )

    def copies_to_deal(self) -> Mapping[int, int]:
        """Board number -> copies for all sections together: every section plays with its own boards."""
        total: dict[int, int] = {}
        for section in self.sections:
            for board, copies in section.movement.copies_to_deal().items():
                total[board] = total.get(board, 0) + copies
        return dict(sorted(total.items()))

    def expected_per_board(self) -> Mapping[str, Mapping[int, int]]:
        """What a board is compared with: scope ("A", or "all" across the field) -> board -> number of results."""
        if self.field is Field.SEPARATE:
            return {s.letter: s.movement.expected_per_board() for s in self.sections}
        total: dict[int, int] = {}
        for s in self.sections:
            for board, results in s.movement.expected_per_board().items():
                total[board] = total.get(board, 0) + results
        return {"all": dict(sorted(total.items()))}

    def warnings(self) -> tuple[str, ...]:
        """What the director should know before scoring across the field."""
        found = []
        if self.field is Field.ACROSS and len(self.sections) > 1:
            boards = [set(s.movement.board_numbers) for s in self.sections]
            common = set.intersection(*boards)
            odd = sorted(set.union(*boards) - common)
            if odd:
                found.append(f"Boards {', '.join(map(str, odd[:8]))} are not played in every section.")
            if len({tuple(g.name for g in s.movement.groups) for s in self.sections}) > 1:
                found.append("One section has one winner and another two: they are ranked apart.")
            elif len({_way(s.movement) for s in self.sections}) > 1:
                found.append("The sections are events of different kinds: they are ranked apart.")
            results = set(self.expected_per_board()["all"].values())
            if len(results) > 1:
                found.append(f"Boards get between {min(results)} and {max(results)} results.")
        return tuple(found)


def _way(movement: Movement) -> tuple[str, ...]:
    """What two sections must have in common to be one ranking: contestants of one kind, ranked in one way."""
    kind = movement.kind if movement.kind in (SWISS_PAIRS, MULTIPLE_TEAMS) else ""
    return (movement.format.value, kind, *(group.name for group in movement.groups))


def contestant(text: str) -> tuple[str, int]:
    """Section letter and number of "A7" or "AA7". Raises EntryError for anything else."""
    found = _CONTESTANT.fullmatch(text.strip())
    if found is None or not int(found[3]):
        raise EntryError(f"{text[:20]!r} is no contestant: write section and number, such as A7.")
    return found[1].upper(), int(found[3])


def divide(pairs: int, sections: int) -> tuple[int, ...]:
    """Pairs per section, as equal as possible; at most one section has a half table.

    Raises EntryError when a section would have fewer than three pairs.
    """
    if not 1 <= sections <= MAX_SECTIONS or pairs < 3 * sections:
        raise EntryError(f"{pairs} pairs can't be divided into {sections} sections.", exit_status=ExitStatus.USAGE)
    tables, half = divmod(pairs, 2)
    whole, more = divmod(tables, sections)
    sizes = [2 * (whole + (at < more)) for at in range(sections)]
    sizes[-1 if more == 0 else more % sections] += half
    return tuple(sizes)


def sections_of(movements: Sequence[Movement], field: Field = Field.SEPARATE) -> Sections:
    """Sections A, B, C ... with these movements."""
    return Sections(tuple(Section(section_letter(at), m) for at, m in enumerate(movements, start=1)), field)
