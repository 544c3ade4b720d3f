"""Beginning an evening at the desk, and what changes its plan in mid-session: late pair, curtailment, withdrawal.

The plan is folded from the movement as announced and the happenings that the desk has kept, so that undoing one is
leaving it out. Each is previewed before it counts, with the proof that nobody replays a board.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from firmware_bridge.errors import EntryError, ExitStatus
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_values import Body, text_of, whole_of
from firmware_bridge.service.desk_view import place_of
from terminals.movement import happenings as h
from terminals.movement.catalog import build
from terminals.movement.evening import EveningSetup, leaving_checklist, same_again
from terminals.movement.model import Movement
from terminals.movement.plan import fold
from terminals.movement.preview import preview
from terminals.movement.propose import Question, propose
from terminals.movement.sections import Section as EveningSection
from terminals.movement.sections import Sections
from terminals.movement.state import Plan, Played
from terminals.result import NotPlayed
from terminals.scoring.boards import Method
from terminals.scoring.profile_file import load_profile
from terminals.settings import DEFAULT
from terminals.store import desk as desk_store
from terminals.sync.setup import (
    EventSetup,
    movement_from_dict,
    movement_to_dict,
    new_event,
    section_number,
    setup_from_json,
)


def proposals(body: Body) -> list[dict[str, Any]]:
    """Three movements for so many pairs and minutes. Raises EntryError when none fits."""
    question = Question(
        pairs=whole_of(body, "pairs", 3, 400),
        minutes=whole_of(body, "minutes", 10, 1440),
        minutes_per_board=whole_of(body, "minutes_per_board", 1, 60, 7),
        boards=whole_of(body, "boards", 0, 999, 0),
        copies=whole_of(body, "copies", 1, 20, 4),
        winners=whole_of(body, "winners", 0, 2, 0),
    )
    return [one.as_dict() for one in propose(question)]


async def start(desk: Desk, body: Body) -> dict[str, Any]:
    """Begin an event: ``spec`` of a movement, or ``again`` true for the one before. The old event stays in the store.

    Raises EntryError when an event is under way and ``instead`` is not set.
    """
    if desk.has_event and desk.rows and not desk.period.final and not body.get("instead"):
        raise EntryError(
            "an event is under way.",
            where=desk.setup.name,
            next_step="End it first, or say that the new one takes its place; its results are kept.",
            code="event-under-way",
        )
    name = text_of(body, "name", 80, "") or "Evening"
    given = body.get("settings", {})
    if not isinstance(given, Mapping):
        raise EntryError("settings are names with values.", code="bad-value")
    method = Method(_word(body, "method", [one.value for one in Method], "matchpoints"))
    if body.get("again"):
        old = previous(desk)
        if old is None:
            raise EntryError("there is no event before this one.", code="no-event")
        again = same_again(_evening(desk, old), name, {})
        movements: dict[int, Movement | None] = {
            section_number(one.letter): one.movement for one in again.setup.sections.sections
        }
        settings = again.setup.settings.changed(given)
    else:
        movement = build(text_of(body, "spec", 200))
        movements = dict.fromkeys(range(1, whole_of(body, "sections", 1, 26, 1) + 1), movement)
        settings = DEFAULT.changed({"admit_all": True, **given})
    if "profile" in given:
        load_profile(settings.profile)
    setup = new_event(secrets.randbits(63) | 1, name, movements, settings)
    await desk.change_setup(setup)
    for section in setup.sections:
        if section.movement is not None:
            await desk.log("planned", section=section.letter, movement=movement_to_dict(section.movement))
    if method is not Method.MATCHPOINTS:
        await desk.log("scoring", method=method.value)
    return {"event": f"{setup.id:016x}", "tables": sum(m.tables for m in movements.values() if m is not None)}


def previous(desk: Desk) -> EventSetup | None:
    """The event to take as a pattern: the running one, or else the newest one in the store."""
    if desk.has_event:
        return desk.setup
    for ident, _, _ in reversed(desk.store.read(desk_store.event_list)):
        row = desk.store.read(lambda c, ident=ident: desk_store.load_event(c, ident))  # type: ignore[misc]
        if row is not None:
            return setup_from_json(row.id, row.name, row.plan_version, row.setup)
    return None


def _evening(desk: Desk, setup: EventSetup) -> EveningSetup:
    sections = []
    event = desk_store.event_hex(setup.id)
    for section in setup.sections:
        if section.movement is None:
            continue
        planned = desk.store.read(lambda c: desk_store.desk_events(c, event, "planned"))
        kept = [item.data["movement"] for item in planned if item.data["section"] == section.letter]
        movement = movement_from_dict(kept[0]) if kept else section.movement
        sections.append(EveningSection(section.letter, movement))
    return EveningSetup(setup.name, Sections(tuple(sections)), setup.settings)


def _word(body: Body, name: str, known: list[str], default: str) -> str:
    value = text_of(body, name, 40, default)
    if value not in known:
        raise EntryError(f"{name} is one of {', '.join(known)}.", code="bad-value", exit_status=ExitStatus.USAGE)
    return value


# --- the plan in mid-session -------------------------------------------------------------------------------------


def played_of(desk: Desk, section: str) -> list[Played]:
    return [
        Played(*place_of(desk, row), row.play.ns, row.play.ew, row.play.board)
        for row in desk.rows.values()
        if row.play.section == section and row.content is not None and not isinstance(row.content, NotPlayed)
    ]


def plan_of(desk: Desk, letter: str) -> tuple[Plan, list[h.Happening]]:
    """A section's plan after everything that the desk has kept. Raises EntryError without a movement."""
    section = desk.setup.section_called(letter)
    if section is None or section.movement is None:
        raise EntryError("the event has no such section, or no movement yet.", where=letter[:8], code="no-movement")
    kept = desk.facts.planned.get(section.letter)
    planned = section.movement if kept is None else movement_from_dict(kept)
    events = [h.from_dict(d["event"]) for _, d in desk.facts.happenings if d["section"] == section.letter]
    return fold(planned, events), events


async def happen(desk: Desk, body: Body, *, only_preview: bool) -> dict[str, Any]:
    """Preview or apply a happening: ``section`` and ``event`` with its kind. Raises EntryError when it can't be."""
    letter = text_of(body, "section", 1, "A").upper()
    given = body.get("event")
    if not isinstance(given, Mapping):
        raise EntryError("event is wanted: a kind and its values.", code="bad-value")
    event = h.from_dict(given)
    plan, events = plan_of(desk, letter)
    played = played_of(desk, letter)
    if isinstance(event, h.Undone):
        after = fold(plan.planned, [*events, event])
        shown: dict[str, Any] = {"changes": [], "ok": True, "problems": []}
        wanted = after.actual
    else:
        seen = preview(plan, event, played)
        wanted = seen.after.actual
        shown = {
            "ok": seen.ok,
            "changes": list(seen.changes),
            "problems": [f"Pair {one.pair} would play board {one.board} twice." for one in seen.replays],
            "shares": [f"Round {s.round}: tables {', '.join(map(str, s.tables))} share." for s in seen.new_shares],
            "results_before": seen.results_before,
            "results_after": seen.results_after,
        }
        if not seen.ok and not only_preview:
            raise EntryError(
                "this can't be: " + " ".join(shown["problems"][:3] or ["the plan would have an error."]),
                next_step="Look at the preview and choose another way.",
                code="plan-refused",
            )
    if only_preview:
        return shown
    section = desk.setup.section_called(letter)
    assert section is not None
    if letter not in desk.facts.planned:
        await desk.log("planned", section=letter, movement=movement_to_dict(plan.planned))
    actor = text_of(body, "actor", 40, "")
    await desk.change_setup(desk.setup.with_movement(section.number, wanted))
    await desk.log("happening", actor, section=letter, event=h.to_dict(event))
    return {**shown, "position": len(events)}


def checklist(desk: Desk) -> list[dict[str, Any]]:
    """What is left to do before the director goes home."""
    plans, played, players = {}, {}, {}
    for section in desk.setup.sections:
        if section.movement is None:
            continue
        plans[section.letter], _ = plan_of(desk, section.letter)
        played[section.letter] = [
            Played(*place_of(desk, row), row.play.ns, row.play.ew, row.play.board)
            for row in desk.rows.values()
            if row.play.section == section.letter and row.content is not None
        ]
        counts: dict[int, int] = {}
        for (letter, pair, _), person in desk.people.items():
            if letter == section.letter and (person.number or person.name):
                counts[pair] = counts.get(pair, 0) + 1
        players[section.letter] = counts
    waiting = sum(one.status.waiting for one in desk.service.collector.terminals if one.status is not None)
    items = leaving_checklist(
        plans,
        played,
        players=players,
        waiting_records=waiting,
        open_calls=len(desk.facts.calls),
        exports={"results as JSON": "json" in desk.facts.exports, "publication": desk.period.published_at is not None},
        backup="backup" in desk.facts.exports,
    )
    return [{"key": one.key, "done": one.done, "words": one.words, "details": list(one.details)} for one in items]
