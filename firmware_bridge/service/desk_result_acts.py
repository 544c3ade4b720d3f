"""The desk's acts on results: given, chosen, erased, moved, turned, adjusted, taken back; and what each would do first.

They go through ``terminals.sync.director``, which appends and never overwrites. ``preview`` works out what an act would
do to the ranking, and stores nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from firmware_bridge.errors import EntryError
from firmware_bridge.service import desk_ruling_acts as ruling_acts
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


def result_action(op: str) -> Callable[[Desk, Body], Awaitable[dict[str, Any]]]:
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
