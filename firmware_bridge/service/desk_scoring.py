"""How the running event is scored, decided at the desk: method, scale of victory points, profile, fields, carry-over;
all of it changeable after play, with a preview. And the matches of teams, and guests who turn out to be members.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from firmware_bridge.errors import EntryError
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_lock import lock_of
from firmware_bridge.service.desk_rulings import effects, two_names
from firmware_bridge.service.desk_stream import encode
from firmware_bridge.service.desk_values import Body, by_of, text_of, whole_of
from terminals.scoring.profile import Profile
from terminals.scoring.profile_file import load_profile, parse_toml, profile_from_dict, profile_to_json
from terminals.scoring.rounding import decimal_text
from terminals.scoring.scheme import METHODS, SCALES, Scheme, scheme_as_dict
from terminals.sync.conditions import PROFILE, SCORING, Conditions
from terminals.sync.event_score import EventScore, check_scale, score_event
from terminals.sync.guests import merge_people
from terminals.sync.matches import TeamMatch
from terminals.sync.setup import EventSetup

FIELDS: Mapping[str, str] = {
    "method?": ", ".join(METHODS),
    "scale?": f"victory points: {', '.join(SCALES)}",
    "table?": "name and rows [from, to or null, winner, loser], for the scale table",
    "knockout?": "a board with unequal scores counts the mean (Law 12C4)",
    "carried?": "contestant -> what it brings along, A7 -> 12.5",
    "profile?": "name of a scoring profile, or the text of one (TOML)",
    "across?": "all sections are one field",
    "back?": "true: method, scale, knockout and carry-over as they were before the last change",
    "actor?": "who decides",
    "second?": "second name, once final",
}
_SCHEME = ("method", "scale", "table", "knockout", "carried")


def _wanted(desk: Desk, body: Body) -> tuple[EventSetup, Conditions, Profile | None]:
    """The event, its conditions and a new profile as a body asks for them. Raises EntryError."""
    given = {key: body[key] for key in _SCHEME if key in body}
    setup, conditions, profile = desk.setup, desk.conditions, None
    if body.get("back"):
        before = desk.facts.decided.before
        if given or before is None:
            raise EntryError("There is nothing to go back to.", where="back", code="nothing-to-undo")
        conditions = replace(conditions, scheme=before)
    elif not given and "profile" not in body and "across" not in body:
        raise EntryError("Say what is to change.", where="method", code="bad-value")
    if "carried" in given and not isinstance(given["carried"], Mapping):
        raise EntryError("carried is contestants with numbers, such as A7 with 12.5.", code="bad-value")
    if given:
        if "table" in given:
            given["scale"] = "table"
        scheme = conditions.scheme.changed(given)
        _check_carried(setup, scheme)
        conditions = replace(conditions, scheme=scheme)
    if "profile" in body:
        profile = profile_of(text_of(body, "profile", 60_000))
        conditions = replace(conditions, profile=profile)
    if "across" in body:
        if not isinstance(body["across"], bool):
            raise EntryError("across is true or false.", code="bad-value")
        setup = replace(setup, settings=setup.settings.changed({"across": body["across"]}))
    check_scale(setup, conditions.scheme)
    return setup, conditions, profile


def profile_of(text: str) -> Profile:
    """A shipped profile by its name, or one written out. Never a file of this machine. Raises EntryError."""
    if "\n" in text or "=" in text:
        return profile_from_dict(parse_toml(text, "profile"), "profile")
    if "/" in text or "\\" in text or text.endswith(".toml"):
        raise EntryError(
            "A profile is its name, or its whole text.", next_step="Send the text of the file.", code="bad-profile"
        )
    return load_profile(text)


def _check_carried(setup: EventSetup, scheme: Scheme) -> None:
    for one in scheme.carried:
        section = setup.section_called(one.section)
        if section is None or section.movement is None or one.number not in section.movement.contestants:
            raise EntryError("the event has no such contestant.", where=str(one), code="no-such-pair")


def _scored(desk: Desk, body: Body) -> tuple[EventSetup, Conditions, Profile | None, EventScore]:
    setup, conditions, profile = _wanted(desk, body)
    return setup, conditions, profile, score_event(setup, desk.rows.values(), conditions)


async def preview(desk: Desk, body: Body) -> dict[str, Any]:
    """What another way of scoring would make of the results. Nothing is stored."""
    setup, conditions, _, score = _scored(desk, body)
    return {**effects(desk, desk.score(), score), "scoring": scoring_view(setup, conditions)}


async def change(desk: Desk, body: Body) -> dict[str, Any]:
    """Score the event in another way from now on; no result is touched, and the old way can be set again."""
    async with lock_of(desk):  # a change of plan at the same moment is not written over
        return await _change(desk, body)


async def _change(desk: Desk, body: Body) -> dict[str, Any]:
    setup, conditions, profile, _ = _scored(desk, body)
    by = by_of(desk, body)
    two_names(desk, by)
    if conditions.scheme != desk.conditions.scheme:
        await desk.log(SCORING, by.actor, **scheme_as_dict(conditions.scheme))
    if setup is not desk.setup:
        await desk.change_setup(setup)
        await desk.log("settings", by.actor, names=["across"])
    if profile is not None:
        await desk.log(PROFILE, by.actor, profile=profile_to_json(profile))
    return {"scoring": scoring_view(desk.setup, desk.conditions)}


async def remember(desk: Desk) -> None:
    """Store the scoring profile with the event, so that it is scored alike whatever the profile is like later."""
    if desk.facts.decided.stored is None:
        await desk.log(PROFILE, profile=profile_to_json(desk.profile))


def scoring_view(setup: EventSetup, conditions: Conditions) -> dict[str, Any]:
    """How an event is scored."""
    profile = conditions.profile
    return {
        **scheme_as_dict(conditions.scheme),
        "method": conditions.scheme.word or "usual",
        "profile": {"name": profile.name, "version": profile.version, "title": profile.title},
        "across": setup.settings.across,
        "methods": list(METHODS),
        "scales": [one for one in SCALES if one != "table"],
    }


# --- matches of teams --------------------------------------------------------------------------------------------


def matches_view(desk: Desk) -> list[dict[str, Any]]:
    """Every match: teams, boards compared so far, IMPs or points, victory points; the boards one by one."""
    return [_match(desk, one) for one in desk.score().matches]


def _match(desk: Desk, one: TeamMatch) -> dict[str, Any]:
    score = one.score
    boards = [
        {"board": board.board, "home": _number(board.home), "away": _number(board.away), "artificial": board.artificial}
        for board in one.boards
        if (one.section, board.board) not in desk.veil.boards
    ]
    return {
        "section": one.section,
        "match": one.number,
        "rounds": list(one.rounds),
        "home": one.home.number,
        "away": one.away.number,
        "home_names": desk.contestant_names(one.section, one.home.number),
        "away_names": desk.contestant_names(one.section, one.away.number),
        "length": one.length,
        "compared": len(one.boards),
        "complete": one.complete,
        "home_score": None if score is None else _number(score.home),
        "away_score": None if score is None else _number(score.away),
        "home_vp": None if score is None or score.home_vp is None else _number(score.home_vp),
        "away_vp": None if score is None or score.away_vp is None else _number(score.away_vp),
        "boards": boards,
    }


def _number(value: Any) -> str:
    return decimal_text(value, 0 if value.denominator == 1 else 2)


# --- guests ------------------------------------------------------------------------------------------------------


async def merge(desk: Desk, body: Body) -> dict[str, Any]:
    """A guest turns out to be a member of the club's list: wherever the guest ever sat, the member sat.

    Results belong to contestants and do not change. Raises EntryError when there is no such guest or member, or when
    both sat in one event.
    """
    guest, number = text_of(body, "guest", 80), whole_of(body, "member", 1, 99_999_999)
    found = await desk.submit(lambda connection: merge_people(connection, guest, number))
    for event, one in found:
        if event == desk.event:
            desk.people[one.section, one.pair, one.seat] = one
    desk.stream.publish(encode("people", {}))
    # Names are kept outside the record of events, so that a person can be erased: it says where, not who.
    here = [[one.section, one.pair, one.seat] for event, one in found if event == desk.event]
    await desk.log("guest-merged", by_of(desk, body).actor, places=here)
    return {"places": len(found), "name": found[0][1].name, "number": number}
