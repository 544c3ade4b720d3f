"""The acts on rulings by name, as ``desk_actions`` lists them: from a body to an act, and to its preview.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from firmware_bridge.errors import EntryError
from firmware_bridge.service import desk_ruling_views as views
from firmware_bridge.service import desk_rulings as rulings
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_fouled import fouled_of
from firmware_bridge.service.desk_rulings import Work
from firmware_bridge.service.desk_values import Body, by_of, text_of, whole_of
from terminals.scoring.lines import Contestant
from terminals.sync.director import By

RULING_FIELDS: Mapping[str, str] = {
    "section?": "letter",
    "board?": "number, with ns and ew: the result that is ruled on",
    "ns?": "pair",
    "ew?": "pair",
    "play?": "instance, 1 if left out",
    "score?": "AVE+/AVE-, 55%, 60% +620, 40% -100 (from North-South's side), 4s n 10, not played",
    "score_ns?": "for North-South alone, with score_ew",
    "score_ew?": "for East-West alone, with score_ns",
    "result?": "a result as the store writes it",
    "stands?": "true: the result of the table stands, as the director's",
    "penalty?": "section, pair, amount (-1/4; left out: the standard one), unit",
    "award?": "section, pair, round (of a match its number), vps",
    "law?": "12C1(c)",
    "reason": "the facts in a few words",
    "actor": "who ruled",
    "second?": "second name, once final",
    "authority?": "director or committee",
    "edition?": "laws-2007",
    "replaces?": "number of the ruling whose place it takes",
    "outside_agency?": "nobody at the table was at fault",
    "propose?": "true: recorded, and confirmed later",
    "seen?": "changes of the result when looked at",
}
STEP_FIELDS: Mapping[str, str] = {
    "ruling": "its number",
    "actor": "who decides",
    "second?": "second name, once final",
    "reason?": "why",
}
APPEAL_FIELDS: Mapping[str, str] = {
    **STEP_FIELDS,
    "section": "letter",
    "pair": "who appeals",
    "agreed": "true: both players, or the captain, agree (Law 92D)",
}
FOULED_FIELDS: Mapping[str, str] = {
    "board": "number",
    "only?": "letter of one section",
    "changes?": "list of section, copy, from_round or from_play, form",
    "readings?": "list of section, copy, after_round or after_play, same or digest",
    "vulnerable?": "None, NS, EW or All, where the form was marked otherwise than its number says",
    "forms?": "list of section, ns, ew, play, form, in place of a proposal",
    **{key: RULING_FIELDS[key] for key in ("reason", "actor", "second?", "authority?", "replaces?", "propose?")},
}


def _seen(body: Body) -> int | None:
    return None if body.get("seen") is None else whole_of(body, "seen", 0, 10**9)


def _by(desk: Desk, body: Body) -> By:
    by = by_of(desk, body)
    return replace(by, note=text_of(body, "reason", 300, "") or by.note)


def work_of(desk: Desk, name: str, body: Body) -> Work:
    """What an act does, with everything in the body looked at. Raises EntryError."""
    if name == "ruling":
        kept, seen = rulings.kept_of(desk, body), _seen(body)
        return lambda acts: acts.make(kept, seen)
    if name == "fouled":
        fouled, _ = fouled_of(desk, body)
        return lambda acts: acts.make(fouled)
    number = rulings.number_of(body)
    if name == "ruling-confirm":
        seen = _seen(body)
        return lambda acts: acts.confirm(number, seen)
    if name == "ruling-withdraw":
        return lambda acts: acts.withdraw(number)
    if name == "ruling-uphold":
        return lambda acts: acts.uphold(number)
    minutes = views.minutes_since(desk)
    by = Contestant(text_of(body, "section", 3, "A").upper(), whole_of(body, "pair", 1, 4095))
    agreed = body.get("agreed")
    if not isinstance(agreed, bool):
        raise EntryError("agreed is true or false (Law 92D).", where="agreed", code="bad-value")
    return lambda acts: acts.appeal(number, by, agreed, minutes)


def run(name: str) -> Any:
    """The act of this name, as an operation of the desk."""

    async def act(desk: Desk, body: Body) -> dict[str, Any]:
        return await rulings.act(desk, _by(desk, body), work_of(desk, name, body))

    return act


def look(name: str) -> Any:
    """Its preview."""

    async def preview(desk: Desk, body: Body) -> dict[str, Any]:
        shown = {} if name != "fouled" else fouled_of(desk, body)[1]
        return {**await rulings.shown(desk, _by(desk, body), work_of(desk, name, body)), **shown}

    return preview


async def undo(desk: Desk, body: Body) -> dict[str, Any] | None:
    """Take an act on rulings back; None when this action is none of those."""
    action, by = text_of(body, "action", 32), _by(desk, body)
    if await rulings.rehearse(desk, by, lambda acts: acts.undo(action)) is None:
        return None
    return await rulings.act(desk, by, lambda acts: acts.undo(action))


async def penalty(desk: Desk, body: Body) -> dict[str, Any]:
    """A penalty or bonus in one line (Laws 90, 91): a ruling like any other; ``undo`` takes one back by its number."""
    if "undo" in body:
        number = whole_of(body, "undo", 1, 10**12)
        if number in desk.facts.penalties:
            rulings.two_names(desk, by_of(desk, body))
            await desk.log("penalty-undone", by_of(desk, body).actor, penalty=number)
        else:
            await rulings.act(desk, _by(desk, body), lambda acts: acts.withdraw(number))
        return {"penalties": views.penalties_view(desk)}
    asked = {key: body[key] for key in ("section", "pair", "amount", "unit") if key in body}
    ruling = {key: value for key, value in body.items() if key in ("actor", "second", "note", "reason", "law")}
    done = await run("ruling")(desk, {**ruling, "penalty": asked})
    return {**done, "penalties": views.penalties_view(desk)}
