"""An earlier event as a pattern for a new one: "same as last Thursday", and the list to choose from.

Movements as they were announced, settings and scoring are taken over; never deals, results or the PIN.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from firmware_bridge.errors import EntryError, FirmwareBridgeError
from firmware_bridge.service.desk import Desk
from terminals.movement import happenings as h
from terminals.movement.evening import EveningSetup
from terminals.movement.plan import fold
from terminals.movement.sections import Section as EveningSection
from terminals.movement.sections import Sections
from terminals.scoring.profile import Profile
from terminals.scoring.profile_file import load_profile
from terminals.scoring.scheme import Scheme
from terminals.store import desk as desk_store
from terminals.sync.conditions import decided
from terminals.sync.setup import EventSetup, movement_from_dict, setup_from_json

SCORING = ("method", "scale", "table", "knockout")


def previous(desk: Desk, which: Any = True) -> EventSetup | None:
    """The event to take as a pattern: the running one, or else the newest in the store; or the one with this id.

    Raises EntryError for an id that is none.
    """
    if isinstance(which, str):
        if not re.fullmatch(r"[0-9a-f]{16}", which):
            raise EntryError("again is true, or the id of an event.", code="bad-value")
        return desk.store.load_setup(int(which, 16))
    if desk.has_event:
        return desk.setup
    for ident, _, _ in reversed(desk.store.read(desk_store.event_list)):
        row = desk.store.read(lambda c, ident=ident: desk_store.load_event(c, ident))  # type: ignore[misc]
        if row is not None:
            return setup_from_json(row.id, row.name, row.plan_version, row.setup)
    return None


def earlier_events(desk: Desk, limit: int = 30) -> list[dict[str, Any]]:
    """The newest events of the store, newest first: id, name, movements, pairs."""
    out = []
    for ident, _, active in reversed(desk.store.read(desk_store.event_list)[-limit:]):
        row = desk.store.read(lambda c, ident=ident: desk_store.load_event(c, ident))  # type: ignore[misc]
        if row is None:
            continue
        planned = [one.movement for one in _begun(desk, row.id, row.name, row.plan_version, row.setup)]
        out.append(
            {
                "event": f"{row.id:016x}",
                "name": row.name,
                "active": active,
                "movements": [movement.name for movement in planned],
                "contestants": sum(len(movement.contestants) for movement in planned),
            }
        )
    return out


def _begun(desk: Desk, ident: int, name: str, version: int, text: str) -> tuple[EveningSection, ...]:
    setup = setup_from_json(ident, name, version, text)
    return evening(desk, setup).sections.sections if any(s.movement for s in setup.sections) else ()


def scheme_of(desk: Desk, ident: int) -> Scheme:
    """How an event of the store is scored."""
    event, scheme = desk_store.event_hex(ident), Scheme()
    for item in desk.store.read(lambda c: desk_store.desk_events(c, event, "scoring")):
        scheme = scheme.changed({key: item.data[key] for key in SCORING if key in item.data})
    return scheme


def with_own_settings(setup: EventSetup, old: EventSetup, given: Mapping[str, Any]) -> EventSetup:
    """The new event with the settings in which sections of the old one differed, but for those that are ``given``."""
    sections = []
    for one in setup.sections:
        before = old.section(one.number)
        own = () if before is None else tuple(pair for pair in before.own if pair[0] not in given)
        sections.append(replace(one, own=own))
    return replace(setup, sections=tuple(sections))


def own_profile(desk: Desk, old: EventSetup) -> Profile | None:
    """The scoring profile that was stored with an event, where its name alone would not bring it back: one from a file,
    or a shipped one that the director changed. Of a shipped one that is newer now, the newer one counts.
    """
    stored = desk.store.read(lambda connection: decided(connection, old, plans=False)).stored
    if stored is None:
        return None
    try:
        shipped = load_profile(old.settings.profile)
    except FirmwareBridgeError:
        return stored
    newer = shipped.name == stored.name and shipped.version > stored.version
    return None if newer or shipped == stored else stored


def evening(desk: Desk, setup: EventSetup) -> EveningSetup:
    """An event as it was planned: with the movements that were announced, not with what became of them."""
    event = desk_store.event_hex(setup.id)
    stored = desk.store.read(lambda c: desk_store.desk_events(c, event, "planned", "happening"))
    sections = []
    for section in setup.sections:
        own = [item for item in stored if item.data["section"] == section.letter]
        planned = [item.data["movement"] for item in own if item.kind == "planned"]
        movement = movement_from_dict(planned[0]) if planned else section.movement
        if movement is None:
            continue
        events = [h.from_dict(item.data["event"]) for item in own if item.kind == "happening"]
        sections.append(EveningSection(section.letter, fold(movement, events).planned))
    if not sections:
        raise EntryError("that event has no movement to copy.", where=setup.name, code="no-movement")
    return EveningSetup(setup.name, Sections(tuple(sections)), setup.settings)
