"""Rulings at the desk: made, previewed, confirmed, appealed, withdrawn, taken back; for page, ``td`` and programs.

Every act is rehearsed first: it is done in a transaction that is rolled back, and the event is scored as it would be.
So a preview is exact, and an act after which the event could not be scored is refused before anything is stored.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from firmware_bridge.db import Connection
from firmware_bridge.errors import EntryError
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_ruling_views import ruling_view
from firmware_bridge.service.desk_values import Body, by_of, play_of, text_of, whole_of
from terminals.interop.rulings_file import ruled_result
from terminals.result import Artificial, Assigned, BoardState
from terminals.scoring.lines import Contestant, PenaltyUnit, SessionAdjustment
from terminals.scoring.ranking import RankRow
from terminals.scoring.rulings import (
    Authority,
    Award,
    Ruling,
    RulingState,
)
from terminals.scoring.scheme import amount
from terminals.store import results
from terminals.store.results import CurrentResult
from terminals.store.values import PlayKey
from terminals.sync import ruling_log
from terminals.sync.director import By
from terminals.sync.event_score import EventScore
from terminals.sync.ruling_acts import RulingAct, RulingActs
from terminals.sync.ruling_log import Kept
from terminals.sync.setup import section_number

Work = Callable[[RulingActs], RulingAct | None]


class _Rehearsed(Exception):
    """Ends a rehearsal: what it wrote is undone with the transaction."""

    def __init__(self, act: RulingAct, kept: Mapping[int, Kept], rows: list[CurrentResult]) -> None:
        super().__init__("rehearsed")
        self.act, self.kept, self.rows = act, kept, rows


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """An act that was tried: what it would do, and the event as it would be scored."""

    act: RulingAct
    score: EventScore


async def rehearse(desk: Desk, by: By, work: Work) -> Rehearsal | None:
    """Try an act; None when there is nothing to do. Raises EntryError as the act would, or as the scoring would."""
    setup, event, profile = desk.setup, desk.event, desk.profile

    def job(connection: Connection) -> None:
        acts = RulingActs(connection, setup, by, profile, final=desk.period.final)
        act = work(acts)
        if act is not None:
            rows = [row for play in act.plays for row in results.current(connection, event, play)]
            raise _Rehearsed(act, acts.kept(), rows)

    try:
        await desk.store.submit(job)
    except _Rehearsed as done:
        rows = {**desk.rows, **{row.play: row for row in done.rows}}
        score = desk.score_of(rows.values(), replace(desk.conditions, kept=done.kept))
        return Rehearsal(done.act, score)
    return None


async def act(desk: Desk, by: By, work: Work) -> dict[str, Any]:
    """Do an act. Raises EntryError when it can't be, and when the event could not be scored after it."""
    if await rehearse(desk, by, work) is None:
        raise EntryError("there is no such act.", code="no-such-act")
    setup, profile, final = desk.setup, desk.profile, desk.period.final
    done = await desk.submit(lambda connection: work(RulingActs(connection, setup, by, profile, final=final)))
    assert done is not None
    number = done.kept.number if done.kept is not None else None
    shown = desk.facts.decided.kept.get(number) if number is not None else None
    return {
        "action": done.action,
        "ruling": None if shown is None else ruling_view(desk, shown),
        "notes": list(done.notes),
    }


async def shown(desk: Desk, by: By, work: Work) -> dict[str, Any]:
    """What an act would do to every total. Nothing is stored."""
    tried = await rehearse(desk, by, work)
    if tried is None:
        raise EntryError("there is no such act.", code="no-such-act")
    kept = tried.act.kept
    return {
        **effects(desk, desk.score(), tried.score),
        "notes": list(tried.act.notes),
        "ruling": None if kept is None else ruling_view(desk, kept),
    }


# --- the effect on every total -----------------------------------------------------------------------------------


def effects(desk: Desk, before: EventScore, after: EventScore) -> dict[str, Any]:
    """``effects``: every contestant with place and value, before and after, best first as it would be afterwards;
    ``changes``: those whose place or value changes."""
    old, new = _flat(before), _flat(after)
    found = []
    for who in [*new, *(one for one in old if one not in new)]:
        one: dict[str, Any] = {"section": who.section, "pair": who.number, "direction": who.direction}
        one["names"] = desk.contestant_names(who.section, who.number)
        one["before"], one["after"] = _shown(old.get(who)), _shown(new.get(who))
        same = old.get(who) is not None and new.get(who) is not None and old[who][1] == new[who][1]
        one["changed"] = not same or one["before"] != one["after"] or old[who][0].value != new[who][0].value
        found.append(one)
    return {"effects": found, "changes": [one for one in found if one["changed"]]}


def _flat(score: EventScore) -> dict[Contestant, tuple[RankRow, str]]:
    return {row.contestant: (row, unit) for rows, unit in zip(score.rankings, score.units, strict=True) for row in rows}


def _shown(one: tuple[RankRow, str] | None) -> dict[str, str] | None:
    return None if one is None else {"place": one[0].place_text, "value": one[0].value_text, "unit": one[1]}


# --- from a body to a ruling -------------------------------------------------------------------------------------


def kept_of(desk: Desk, body: Body) -> Kept:
    """The ruling that a body asks for. Raises EntryError naming what is missing or can't be."""
    by = by_of(desk, body)
    play = play_of(body) if "board" in body else None
    if play is not None and desk.veil.hides(play):
        raise EntryError(
            "you have yet to play this board.",
            where=f"board {play.board}",
            next_step="Reveal it first if you must; that is on record.",
            code="veiled",
        )
    result = _result(body)
    stands = bool(body.get("stands"))
    if stands and result is not None:
        raise EntryError("The result of the table stands, or another one takes its place.", code="contradictory-ruling")
    reason = text_of(body, "reason", 300, "") or by.note
    law = text_of(body, "law", 20, "") or _usual_law(result, stands, "penalty" in body)
    penalty = award = None
    if "penalty" in body:
        penalty = _penalty(desk, _table(body, "penalty"), reason, law)
    if "award" in body:
        asked = _table(body, "award")
        vps = amount(asked.get("vps"))
        award = Award(_contestant(asked), whole_of(asked, "round", 1, 255), vps)
    ruling = Ruling(
        id="new",
        law=law,
        reason=reason,
        ruled_by=by.actor,
        line=None if play is None else ruling_log.line_key(play),
        result=result,
        penalty=penalty,
        award=award,
        authority=_word(Authority, body, "authority", Authority.DIRECTOR),
        ruleset=text_of(body, "edition", 20, "") or desk.profile.ruleset,
        state=RulingState.PROPOSED if body.get("propose") else RulingState.CONFIRMED,
        replaces=str(whole_of(body, "replaces", 0, 10**12, 0) or ""),
        outside_agency=bool(body.get("outside_agency")),
        approvals=tuple(filter(None, (by.actor, by.second))) if by.second else (),
    )
    return Kept(0, ruling, play, stands)


def _usual_law(result: BoardState | None, stands: bool, penalty: bool) -> str:
    if isinstance(result, Assigned):
        return "12C1(c)"
    if isinstance(result, Artificial):
        return "12C2(a)"
    if penalty and result is None:
        return "90"
    if stands or result is not None:
        return "82"
    raise EntryError("law is wanted: the Law that the ruling rests on.", where="law", code="bad-value")


def _result(body: Body) -> BoardState | None:
    if "result" in body:
        from terminals.store import content as content_json

        return content_json.from_json(body["result"])
    given = [text_of(body, key, 300) if body.get(key) else None for key in ("score", "score_ns", "score_ew")]
    return ruled_result(*given)


def _penalty(desk: Desk, asked: Body, reason: str, law: str) -> SessionAdjustment:
    profile, unit = desk.profile, _word(PenaltyUnit, asked, "unit", None)
    worth = asked.get("amount")
    if worth in (None, ""):  # the profile's standard penalty
        by_rounds = "vps" in desk.score().units
        unit = unit or (PenaltyUnit.VPS if by_rounds else PenaltyUnit.TOP_FRACTION)
        standard = {
            PenaltyUnit.VPS: profile.penalty_vp,
            PenaltyUnit.TOP_FRACTION: profile.penalty_top_fraction,
        }.get(unit)
        if standard is None:
            raise EntryError("amount is wanted: there is no standard penalty in this unit.", code="bad-penalty")
        value = -standard
    else:
        value = amount(worth)
    if not value or abs(value) > 1000:
        raise EntryError("this amount can't be.", code="bad-penalty")
    return SessionAdjustment(_contestant(asked), value, unit or PenaltyUnit.TOP_FRACTION, reason, law)


def _contestant(asked: Body) -> Contestant:
    letter = text_of(asked, "section", 3, "A").upper()
    section_number(letter)
    return Contestant(letter, whole_of(asked, "pair", 1, 4095))


def _table(body: Body, name: str) -> Body:
    value = body.get(name)
    if not isinstance(value, Mapping):
        raise EntryError(f"{name} is wanted: names with values.", code="bad-value")
    return value


def _word(kind: Any, body: Body, name: str, default: Any) -> Any:
    if not body.get(name):
        return default
    word = text_of(body, name, 20)
    if word not in list(kind):
        raise EntryError(f"{name} is one of {', '.join(kind)}.", code="bad-value")
    return kind(word)


def number_of(body: Body) -> int:
    """The ruling's number in a request's body, from 1. Raises EntryError."""
    return whole_of(body, "ruling", 1, 10**12)


# --- what is refused --------------------------------------------------------------------------------------------


def two_names(desk: Desk, by: By) -> None:
    """Raises EntryError for an act of one person once the results are final (Law 79C)."""
    if desk.period.final and by.names < 2:
        raise EntryError(
            "the results are final; a change needs two names (Law 79C).",
            next_step="Give the name of a second person who agrees.",
            code="needs-two-names",
        )


def free(desk: Desk, plays: Iterable[PlayKey]) -> None:
    """Refuse an ordinary correction of a result that a ruling decides. Raises EntryError."""
    for play in plays:
        found = ruling_log.standing(desk.facts.decided.kept, play)
        if found is not None:
            raise EntryError(
                f"Ruling {found.number} (Law {found.ruling.law}) decides this result.",
                where=f"board {play.board}, {play.ns} against {play.ew}",
                next_step=f"Make a ruling that replaces {found.number}, or withdraw that one first.",
                code="contradictory-ruling",
            )
