"""What a scoring program has told of an event: its sessions, scoring groups and sections, kept as one JSON document.

The document holds the sections as they were sent, so that GetMovement gives back exactly that, and what was decided
about them here: which letter of ours a section has, and by how much its East-West pairs are renumbered.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from terminals.interop.data_connector.envelope import Refusal
from terminals.interop.data_connector.movements import Built, build, rounds_of
from terminals.interop.data_connector.numbers import ErrorType
from terminals.interop.data_connector.result_rows import Section
from terminals.interop.data_connector.shapes import SECTION, Dto, blank, dumps
from terminals.interop.data_connector.validate import sections_of
from terminals.movement.model import Movement
from terminals.settings import EventSettings
from terminals.store.data_connector import ProgramEvent
from terminals.sync.setup import MAX_SECTIONS, EventSetup, section_letter, section_number
from terminals.sync.setup import Section as SetupSection

Seats = Mapping[tuple[str, str], Sequence[Dto]]
"""(session, letters) -> participations."""


class Structure:
    """One event. Built anew for each change; what is read is never changed in place by others."""

    def __init__(self, event: str, guid: str, club: str, document: dict[str, Any]) -> None:
        self.event = event
        self.guid = guid
        self.club = club
        self._document = document
        self._built: dict[str, Built] = {}
        self._sections: dict[str, Section] = {}
        self._notes: list[str] = []

    @classmethod
    def new(cls, event: str, guid: str, club: str) -> Structure:
        return cls(event, guid, club, {"sessions": [], "sections": {}, "digests": {}})

    @classmethod
    def load(cls, row: ProgramEvent) -> Structure:
        return cls(row.event, row.guid, row.club, json.loads(row.data))

    def dump(self) -> str:
        return dumps(self._document)

    @property
    def id(self) -> int:
        return int(self.event, 16)

    @property
    def name(self) -> str:
        return str(self.sessions[0]["Name"]) if self.sessions else ""

    @property
    def sessions(self) -> list[dict[str, Any]]:
        """Each: SessionDTO's fields without its groups, and ``Groups``: number, method, name."""
        return list(self._document["sessions"])

    @property
    def guids(self) -> list[str]:
        return [one["SessionGuid"] for one in self.sessions]

    @property
    def digests(self) -> dict[str, str]:
        """Session guid -> digest of the AddSession that brought it."""
        return self._document["digests"]  # type: ignore[no-any-return]

    # --- sections ---

    def sections(self, session: str | None = None) -> Iterator[Section]:
        for letters, kept in self._document["sections"].items():
            if session in (None, kept["dto"]["SessionGuid"]):
                yield self._section(letters, kept)

    def section(self, letters: str | None) -> Section | None:
        name = (letters or "").strip()
        kept = self._document["sections"].get(name)
        return None if kept is None else self._section(name, kept)

    def section_of(self, letter: str) -> Section | None:
        """The section with this letter of ours."""
        return next((one for one in self.sections() if one.letter == letter), None)

    def session_of(self, section: Section) -> str:
        return str(section.dto["SessionGuid"])

    def players(self, letters: str) -> tuple[str, ...]:
        """Names of an individual's contestants, the first is 1."""
        return tuple(self._document["sections"][letters]["players"])

    def _section(self, letters: str, kept: Mapping[str, Any]) -> Section:
        found = self._sections.get(letters)
        if found is None:
            movement = self._movement(letters, kept)
            letter, rounds = section_letter(kept["number"]), rounds_of(kept["dto"])
            found = self._sections[letters] = Section(kept["dto"], letter, movement, kept["offset"], rounds)
        return found

    def _movement(self, letters: str, kept: Mapping[str, Any]) -> Movement | None:
        found = self._built.get(letters)
        if found is None:
            found = self._built[letters] = build(kept["dto"], kept["seats"], kept["offset"])
        return found.movement

    @property
    def notes(self) -> list[str]:
        """What is odd about the movements of sections that were put since this was made or loaded."""
        return self._notes

    # --- changes ---

    def add_session(self, dto: Dto, seats: Seats) -> None:
        """A SessionDTO with its groups and sections. Raises Refusal."""
        head = {name: value for name, value in dto.items() if name not in ("ScoringGroups", "ValidationMessages")}
        head["Groups"] = [
            {"number": one["ScoringGroupNumber"], "method": one["ScoringMethod"], "name": one["Name"] or ""}
            for one in dto["ScoringGroups"] or ()
        ]
        self._document["sessions"].append(head)
        for section in sections_of(dto):
            self.put_section(section, seats.get((dto["SessionGuid"], section["Letters"]), ()))

    def put_section(self, dto: Dto, seats: Sequence[Dto] = (), *, anew: bool = False) -> None:
        """Add or change a section. anew: without results its pairs may be numbered anew. Raises Refusal."""
        letters = (dto["Letters"] or "").strip()
        before = self._document["sections"].get(letters)
        told = before["seats"] if before is not None and not seats else [one for one in seats if not one["IsRemoval"]]
        built = build(dto, told, None if before is None or anew else before["offset"])
        self._notes += built.notes
        number = self._free_number(letters) if before is None else before["number"]
        individual = bool(built.players)
        self._document["sections"][letters] = {
            "dto": dto,
            "number": number,
            "offset": built.offset,
            "players": list(built.players),
            "seats": told if individual or dto["HasExplicitParticipations"] else [],
        }
        self._built[letters] = built
        self._sections.pop(letters, None)

    def adopt(self, known: Structure, letters: set[str]) -> None:
        """Take over how sections of an earlier document are numbered, before they are put anew."""
        for name, kept in known._document["sections"].items():
            if name in letters:
                self._document["sections"][name] = {**kept, "seats": []}
        self.digests.update(known.digests)

    def drop_section(self, letters: str) -> None:
        self._document["sections"].pop(letters, None)
        self._built.pop(letters, None)
        self._sections.pop(letters, None)

    def set_group(self, session: str, number: int, method: int, name: str | None = None) -> None:
        """Add a scoring group of a session, or change its method."""
        groups = next(one["Groups"] for one in self._document["sessions"] if one["SessionGuid"] == session)
        for group in groups:
            if group["number"] == number:
                group["method"] = method
                return
        groups.append({"number": number, "method": method, "name": name or ""})

    def regroup(self, letters: str, number: int) -> None:
        """A section belongs to another scoring group from now on."""
        kept = self._document["sections"][letters]
        kept["dto"] = {**kept["dto"], "ScoringGroupNumber": number}
        self._sections.pop(letters, None)

    def drop_group(self, session: str, number: int) -> None:
        for one in self._document["sessions"]:
            if one["SessionGuid"] == session:
                one["Groups"] = [group for group in one["Groups"] if group["number"] != number]

    def methods(self) -> list[int]:
        """Scoring methods of all groups."""
        return [group["method"] for one in self.sessions for group in one["Groups"]]

    def compared(self) -> dict[str, Any]:
        """The settings that say which sections are one field: those of one scoring group."""
        groups: dict[int, list[str]] = {}
        for kept in sorted(self._document["sections"].values(), key=lambda one: int(one["number"])):
            groups.setdefault(kept["dto"]["ScoringGroupNumber"], []).append(section_letter(kept["number"]))
        if len(groups) == 1 and len(self._document["sections"]) > 1:
            return {"across": True, "fields": []}
        return {"across": False, "fields": ["+".join(letters) for letters in groups.values() if len(letters) > 1]}

    def _free_number(self, letters: str) -> int:
        taken = {kept["number"] for kept in self._document["sections"].values()}
        number = section_number(letters)
        if number not in taken:
            return number
        # An event of an earlier version gave letters from the end of the alphabet to sections AA and on.
        free = [number for number in range(MAX_SECTIONS, 0, -1) if number not in taken]
        if not free:
            raise Refusal(ErrorType.MOVEMENT, f"An event has at most {MAX_SECTIONS} sections here.")
        return free[0]

    def numbers(self) -> dict[str, int]:
        """Letters of the program -> our number of the section."""
        return {letters: int(kept["number"]) for letters, kept in self._document["sections"].items()}

    def renamed(self) -> dict[str, str]:
        """Letters of the program -> letter of ours, where they differ."""
        return {one.letters: one.letter for one in self.sections() if one.letters != one.letter}

    # --- our event ---

    def setup(
        self, settings: EventSettings, plan_version: int, before: EventSetup | None = None, touched: Container[str] = ()
    ) -> EventSetup:
        """The event that terminals play. Raises EntryError for what they can't be told.

        before, touched: sections of ``before`` stay as they are there, which may be what the director made of them (a
        late pair, a shorter session), unless their letters are among ``touched``.
        """
        kept = sorted(self._document["sections"].items(), key=lambda item: item[1]["number"])
        sections = []
        for letters, one in kept:
            there = None if before is None else before.section(one["number"])
            if there is None or letters in touched:
                own = () if there is None else there.own
                there = SetupSection(one["number"], self._movement(letters, one), own)
            sections.append(there)
        return EventSetup(self.id, self.name[:80], tuple(sections), settings, plan_version)


def deleted_section(session: str, letters: str) -> Dto:
    """What UpdateMovement answers for a section that is gone."""
    return blank(SECTION, SessionGuid=session, Letters=letters, Tables=[])
