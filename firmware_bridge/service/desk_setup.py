"""Beginning an event at the desk, now or like an earlier one; giving a section its movement later; going home.

An event may begin before its set-up is complete: a section without a movement takes results, which are held, and are
compared with the movement once it is there.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Mapping
from typing import Any

from firmware_bridge.config import load_config
from firmware_bridge.errors import EntryError
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_again import (
    SCORING,
    evening,
    own_profile,
    previous,
    scheme_of,
    with_own_settings,
)
from firmware_bridge.service.desk_lock import lock_of
from firmware_bridge.service.desk_plan import apply_all, event_of, keep, kept_of, letter_of, plan_of, seen_version
from firmware_bridge.service.desk_plan import played_of as played_of_plan
from firmware_bridge.service.desk_sections import SECTION_FIELDS, movement_from, section_view, sections_from
from firmware_bridge.service.desk_values import Body, text_of
from firmware_bridge.service.desk_view import place_of
from terminals.movement import happenings as h
from terminals.movement.evening import Held, bind, leaving_checklist, same_again
from terminals.movement.model import Movement
from terminals.movement.sections import Field, Sections
from terminals.movement.sections import Section as EveningSection
from terminals.movement.state import Played
from terminals.scoring.profile_file import load_profile, profile_to_json
from terminals.scoring.scheme import Scheme, scheme_as_dict
from terminals.settings import DEFAULT, EventSettings
from terminals.store.desk import Person
from terminals.sync.event_score import check_scale
from terminals.sync.setup import (
    EventSetup,
    movement_to_dict,
    new_event,
    section_letter,
    section_number,
)

MAX_PEOPLE = 2000
TEAM = "0"
"""The seat of a team's own name, beside those of its players."""


async def start(desk: Desk, body: Body) -> dict[str, Any]:
    """Begin an event; the old one stays in the store.

    ``sections``: a list, see SECTION_FIELDS; or ``spec`` of a movement and the number of sections; or ``again``: true
    for the event before, the id of an older one. ``settings``, and how it is scored: ``method``, ``scale``,
    ``knockout``. Raises EntryError when an event is under way and ``instead`` is not set.
    """
    _none_under_way(desk, body)
    name = text_of(body, "name", 80, "") or "Evening"
    given = body.get("settings", {})
    if not isinstance(given, Mapping):
        raise EntryError("settings are names with values.", code="bad-value")
    scheme, asked, profile = Scheme(), [], None
    club = load_config(desk.directory).director_pin
    common = {"director_pin": club} if club else {}
    movements, old = await planned(desk, body)
    if old is not None:
        again = same_again(evening(desk, old), name, {})
        settings = again.setup.settings.changed({**common, **given})
        scheme = scheme_of(desk, old.id)
        profile = None if "profile" in given else own_profile(desk, old)
        asked = [one for one in again.ask if not (club and one == "the director's PIN")]
    else:
        settings = DEFAULT.changed({"admit_all": True, **common, **given})
    check_profile(settings)
    scheme = scheme.changed({key: body[key] for key in SCORING if key in body})
    setup = new_event(secrets.randbits(63) | 1, name, movements, settings)
    if old is not None:
        setup = with_own_settings(setup, old, given)
    check_scale(setup, scheme)
    async with lock_of(desk):
        _none_under_way(desk, body)  # its first result may have come while the movements were looked for
        await desk.change_setup(setup)
        for section in setup.sections:
            if section.movement is not None:
                await desk.log("planned", section=section.letter, movement=movement_to_dict(section.movement))
        if scheme != Scheme():
            await desk.log("scoring", **_without_carry(scheme))
        if profile is not None:
            await desk.log("profile", profile=profile_to_json(profile))
    return {
        "event": f"{setup.id:016x}",
        "tables": sum(m.tables for m in movements.values() if m is not None),
        "sections": [section_view(one.letter, one.movement) for one in setup.sections],
        "copies": copies_to_deal(setup),
        "ask": asked,
        "warnings": warnings(setup),
    }


async def planned(desk: Desk, body: Body) -> tuple[dict[int, Movement | None], EventSetup | None]:
    """Section number -> movement, None where it is not set yet; and the earlier event that they are taken from.

    Raises EntryError.
    """
    if not body.get("again"):
        # some movements take seconds to be found and checked
        return await asyncio.to_thread(sections_from, body), None
    old = previous(desk, body["again"])
    if old is None:
        raise EntryError("there is no event before this one.", code="no-event")
    return {section_number(one.letter): one.movement for one in evening(desk, old).sections.sections}, old


async def check(desk: Desk, body: Body) -> list[dict[str, Any]]:
    """What each section would play; nothing is begun. Raises EntryError as ``start`` does."""
    movements, _ = await planned(desk, body)
    return [section_view(section_letter(number), movement) for number, movement in movements.items()]


def _none_under_way(desk: Desk, body: Body) -> None:
    if desk.has_event and desk.rows and not desk.period.final and not body.get("instead"):
        raise EntryError(
            "an event is under way.",
            where=desk.setup.name,
            next_step="End it first, or say that the new one takes its place; its results are kept.",
            code="event-under-way",
        )


def _without_carry(scheme: Scheme) -> dict[str, Any]:
    """What another evening has in common with this one: not what was carried into it."""
    return {key: value for key, value in scheme_as_dict(scheme).items() if key != "carried"}


def check_profile(settings: EventSettings) -> None:
    """Raises EntryError when the settings name a scoring profile that there is not, or the path of a file."""
    if not re.fullmatch(r"[\w-]{1,40}", settings.profile):
        raise EntryError(
            "a scoring profile is named by its word, such as wbf or ebu.", where="profile", code="bad-setting"
        )
    load_profile(settings.profile)


def copies_to_deal(setup: EventSetup) -> dict[str, int]:
    """Board number -> copies that the dealer must make, for all sections together."""
    total: dict[int, int] = {}
    for section in setup.sections:
        for board, copies in ({} if section.movement is None else section.movement.copies_to_deal()).items():
            total[board] = total.get(board, 0) + copies
    return {str(board): copies for board, copies in sorted(total.items())}


def warnings(setup: EventSetup) -> list[str]:
    """What the director should know about his sections: not fit to be one field, or without a movement yet."""
    planned = tuple(EveningSection(s.letter, s.movement) for s in setup.sections if s.movement is not None)
    out = [f"Section {s.letter} has no movement yet." for s in setup.sections if s.movement is None]
    if planned and setup.settings.across:
        out += Sections(planned, Field.ACROSS).warnings()
    return out


# --- a section's movement, later -----------------------------------------------------------------------------------


async def set_movement(desk: Desk, body: Body, *, only_preview: bool) -> dict[str, Any]:
    """Give a section its movement, or another one: ``section``, and ``movement``, ``file`` or ``pairs``, ``boards``.

    Results that came before are bound to it; those that do not fit are named, and stay. A change of movement is a
    happening and can be undone. Raises EntryError.
    """
    if not desk.has_event:
        raise EntryError("no event is set up yet.", code="no-event")
    letter = letter_of(body)
    known = {name.removesuffix("?") for name in SECTION_FIELDS} - {"name"}
    movement = await asyncio.to_thread(movement_from, {name: body[name] for name in known if name in body})
    if movement is None:
        raise EntryError("a movement is wanted: its name, a file, or how many pairs.", code="bad-value")
    number = section_number(letter)
    section, actor = desk.setup.section_called(letter), text_of(body, "actor", 40, "")
    if section is not None:
        check_scale(desk.setup.with_movement(number, movement), desk.conditions.scheme)
    shown = section_view(letter, movement) | {"held": 0, "unbound": []}
    if section is not None and section.movement is not None:
        replanned = h.Replanned(movement_to_dict(movement))
        anyway = bool(body.get("anyway"))
        seen = seen_version(body)
        done = await apply_all(
            desk, letter, [replanned], only_preview=only_preview, actor=actor, anyway=anyway, seen=seen
        )
        return {**shown, **done}
    async with lock_of(desk):
        held = [
            Held(place_of(desk, row)[1], row.play.board, row.round, row.play.ns, row.play.ew)
            for row in desk.rows.values()
            if row.play.section == letter and row.content is not None
        ]
        bound = bind(movement, held)
        shown |= {"held": len(held), "unbound": [one.problem for one in bound if one.problem][:50]}
        if not only_preview:
            planned = event_of(desk, "planned", actor, section=letter, movement=movement_to_dict(movement))
            await keep(desk, desk.setup.with_movement(number, movement), [planned])
    return {**shown, "ok": True}


# --- who plays -----------------------------------------------------------------------------------------------------


async def set_people(desk: Desk, body: Body) -> dict[str, Any]:
    """Names of a section: ``people``, a list of {pair or team, name, players: [{name, number}]}.

    In a team event ``name`` is the team's own; its first two players are the home pair, the next two the away pair,
    two more are its reserves. Raises EntryError for a stranger.
    """
    letter = letter_of(body)
    kept = kept_of(desk, letter)
    movement, given = kept.plan.shown(), body.get("people")
    if not isinstance(given, list) or len(given) > MAX_PEOPLE:
        raise EntryError(f"people is a list of at most {MAX_PEOPLE} pairs or teams.", code="bad-value")
    teams = {team.number: team.pairs for team in movement.teams}
    found: list[Person] = []
    for at, one in enumerate(given, start=1):
        where = f"people {at}"
        if not isinstance(one, Mapping):
            raise EntryError("a pair or team has a number and players.", where=where, code="bad-value")
        number, players = one.get("team" if teams else "pair"), one.get("players", [])
        known = teams if teams else movement.pairs
        if isinstance(number, bool) or not isinstance(number, int) or number not in known:
            raise EntryError("there is no such pair or team in this section.", where=where, code="no-such-pair")
        pairs = teams.get(number, (number,))
        most = 6 if teams else 2
        if not isinstance(players, list) or len(players) > most:
            raise EntryError(f"players is a list of at most {most}.", where=where, code="bad-value")
        if teams and one.get("name"):
            found.append(Person(letter, pairs[0], TEAM, "", text_of(one, "name", 80)))
        for seat, player in enumerate(players):
            if not isinstance(player, Mapping):
                raise EntryError("a player has a name and a number.", where=where, code="bad-value")
            name, own = text_of(player, "name", 80, ""), text_of(player, "number", 12, "")
            pair = pairs[seat // 2] if seat < 2 * len(pairs) else pairs[0]
            found.append(Person(letter, pair, str(seat % 2 + 1 if seat < 2 * len(pairs) else seat - 1), own, name))
    await desk.save_people(found)
    return {"stored": len(found)}


# --- going home ----------------------------------------------------------------------------------------------------


def checklist(desk: Desk) -> list[dict[str, Any]]:
    """What is left to do before the director goes home."""
    plans, played, players = {}, {}, {}
    for section in desk.setup.sections:
        if section.movement is None:
            continue
        plan, _ = plan_of(desk, section.letter)
        plans[section.letter] = plan
        # A board that was not played is settled: nobody has to ask for it any more.
        settled = [
            Played(*place_of(desk, row), row.play.ns, row.play.ew, row.play.board)
            for row in desk.rows.values()
            if row.play.section == section.letter and row.content is not None
        ]
        played[section.letter] = [*settled, *played_of_plan(desk, section.letter, plan)]
        counts: dict[int, int] = {}
        for (letter, pair, seat), person in desk.people.items():
            if letter == section.letter and seat in ("1", "2") and person.number:
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
