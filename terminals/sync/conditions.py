"""What an event is scored by beside its results: the conditions of contest, and what the director decided so far.

Folded from the event's desk events in their order; the running desk and a look into a store that nobody serves fold
the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from firmware_bridge.db import Connection
from firmware_bridge.errors import FirmwareBridgeError
from terminals.movement import happenings
from terminals.movement.model import Movement
from terminals.movement.plan import fold as fold_plan
from terminals.movement.state import Plan
from terminals.scoring.lines import Contestant, PenaltyUnit, SessionAdjustment
from terminals.scoring.profile import PLAIN, Profile
from terminals.scoring.profile_file import load_profile, profile_from_json
from terminals.scoring.scheme import Scheme, scheme_from_dict
from terminals.store import desk as desk_store
from terminals.store.desk import DeskEvent
from terminals.sync import ruling_log
from terminals.sync.ruling_log import Kept
from terminals.sync.setup import EventSetup, movement_from_dict

SCORING, PROFILE, SETTINGS, PENALTY, PENALTY_UNDONE, PLANNED, HAPPENING = (
    "scoring", "profile", "settings", "penalty", "penalty-undone", "planned", "happening",
)  # fmt: skip
KINDS = (SCORING, PROFILE, SETTINGS, PENALTY, PENALTY_UNDONE, PLANNED, HAPPENING, *ruling_log.KINDS)


@dataclass(frozen=True, slots=True)
class Conditions:
    """penalties: those outside the log of rulings. kept: the log of rulings, folded. plans: of the sections in which
    something happened to the plan."""

    profile: Profile = PLAIN
    scheme: Scheme = field(default_factory=Scheme)
    kept: Mapping[int, Kept] = field(default_factory=dict)
    penalties: Sequence[SessionAdjustment] = ()
    plans: Mapping[str, Plan] = field(default_factory=dict)

    @property
    def adjustments(self) -> list[SessionAdjustment]:
        """Everything that touches a total and no board (Laws 90, 91)."""
        return [*self.penalties, *ruling_log.adjustments(self.kept)]


@dataclass(slots=True)
class Decided:
    """What the desk's events say about the scoring.

    before: how it was scored until the last change. stored: the profile as it is kept with the event, None before it
    was. penalties: by number. happenings: (number, data), in order.
    """

    scheme: Scheme = field(default_factory=Scheme)
    before: Scheme | None = None
    stored: Profile | None = None
    penalties: dict[int, dict[str, Any]] = field(default_factory=dict)
    planned: dict[str, Any] = field(default_factory=dict)
    happenings: list[tuple[int, Mapping[str, Any]]] = field(default_factory=list)
    rulings: list[DeskEvent] = field(default_factory=list)
    _kept: dict[int, Kept] | None = None
    _plans: tuple[EventSetup, int, dict[str, Plan]] | None = None
    _conditions: tuple[EventSetup, Conditions] | None = None

    def take(self, item: DeskEvent) -> bool:
        """One more event; True when it says something about the scoring."""
        data = item.data
        if item.kind == SCORING:
            self.before, self.scheme = self.scheme, scheme_from_dict(data)
        elif item.kind == PROFILE:
            self.stored = profile_from_json(str(data["profile"]))
        elif item.kind == SETTINGS:
            if "profile" in data.get("names", ()):
                self.stored = None
        elif item.kind == PENALTY:
            self.penalties[item.number] = {**data, "number": item.number, "actor": item.actor}
        elif item.kind == PENALTY_UNDONE:
            self.penalties.pop(int(data["penalty"]), None)
        elif item.kind == PLANNED:
            self.planned.setdefault(str(data["section"]), data["movement"])
        elif item.kind == HAPPENING:
            self.happenings.append((item.number, data))
        elif item.kind in ruling_log.KINDS:
            self.rulings.append(item)
            self._kept = None
        else:
            return False
        self._conditions = None
        return True

    @property
    def kept(self) -> dict[int, Kept]:
        """The rulings as they stand, by number."""
        if self._kept is None:
            self._kept = ruling_log.fold(self.rulings)
        return self._kept

    def profile(self, setup: EventSetup) -> Profile:
        """The event's profile: as it was stored with the event, else as it is known by its name now."""
        if self.stored is not None:
            return self.stored
        try:
            return load_profile(setup.settings.profile)
        except FirmwareBridgeError:
            return PLAIN

    def plans(self, setup: EventSetup) -> dict[str, Plan]:
        """Plans of the sections in which something happened: boards taken out with a score, pairs without standing."""
        known = self._plans
        if known is None or known[0] is not setup or known[1] != len(self.happenings):
            found = {}
            for letter in {str(data["section"]) for _, data in self.happenings}:
                section = setup.section_called(letter)
                if section is not None and section.movement is not None:
                    found[letter] = self.plan_of(letter, section.movement)
            known = self._plans = (setup, len(self.happenings), found)
        return known[2]

    def plan_of(self, letter: str, movement: Movement) -> Plan:
        """A section's plan after everything that happened to it."""
        kept = self.planned.get(letter)
        planned = movement if kept is None else movement_from_dict(kept)
        return fold_plan(
            planned, [happenings.from_dict(d["event"]) for _, d in self.happenings if d["section"] == letter]
        )

    def conditions(self, setup: EventSetup) -> Conditions:
        """Everything together; the same object as long as nothing is decided and the event is not changed."""
        if self._conditions is None or self._conditions[0] is not setup:
            self._conditions = (setup, self._worked_out(setup))
        return self._conditions[1]

    def _worked_out(self, setup: EventSetup) -> Conditions:
        penalties = [
            SessionAdjustment(
                Contestant(str(one["section"]), int(one["pair"])),
                Fraction(str(one["amount"])),
                PenaltyUnit(str(one["unit"])),
                str(one["reason"]),
                str(one["law"]),
            )
            for one in self.penalties.values()
        ]
        return Conditions(self.profile(setup), self.scheme, self.kept, penalties, self.plans(setup))


def decided(connection: Connection, setup: EventSetup, *, plans: bool = True) -> Decided:
    """Folded from the store. plans: with what changed the plan; a single board can be scored without reading that."""
    found = Decided()
    event = desk_store.event_hex(setup.id)
    left_out = (PLANNED,) if plans else (PLANNED, HAPPENING)
    for item in desk_store.desk_events(connection, event, *(kind for kind in KINDS if kind not in left_out)):
        found.take(item)
    if found.happenings:  # whole movements, which are of no use as long as nothing happened to them
        for item in desk_store.desk_events(connection, event, PLANNED):
            found.take(item)
    return found
