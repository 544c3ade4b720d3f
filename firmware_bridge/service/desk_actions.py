"""What the desk may do, by name: the same acts for the page, for ``td`` and for other programs.

Each takes JSON values and a caller, and gives JSON values. Acts on results go through ``terminals.sync.director``,
which appends and never overwrites. ``preview`` works out what an act on a result would do to the ranking, and stores
nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from firmware_bridge.errors import EntryError
from firmware_bridge.service import desk_clock
from firmware_bridge.service import desk_ruling_acts as ruling_acts
from firmware_bridge.service import desk_scoring as scoring
from firmware_bridge.service import desk_session as session
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_rulings import free
from firmware_bridge.service.desk_values import Body, by_of, content_of, play_of, text_of, whole_of
from firmware_bridge.service.desk_view import ranking_view
from terminals.result import Artificial, Assigned, BoardState, NotPlayed, NotPlayedReason, PassedOut, Played
from terminals.store import content as content_json
from terminals.store.results import CurrentResult
from terminals.store.values import PlayKey, PlayStatus
from terminals.sync.director import Act, By, Director, artificial_side
from terminals.sync.ruling_log import acts_of
from terminals.sync.scheduled import unscheduled


@dataclass(frozen=True, slots=True)
class Action:
    """role: least role that may do it. fields: name -> words for the API document; those with "?" are optional.

    preview: whether ``preview`` knows it. look: a preview of its own.
    """

    role: str
    words: str
    fields: Mapping[str, str]
    run: Callable[[Desk, Body], Awaitable[dict[str, Any]]]
    preview: bool = False
    look: Callable[[Desk, Body], Awaitable[dict[str, Any]]] | None = None


# --- acts on results ---------------------------------------------------------------------------------------------


def _seen(body: Body) -> int | None:
    return None if body.get("seen") is None else whole_of(body, "seen", 0, 10**9)


Work = Callable[[Director], Act]


async def _direct(desk: Desk, op: str, body: Body) -> dict[str, Any]:
    if op == "undo":
        done = await ruling_acts.undo(desk, body)
        if done is not None:
            return done
    work, by, setup = _work(op, body), by_of(desk, body), desk.setup
    if op not in ("undo", "leave"):
        content = _look_at(desk, op, body, by)
        if content is not None and by.note.strip():
            # An adjusted score with its reason is a ruling, wherever it was typed.
            asked = {**body, "result": content_json.to_json(content), "reason": by.note}
            ruled: dict[str, Any] = await ruling_acts.run("ruling")(desk, asked)
            return {**_scheduled(desk, op, body), **ruled}
    act = await desk.submit(lambda connection: work(Director(connection, setup, by)))
    return {"action": act.action, **_scheduled(desk, op, body)}


def _scheduled(desk: Desk, op: str, body: Body) -> dict[str, Any]:
    """What to say of a result for two pairs that by the movement never meet on this board; nothing for any other."""
    if op not in ("correct", "move", "not-played", "artificial"):
        return {}
    play = play_of(body)
    found = unscheduled(desk.setup, _target(body, play) if op == "move" else play)
    return {} if found is None else {"notes": [found.words], "unscheduled": found.as_dict()}


def _look_at(desk: Desk, op: str, body: Body, by: By) -> BoardState | None:
    """Refuse what a ruling decides, an adjusted score without a reason, what can't be scored; give an adjusted score.

    Raises EntryError.
    """
    play = play_of(body)
    free(desk, [play])
    if op not in ("correct", "artificial"):
        return None
    content = _previewed(op, body)
    if not isinstance(content, (Artificial, Assigned)):
        return None
    row = desk.rows.get(play)
    if row is not None and isinstance(row.content, (Played, PassedOut)) and not by.note.strip():
        raise EntryError(
            "An adjusted score for a board that was played needs a reason (Law 12).",
            where=f"board {play.board}",
            next_step="Give the facts in a few words, as note.",
            code="contradictory-ruling",
        )
    held = row or CurrentResult(play, None, PlayStatus.NONE, (), (), False, 0, 0, 0, 0, 0)
    desk.score_of({**desk.rows, play: replace(held, content=content)}.values())
    return content


def rules(desk: Desk, name: str, body: Body) -> bool:
    """True when an act that assistants may do is about an adjusted score (Law 12), which only the director gives."""
    if name == "undo":
        return body.get("action") in acts_of(desk.facts.decided.rulings)
    given = body.get("result")
    adjusted = isinstance(given, Mapping) and given.get("is") in ("artificial", "assigned")
    return name == "correct" and ("ns_outcomes" in body or adjusted)


def _work(op: str, body: Body) -> Work:
    seen = _seen(body)
    if op == "undo":
        action = text_of(body, "action", 32)
        return lambda director: director.undo(action)
    play = play_of(body)
    if op == "correct":
        content = content_of(body)
        return lambda director: director.rule(play, content, seen)
    if op == "choose":
        claim = whole_of(body, "claim", 0, 99)
        return lambda director: director.choose(play, claim, seen)
    if op == "leave":
        return lambda director: director.leave(play, seen)
    if op == "erase":
        return lambda director: director.erase(play, seen)
    if op == "not-played":
        reason = _reason(body)
        return lambda director: director.not_played(play, reason, "", seen)
    if op == "artificial":
        ns, ew = artificial_side(text_of(body, "ns_score", 12)), artificial_side(text_of(body, "ew_score", 12))
        return lambda director: director.artificial(play, ns, ew, seen)
    if op == "swap":
        return lambda director: director.swap(play, seen)
    target = _target(body, play)
    return lambda director: director.move(play, target, seen)


def _reason(body: Body) -> NotPlayedReason:
    word = text_of(body, "reason", 20, "other")
    return NotPlayed(NotPlayedReason(word) if word in list(NotPlayedReason) else NotPlayedReason.OTHER).reason


def _target(body: Body, play: PlayKey) -> PlayKey:
    return PlayKey(
        play.section,
        whole_of(body, "to_board", 1, 999, play.board),
        whole_of(body, "to_ns", 1, 4095, play.ns),
        whole_of(body, "to_ew", 1, 4095, play.ew),
    )


def _result_action(op: str) -> Callable[[Desk, Body], Awaitable[dict[str, Any]]]:
    async def run(desk: Desk, body: Body) -> dict[str, Any]:
        return await _direct(desk, op, body)

    return run


def preview(desk: Desk, op: str, body: Body) -> dict[str, Any]:
    """What an act would do to the ranking: every contestant whose value or place changes. Nothing is stored."""
    play = play_of(body)
    rows = {row.play: row for row in desk.rows.values()}
    if desk.veil.hides(play):
        raise EntryError(
            "you have yet to play this board.",
            where=f"board {play.board}",
            next_step="Reveal it first if you must; that is on record.",
            code="veiled",
        )
    if op in ("erase", "move", "swap"):
        before = rows.pop(play, None)
        if before is None or before.content is None:
            raise EntryError("there is no result.", where=str(play), code="no-result")
        if op != "erase":
            to = replace(play, ns=play.ew, ew=play.ns) if op == "swap" else _target(body, play)
            rows[to] = replace(before, play=to)
    else:
        content = _previewed(op, body)
        row = rows.get(play) or CurrentResult(play, None, PlayStatus.NONE, (), (), False, 0, 0, 0, 0, 0)
        rows[play] = replace(row, content=content)
    old, new = _flat(ranking_view(desk)), _flat(ranking_view(desk, desk.score_of(list(rows.values()))))
    changes = [
        {"section": section, "pair": pair, "before": old.get((section, pair)), "after": new.get((section, pair))}
        for section, pair in sorted({*old, *new})
        if old.get((section, pair)) != new.get((section, pair))
    ]
    return {"changes": changes, **_scheduled(desk, op, body)}


def _previewed(op: str, body: Body) -> BoardState:
    if op == "correct":
        return content_of(body)
    if op == "not-played":
        return NotPlayed(_reason(body))
    if op == "artificial":
        return Artificial(
            artificial_side(text_of(body, "ns_score", 12)), artificial_side(text_of(body, "ew_score", 12))
        )
    raise EntryError("this act has no preview.", code="no-preview")


def _flat(groups: list[dict[str, Any]]) -> dict[tuple[str, int], dict[str, str]]:
    return {
        (row["section"], row["pair"]): {"place": row["place"], "value": row["value"]}
        for group in groups
        for row in group["rows"]
    }


async def _publish(desk: Desk, body: Body) -> dict[str, Any]:
    await scoring.remember(desk)
    return await session.publish(desk, body)


_PLAY = {"section": "letter", "board": "number", "ns": "pair", "ew": "pair", "play?": "instance, 1 if left out"}
_BY = {
    "actor": "who decides",
    "second?": "second name, once final",
    "note?": "reason",
    "seen?": "changes when looked at",
}
_SEAT = {"section": "letter", "table": "number"}

ACTIONS: Mapping[str, Action] = {
    "correct": Action(
        "assistant",
        "Give a play a result.",
        {**_PLAY, "contract?": "3NTX, or pass", "declarer?": "N E S W", "tricks?": "=, +1, -2 or tricks", **_BY}
        | {"result?": "a result as the store writes it"}
        | {"ns_outcomes?": "4S N = 60%, 4S N -1 40%", "ew_outcomes?": "the same if left out"},
        _result_action("correct"),
        True,
    ),
    "choose": Action(
        "assistant",
        "One of several entries is right.",
        {**_PLAY, "claim": "its place", **_BY},
        _result_action("choose"),
    ),
    "leave": Action("assistant", "Looked at, right as it is.", {**_PLAY, **_BY}, _result_action("leave")),
    "erase": Action("assistant", "Take a result away.", {**_PLAY, **_BY}, _result_action("erase"), True),
    "not-played": Action(
        "assistant",
        "The board was not played.",
        {**_PLAY, "reason?": "cancelled, no-time, late-pair, withdrawn or other", **_BY},
        _result_action("not-played"),
        True,
    ),
    "artificial": Action(
        "director",
        "An artificial adjusted score (Law 12C2).",
        {**_PLAY, "ns_score": "AVE+, AVE, AVE- or percent", "ew_score": "the same", **_BY},
        _result_action("artificial"),
        True,
    ),
    "move": Action(
        "assistant",
        "The result belongs to another board or other pairs.",
        {**_PLAY, "to_board?": "number", "to_ns?": "pair", "to_ew?": "pair", **_BY},
        _result_action("move"),
        True,
    ),
    "swap": Action(
        "assistant", "North-South and East-West sat the other way.", {**_PLAY, **_BY}, _result_action("swap"), True
    ),
    "undo": Action("assistant", "Take an act back.", {"action": "its id", **_BY}, _result_action("undo")),
    "lock": Action("assistant", "Lock or unlock a table.", {**_SEAT, "locked?": "true or false", **_BY}, session.lock),
    "message": Action(
        "assistant",
        "Words for a table, a section or all.",
        {"text": "at most 240 letters", "section?": "letter", "table?": "number", "urgent?": "stays until a key"},
        session.message,
    ),
    "answer-call": Action("assistant", "2 coming, 3 done.", {**_SEAT, "state": "2 or 3"}, session.answer_call),
    "close-round": Action(
        "assistant",
        "Close a round; names what is missing.",
        {"section": "letter", "round": "number", "anyway?": "although boards are missing"},
        session.close_round,
    ),
    "admit": Action("assistant", "Give a table to a terminal.", {"device": "16 hex digits", **_SEAT}, session.admit),
    "admit-all": Action("assistant", "Admit all that wait for a free table.", {}, session.admit_all),
    "replace": Action(
        "assistant", "A terminal takes over a table.", {"device": "16 hex digits", **_SEAT}, session.replace
    ),
    "pair": Action(
        "director",
        "Give a terminal a key, with which it signs what it sends; it is shown this once.",
        {"device": "16 hex digits", "key?": "32 hex digits"},
        session.pair_terminal,
    ),
    "refuse": Action("assistant", "A terminal is not used tonight.", {"device": "16 hex digits"}, session.refuse),
    "publish": Action("director", "Results are available; the correction period begins (Law 79C).", _BY, _publish),
    "live": Action("director", "Show the ranking in public while play goes on.", {"on": "true or false"}, session.live),
    "computer-clock": Action(
        "director",
        "What time it is, for a computer whose clock can't be right; nothing: its clock is right.",
        {"at?": "19:10 or 2026-11-29 19:10"},
        desk_clock.told,
    ),
    "clock": Action(
        "assistant", "Start the clock of a round.", {"round": "number", "minutes": "number"}, session.clock
    ),
    "resend": Action(
        "assistant",
        "Ask a terminal for its records again.",
        {"device": "16 hex digits", "journal": "number", "from_seq?": "number, 1 if left out"},
        session.resend,
    ),
    "reveal": Action(
        "director",
        "Look at a board you have yet to play; on record.",
        {"section": "letter", "board": "number", **_BY},
        session.reveal,
    ),
    "penalty": Action(
        "director",
        "A penalty or bonus for one contestant (Laws 90, 91).",
        {
            "section?": "letter",
            "pair?": "contestant",
            "amount?": "-1/4, negative for a penalty; left out: the standard one",
            "unit?": "top, percent, matchpoints, imps, points or vps",
            "reason": "words",
            "law?": "90",
            "undo?": "number of a penalty to take back",
            "actor?": "who decides",
        },
        ruling_acts.penalty,
    ),
    "ruling": Action(
        "director",
        "A ruling: an adjusted score, a penalty, an award (Laws 12, 81-91).",
        ruling_acts.RULING_FIELDS,
        ruling_acts.run("ruling"),
        look=ruling_acts.look("ruling"),
    ),
    "fouled": Action(
        "director",
        "A fouled board: groups that are scored apart (Law 87).",
        ruling_acts.FOULED_FIELDS,
        ruling_acts.run("fouled"),
        look=ruling_acts.look("fouled"),
    ),
    "ruling-confirm": Action(
        "director",
        "A proposed ruling counts; or an appeal is withdrawn.",
        {**ruling_acts.STEP_FIELDS, "seen?": "changes of the result when looked at"},
        ruling_acts.run("ruling-confirm"),
        look=ruling_acts.look("ruling-confirm"),
    ),
    "ruling-withdraw": Action(
        "director",
        "A ruling counts no longer; the result of the table stands again.",
        ruling_acts.STEP_FIELDS,
        ruling_acts.run("ruling-withdraw"),
        look=ruling_acts.look("ruling-withdraw"),
    ),
    "ruling-appeal": Action(
        "director",
        "A contestant appeals against a ruling (Law 92).",
        ruling_acts.APPEAL_FIELDS,
        ruling_acts.run("ruling-appeal"),
    ),
    "ruling-uphold": Action(
        "director",
        "The appeal was heard, the ruling stands (Law 93).",
        ruling_acts.STEP_FIELDS,
        ruling_acts.run("ruling-uphold"),
    ),
    "scoring": Action(
        "director",
        "Score the event in another way, also after play.",
        scoring.FIELDS,
        scoring.change,
        look=scoring.preview,
    ),
    "merge-guest": Action(
        "director",
        "A guest turns out to be a member: where the guest sat, the member sat.",
        {"guest": "name or number", "member": "number on the club's list", "actor?": "who decides"},
        scoring.merge,
    ),
    "forget-code": Action(
        "assistant",
        "A pair has forgotten the code with which it accepts; the next one it gives is its own.",
        {"section": "letter", "pair": "number"},
        session.forget_code,
    ),
    "settings": Action(
        "director",
        "Change settings of the event, or of what the terminals of one section show and ask.",
        {"settings": "names with values", "section?": "letter, all if left out"},
        session.settings,
    ),
    "seen": Action(
        "assistant",
        "An alert was looked at.",
        {"kind?": "of an alarm", "subject?": "of it", "number?": "of a check"},
        session.seen_alert,
    ),
}
