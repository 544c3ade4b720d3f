"""An event as the collector knows it: sections with their movements, settings, and the plan that each table gets.

Frozen values and their JSON form; no I/O. A section without a movement takes results all the same: they are held, and
checked against the movement once it is there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from firmware_bridge.errors import EntryError
from firmware_bridge.wire.messages import PlanRound, TablePlan, TableSettings
from firmware_bridge.wire.numbers import TableSetting
from terminals.movement import files, written
from terminals.movement import sections as letters
from terminals.movement.model import Direction, Movement, SitOut
from terminals.settings import DEFAULT, SECTION_SETTINGS, EventSettings

MAX_SECTIONS = letters.MAX_SECTIONS
section_letter, section_number = letters.section_letter, letters.section_number
MAX_TABLE = 255
MAX_PAIR = 4095
END = 255
"""Next table in a plan: the session is over for this pair."""


@dataclass(frozen=True, slots=True)
class Section:
    """number: as on the wire, 1 is A. movement: None until it is set. own: settings in which the section differs from
    its event, by name, sorted."""

    number: int
    movement: Movement | None = None
    own: tuple[tuple[str, Any], ...] = ()

    @property
    def letter(self) -> str:
        return section_letter(self.number)


@dataclass(frozen=True, slots=True)
class EventSetup:
    """One event. id: 64 bits, never 0. plan_version: 1-65535, rises with every change of movement.

    Raises EntryError for what terminals can't be told: a table or pair number that is too high, boards of a round
    that do not follow each other.
    """

    id: int
    name: str
    sections: tuple[Section, ...]
    settings: EventSettings = DEFAULT
    plan_version: int = 1
    _by_number: dict[int, Section] = field(init=False, repr=False, compare=False)
    _own: dict[int, EventSettings] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 < self.id < 1 << 64:
            raise EntryError("an event needs an id other than 0.", code="bad-event")
        if not 1 <= self.plan_version <= 0xFFFF:
            raise EntryError("a plan version is from 1 to 65535.", code="bad-event")
        if len({s.number for s in self.sections}) != len(self.sections) or len(self.sections) > MAX_SECTIONS:
            raise EntryError(f"sections have different numbers, at most {MAX_SECTIONS}.", code="bad-event")
        for section in self.sections:
            section_letter(section.number)
            if section.movement is not None:
                _check_movement(section.letter, section.movement)
        object.__setattr__(self, "_by_number", {section.number: section for section in self.sections})
        own = {one.number: self.settings.changed(dict(one.own)) for one in self.sections if one.own}
        object.__setattr__(self, "_own", own)

    def section(self, number: int) -> Section | None:
        return self._by_number.get(number)

    def settings_of(self, number: int) -> EventSettings:
        """The settings that count in a section."""
        return self._own.get(number, self.settings)

    def with_settings(self, wanted: Mapping[int, EventSettings]) -> EventSetup:
        """The same event with these settings in its sections, by number; all others keep theirs.

        The settings of the event become those of its first section. Only ``SECTION_SETTINGS`` can differ between
        sections: the others are taken from the first one that ``wanted`` names.
        """
        each = {one.number: wanted.get(one.number, self.settings_of(one.number)) for one in self.sections}
        common = next((wanted[one.number] for one in self.sections if one.number in wanted), self.settings)
        base = common.changed(_parts(each[self.sections[0].number])) if self.sections else common
        sections = tuple(
            replace(one, own=tuple(sorted(_parts(each[one.number]).items() - _parts(base).items())))
            for one in self.sections
        )
        return replace(self, settings=base, sections=sections)

    def with_changed_settings(self, values: Mapping[str, Any]) -> EventSetup:
        """The same event with some settings changed, in all its sections. Raises EntryError."""
        settings = self.settings.changed(values)
        sections = tuple(
            replace(one, own=tuple(pair for pair in one.own if pair[0] not in values)) for one in self.sections
        )
        return replace(self, settings=settings, sections=sections)

    def section_called(self, letter: str) -> Section | None:
        return next((section for section in self.sections if section.letter == letter.upper()), None)

    def has_table(self, section: int, table: int) -> bool:
        """True when somebody sits at that table at some time (a section without movement has tables 1 to 255)."""
        found = self._by_number.get(section)
        if found is None:
            return False
        if found.movement is None:
            return 1 <= table <= MAX_TABLE
        return 1 <= table <= found.movement.tables

    def expected_results(self) -> int:
        return sum(s.movement.expected_results() for s in self.sections if s.movement is not None)

    def with_movement(self, number: int, movement: Movement) -> EventSetup:
        """The same event with a section's movement set or changed; the plan version rises."""
        kept = [section for section in self.sections if section.number != number]
        before = self.section(number)
        own = () if before is None else before.own
        sections = tuple(sorted([*kept, Section(number, movement, own)], key=lambda s: s.number))
        return replace(self, sections=sections, plan_version=self.plan_version % 0xFFFF + 1)

    def table_plan(self, section: int, table: int) -> TablePlan | None:
        """What the terminal of a table needs to go on without the host; None while the section has no movement."""
        found = self._by_number.get(section)
        if found is None or found.movement is None or not self.has_table(section, table):
            return None
        rounds = tuple(plan_round(found.movement, number, table) for number in range(1, found.movement.rounds + 1))
        return TablePlan(event_id=self.id, version=self.plan_version, section=section, table=table, rounds=rounds)


def new_event(
    event_id: int, name: str, movements: Mapping[int, Movement | None], settings: EventSettings = DEFAULT
) -> EventSetup:
    """A new event: ``movements`` by section number. The first plan version differs between events, so that a terminal
    that still holds the plan of another evening is told apart by the number alone."""
    sections = tuple(Section(number, movement) for number, movement in sorted(movements.items()))
    return EventSetup(event_id, name[:80], sections, settings, plan_version=event_id % 60000 + 1)


def _parts(settings: EventSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in SECTION_SETTINGS}


def pairs_at(setup: EventSetup, section: int, table: int) -> set[int] | None:
    """The pairs that come to a table in any round, sit-outs included; None while the section has no movement."""
    found = setup.section(section)
    if found is None or found.movement is None:
        return None
    here = {pair for one in found.movement.seatings if one.table == table for pair in (one.ns, one.ew)}
    return here | {one.pair for one in found.movement.sit_outs if one.table == table}


_SETTING_BITS = (
    ("confirm", TableSetting.CONFIRM),
    ("confirm_code", TableSetting.CONFIRM_CODE),
    ("order", TableSetting.ORDER),
    ("lead", TableSetting.LEAD),
    ("checks", TableSetting.CHECKS),
    ("traveller", TableSetting.TRAVELLER),
    ("percentages", TableSetting.PERCENTAGES),
    ("ranking", TableSetting.RANKING),
    ("names", TableSetting.NAMES),
    ("auction", TableSetting.AUCTION),
    ("play", TableSetting.PLAY),
    ("hand_entry", TableSetting.HAND_ENTRY),
    ("positions", TableSetting.POSITIONS),
    ("director_pin", TableSetting.DIRECTOR_PIN),
)


def table_settings(settings: EventSettings) -> TableSettings:
    """What terminals are told of the settings."""
    return TableSettings(int(sum(bit for name, bit in _SETTING_BITS if getattr(settings, name))))


def plan_round(movement: Movement, number: int, table: int) -> PlanRound:
    """One round of one table. A sit-out at the table shows the pair that sits there and no boards."""
    seating = movement.at(number, table)
    if seating is None:
        ns = ew = 0
        for sit_out in movement.sit_outs:
            if sit_out.round == number and sit_out.table == table:
                if sit_out.direction is Direction.NS:
                    ns = sit_out.pair
                else:
                    ew = sit_out.pair
        first, count, shared = 0, 0, 0
    else:
        ns, ew = seating.ns, seating.ew
        # a board that was taken out of the middle of a run lies between the others; its table is told apart
        first = min(seating.boards)
        count = max(seating.boards) - first + 1
        shared = int(any(s.round == number and table in s.tables for s in movement.shares))
    next_ns, swap_ns = _next(movement, number, ns, Direction.NS)
    next_ew, swap_ew = _next(movement, number, ew, Direction.EW)
    return PlanRound(
        round=number,
        ns=ns,
        ew=ew,
        first_board=first,
        board_count=count,
        shared=shared,
        next_ns=next_ns,
        next_ew=next_ew,
        next_swap=swap_ns | swap_ew << 1,
    )


def _next(movement: Movement, number: int, pair: int, side: Direction) -> tuple[int, int]:
    if not pair:
        return END, 0
    place = movement.next_seat(pair, number)
    if place is None:
        return END, 0
    if isinstance(place, SitOut):
        return 0, 0
    return place.table, int(place.direction_of(pair) is not side)


def _check_movement(letter: str, movement: Movement) -> None:
    where = f"section {letter}"
    if movement.tables >= MAX_TABLE:
        raise EntryError(f"a section has at most {MAX_TABLE - 1} tables.", where=where, code="bad-movement")
    if movement.rounds > 255:
        raise EntryError("a session has at most 255 rounds.", where=where, code="bad-movement")
    for seating in movement.seatings:
        run = sorted(seating.boards)
        if not run or run[-1] - run[0] >= max(len(run), movement.boards_per_round):
            raise EntryError(
                "terminals can only be told boards that follow each other.",
                where=f"{where}, table {seating.table}, round {seating.round}",
                next_step="Give this table consecutive boards, or collect its results on paper.",
                code="bad-movement",
            )
        if not all(1 <= pair <= MAX_PAIR for pair in (seating.ns, seating.ew)) or run[-1] > 999:
            raise EntryError("a pair or board number is too high for terminals.", where=where, code="bad-movement")


# --- JSON --------------------------------------------------------------------------------------------------------


# A movement is stored in the form of its file, whose reader names what is wrong with it.
movement_to_dict, movement_from_dict = written.to_dict, files.from_dict


def setup_to_json(setup: EventSetup) -> str:
    """Everything but id, name and plan version, which have columns of their own."""
    sections = [
        {"number": s.number, "movement": None if s.movement is None else movement_to_dict(s.movement)}
        | ({"settings": dict(s.own)} if s.own else {})
        for s in setup.sections
    ]
    return json.dumps({"sections": sections, "settings": setup.settings.as_dict()}, ensure_ascii=False)


def setup_from_json(event_id: int, name: str, plan_version: int, text: str) -> EventSetup:
    """Inverse of ``setup_to_json``. Raises EntryError."""
    try:
        value = json.loads(text)
        sections = tuple(
            Section(
                s["number"],
                None if s["movement"] is None else movement_from_dict(s["movement"]),
                tuple(sorted((str(name), value) for name, value in s.get("settings", {}).items())),
            )
            for s in value["sections"]
        )
        settings = EventSettings.from_dict(value["settings"])
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise EntryError(f"this is no event: {type(error).__name__}.", code="bad-event") from error
    return EventSetup(event_id, name, sections, settings, plan_version)
