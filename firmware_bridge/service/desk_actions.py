"""What the desk may do, by name: the same acts for the page, for ``td`` and for other programs.

Each takes JSON values and a caller, and gives JSON values. Acts on results go through ``terminals.sync.director``,
which appends and never overwrites. ``preview`` works out what an act on a result would do to the ranking, and stores
nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dealer.cards import Seat
from firmware_bridge.errors import EntryError
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_view import clock_view, grid_view, missing_view, ranking_view
from terminals.contract import Contract
from terminals.result import (
    Artificial,
    ArtificialSide,
    Assigned,
    BoardState,
    NotPlayed,
    NotPlayedReason,
    Outcome,
    PassedOut,
    Played,
)
from terminals.scoring.lines import PenaltyUnit
from terminals.store import content as content_json
from terminals.store import ledger
from terminals.store.results import CurrentResult
from terminals.store.values import PlayKey, PlayStatus
from terminals.sync.director import Act, By, Director, artificial_side
from terminals.sync.period import publish
from terminals.sync.setup import section_number

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Action:
    """role: least role that may do it. fields: name -> words for the API document; those with "?" are optional."""

    role: str
    words: str
    fields: Mapping[str, str]
    run: Callable[[Desk, Body], Awaitable[dict[str, Any]]]
    preview: bool = False


# --- reading JSON values -----------------------------------------------------------------------------------------


def text_of(body: Body, name: str, limit: int = 500, default: str | None = None) -> str:
    value = body.get(name, default)
    if not isinstance(value, str) or len(value) > limit:
        raise EntryError(f"{name} is wanted, a text of at most {limit} letters.", code="bad-value")
    return value.strip()


def whole_of(body: Body, name: str, low: int, high: int, default: int | None = None) -> int:
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise EntryError(f"{name} is wanted, a number from {low} to {high}.", code="bad-value")
    return value


def play_of(body: Body, prefix: str = "") -> PlayKey:
    """section (letter), board, ns, ew, and play when it is not the first. Raises EntryError."""
    letter = text_of(body, f"{prefix}section", 1)
    section_number(letter)
    return PlayKey(
        letter.upper(),
        whole_of(body, f"{prefix}board", 1, 999),
        whole_of(body, f"{prefix}ns", 1, 4095),
        whole_of(body, f"{prefix}ew", 1, 4095),
        whole_of(body, f"{prefix}play", 1, 99, 1),
    )


def by_of(desk: Desk, body: Body) -> By:
    return By(
        text_of(body, "actor", 40, ""), text_of(body, "second", 40, ""), text_of(body, "note", 500, ""), desk.wall()
    )


def content_of(body: Body) -> BoardState:
    """The result that a body names: ``result`` as stored, or contract, declarer, tricks as people type them."""
    if "ns_outcomes" in body:
        ns = outcomes_of(text_of(body, "ns_outcomes", 300))
        return Assigned(ns, outcomes_of(text_of(body, "ew_outcomes", 300)) if body.get("ew_outcomes") else ns)
    if "result" in body:
        found = content_json.from_json(body["result"])
        if found is None:
            raise EntryError("a result is wanted.", code="bad-result")
        return found
    contract = text_of(body, "contract", 20)
    if contract.strip().lower() in ("pass", "passed out", "p"):
        return PassedOut()
    declarer = body.get("declarer")
    made = Contract.parse(contract, Seat.from_letter(declarer) if isinstance(declarer, str) and declarer else None)
    tricks = body.get("tricks")
    if isinstance(tricks, str):
        tricks = tricks_of(tricks, made)
    if isinstance(tricks, bool) or not isinstance(tricks, int):
        raise EntryError("tricks are wanted, from 0 to 13.", code="bad-tricks")
    return Played(made, tricks)


def outcomes_of(text: str) -> tuple[Outcome, ...] | ArtificialSide:
    """``4S N = 60%, 4S N -1 40%`` (Law 12C1), one outcome without weight, or ``AVE+`` for that side."""
    parts = [part.split() for part in text.split(",") if part.strip()]
    if len(parts) == 1 and len(parts[0]) == 1 and parts[0][0].lower() != "pass":
        return artificial_side(parts[0][0])
    found = []
    for words in parts:
        weight = Fraction(1)
        if words and (words[-1].endswith("%") or "/" in words[-1]):
            word = words.pop()
            try:
                weight = Fraction(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
            except (ValueError, ZeroDivisionError):
                raise EntryError(f"{word[:12]!r} is no weight.", code="bad-weights") from None
        if len(words) == 1 and words[0].lower() == "pass":
            found.append(Outcome(PassedOut(), weight))
        elif len(words) == 3:
            contract = Contract.parse(f"{words[0]} {words[1]}")
            found.append(Outcome(Played(contract, tricks_of(words[2], contract)), weight))
        else:
            raise EntryError(
                "an outcome is contract, declarer, result and weight.",
                next_step="Write it like 4S N = 60%, 4S N -1 40%.",
                code="bad-result",
            )
    return tuple(found)


def tricks_of(text: str, contract: Contract) -> int:
    """``=``, ``+1``, ``-2`` or the number of tricks."""
    word = text.strip()
    if word == "=":
        return contract.required_tricks
    if not word.lstrip("+-").isdigit() or len(word) > 3:
        raise EntryError(f"{text[:8]!r} is no result; write =, +1, -2 or tricks.", code="bad-tricks")
    return contract.required_tricks + int(word) if word[0] in "+-" else int(word)


def seat_of(body: Body) -> tuple[str, int]:
    letter = text_of(body, "section", 1, "A")
    section_number(letter)
    return letter.upper(), whole_of(body, "table", 1, 255)


def device_of(body: Body) -> int:
    text = text_of(body, "device", 16)
    try:
        return int(text, 16)
    except ValueError:
        raise EntryError("device is 16 hexadecimal digits.", code="bad-value") from None


# --- acts on results ---------------------------------------------------------------------------------------------


def _seen(body: Body) -> int | None:
    return None if body.get("seen") is None else whole_of(body, "seen", 0, 10**9)


Work = Callable[[Director], Act]


async def _direct(desk: Desk, body: Body, work: Work) -> dict[str, Any]:
    by, setup = by_of(desk, body), desk.setup
    act = await desk.submit(lambda connection: work(Director(connection, setup, by)))
    return {"action": act.action}


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
        return await _direct(desk, body, _work(op, body))

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
    return {"changes": changes}


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


# --- the session -------------------------------------------------------------------------------------------------


async def _lock(desk: Desk, body: Body) -> dict[str, Any]:
    (section, table), by, setup = seat_of(body), by_of(desk, body), desk.setup
    locked = bool(body.get("locked", True))
    await desk.submit(lambda connection: Director(connection, setup, by).lock(section, table, locked=locked))
    return {"locked": locked}


async def _message(desk: Desk, body: Body) -> dict[str, Any]:
    words = text_of(body, "text", 240)
    if not words:
        raise EntryError("a message has words.", code="bad-value")
    section = section_number(text_of(body, "section", 1)) if body.get("section") else 0
    table = whole_of(body, "table", 0, 255, 0)
    sends = desk.service.collector.text(words, section, table, urgent=bool(body.get("urgent", True)))
    desk.service.send(sends)
    await desk.log("message", text_of(body, "actor", 40, ""), text=words, section=section, table=table)
    return {"terminals": len(sends)}


async def _answer_call(desk: Desk, body: Body) -> dict[str, Any]:
    section, table = seat_of(body)
    state = whole_of(body, "state", 2, 3)
    await desk.log("call-answered", text_of(body, "actor", 40, ""), section=section, table=table, state=state)
    return {"state": state}


async def _close_round(desk: Desk, body: Body) -> dict[str, Any]:
    section, number = text_of(body, "section", 1, "A").upper(), whole_of(body, "round", 1, 255)
    gone = missing_view(desk.setup, grid_view(desk), section, number)
    if gone and not body.get("anyway"):
        raise EntryError(
            "boards of this round are missing: "
            + ", ".join(f"table {one['table']} board {one['board']}" for one in gone[:12])
            + (" and more." if len(gone) > 12 else "."),
            where=f"section {section}, round {number}",
            next_step="Ask the tables, or close it anyway; nothing is invented, the boards stay missing.",
            code="boards-missing",
        )
    await desk.log("round-closed", text_of(body, "actor", 40, ""), section=section, round=number)
    return {"missing": gone}


async def _admit(desk: Desk, body: Body) -> dict[str, Any]:
    letter, table = seat_of(body)
    await desk.admit(device_of(body), section_number(letter), table)
    return {"section": letter, "table": table}


async def _admit_all(desk: Desk, body: Body) -> dict[str, Any]:
    """Every terminal that waits and names a free table."""
    done = []
    for one in desk.service.collector.terminals:
        status = one.status
        if one.admitted or one.refused or status is None or not status.table or not status.section:
            continue
        if desk.holder(status.section, status.table) is None and desk.setup.has_table(status.section, status.table):
            await desk.admit(one.device, status.section, status.table)
            done.append(f"{one.device:016x}")
    return {"admitted": done}


async def _replace(desk: Desk, body: Body) -> dict[str, Any]:
    letter, table = seat_of(body)
    section = section_number(letter)
    before = desk.holder(section, table)
    await desk.admit(device_of(body), section, table, replace_holder=True)
    await desk.log(
        "replaced",
        text_of(body, "actor", 40, ""),
        section=letter,
        table=table,
        old="" if before is None else f"{before:016x}",
        new=text_of(body, "device", 16),
    )
    return {"section": letter, "table": table}


async def _refuse(desk: Desk, body: Body) -> dict[str, Any]:
    await desk.refuse(device_of(body))
    return {}


async def _publish(desk: Desk, body: Body) -> dict[str, Any]:
    setup, actor, wall = desk.setup, by_of(desk, body).actor, desk.wall()
    now = desk.clock.wall().timestamp()
    await desk.submit(lambda connection: publish(connection, setup, now, actor, wall))
    return {"ends_at": desk.period.ends_at}


async def _live(desk: Desk, body: Body) -> dict[str, Any]:
    on = bool(body.get("on", True))
    await desk.log("live", text_of(body, "actor", 40, ""), on=on)
    return {"live": on}


async def _clock(desk: Desk, body: Body) -> dict[str, Any]:
    number, minutes = whole_of(body, "round", 0, 255), whole_of(body, "minutes", 0, 240)
    at = desk.clock.wall().timestamp()
    await desk.log("clock", text_of(body, "actor", 40, ""), round=number, minutes=minutes, at=at)
    desk.hub.tell_all({"kind": "CLOCK", "clock": clock_view(desk)})
    return {"at": at}


async def _resend(desk: Desk, body: Body) -> dict[str, Any]:
    """Ask a terminal for its records again, as far as it still holds them."""
    journal = whole_of(body, "journal", 1, 2**32 - 1)
    sends = desk.service.collector.resend(device_of(body), journal, whole_of(body, "from_seq", 1, 2**32 - 1, 1))
    desk.service.send(sends)
    return {"asked": bool(sends)}


async def _reveal(desk: Desk, body: Body) -> dict[str, Any]:
    by, setup = by_of(desk, body), desk.setup
    section, board = text_of(body, "section", 1).upper(), whole_of(body, "board", 1, 999)
    await desk.submit(lambda connection: Director(connection, setup, by).reveal(section, board))
    desk.stream.publish(b"event: reset\ndata: {}\n\n")
    return {}


async def _penalty(desk: Desk, body: Body) -> dict[str, Any]:
    """Laws 90 and 91: it touches one contestant's total and no board; kept as an event, taken back by another."""
    if "undo" in body:
        number = whole_of(body, "undo", 1, 10**12)
        if number not in desk.facts.penalties:
            raise EntryError("there is no such penalty.", code="no-such-penalty")
        await desk.log("penalty-undone", by_of(desk, body).actor, penalty=number)
        return {"penalties": list(desk.facts.penalties.values())}
    letter, pair = text_of(body, "section", 1, "A").upper(), whole_of(body, "pair", 1, 4095)
    section = desk.setup.section_called(letter)
    if section is None or section.movement is None or pair not in section.movement.contestants:
        raise EntryError("the event has no such contestant.", where=f"{letter}{pair}", code="no-such-pair")
    amount, unit = text_of(body, "amount", 12), text_of(body, "unit", 12, "top")
    try:
        value = Fraction(amount)
        PenaltyUnit(unit)
    except (ValueError, ZeroDivisionError):
        known = ", ".join(PenaltyUnit)
        raise EntryError(f"an amount like -1/4 and a unit ({known}) are wanted.", code="bad-penalty") from None
    if not value or abs(value) > 1000:
        raise EntryError("this amount can't be.", code="bad-penalty")
    reason, law = text_of(body, "reason", 300, ""), text_of(body, "law", 20, "90")
    values = {"section": letter, "pair": pair, "amount": str(value), "unit": unit, "reason": reason, "law": law}
    await desk.log("penalty", by_of(desk, body).actor, **values)
    return {"penalties": list(desk.facts.penalties.values())}


async def _forget_code(desk: Desk, body: Body) -> dict[str, Any]:
    letter, pair = text_of(body, "section", 1, "A").upper(), whole_of(body, "pair", 1, 4095)
    await desk.log("pair-code-forgotten", text_of(body, "actor", 40, ""), section=letter, pair=pair)
    return {}


async def _settings(desk: Desk, body: Body) -> dict[str, Any]:
    values = body.get("settings")
    if not isinstance(values, Mapping):
        raise EntryError("settings are wanted, names with values.", code="bad-value")
    setup = desk.setup
    await desk.change_setup(replace(setup, settings=setup.settings.changed(values)))
    await desk.log("settings", text_of(body, "actor", 40, ""), names=sorted(values))
    return {}


async def _seen_alert(desk: Desk, body: Body) -> dict[str, Any]:
    if "number" in body:
        await desk.log("entry-check-seen", text_of(body, "actor", 40, ""), number=whole_of(body, "number", 1, 10**12))
        return {}
    kind, subject = text_of(body, "kind", 60), text_of(body, "subject", 200)
    await desk.submit(lambda connection: ledger.mark_alarm_seen(connection, kind, subject))
    await desk.log("alarm-seen", text_of(body, "actor", 40, ""), alarm=kind, subject=subject)
    return {}


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
    "lock": Action("assistant", "Lock or unlock a table.", {**_SEAT, "locked?": "true or false", **_BY}, _lock),
    "message": Action(
        "assistant",
        "Words for a table, a section or all.",
        {"text": "at most 240 letters", "section?": "letter", "table?": "number", "urgent?": "stays until a key"},
        _message,
    ),
    "answer-call": Action("assistant", "2 coming, 3 done.", {**_SEAT, "state": "2 or 3"}, _answer_call),
    "close-round": Action(
        "assistant",
        "Close a round; names what is missing.",
        {"section": "letter", "round": "number", "anyway?": "although boards are missing"},
        _close_round,
    ),
    "admit": Action("assistant", "Give a table to a terminal.", {"device": "16 hex digits", **_SEAT}, _admit),
    "admit-all": Action("assistant", "Admit all that wait for a free table.", {}, _admit_all),
    "replace": Action("assistant", "A terminal takes over a table.", {"device": "16 hex digits", **_SEAT}, _replace),
    "refuse": Action("assistant", "A terminal is not used tonight.", {"device": "16 hex digits"}, _refuse),
    "publish": Action("director", "Results are available; the correction period begins (Law 79C).", _BY, _publish),
    "live": Action("director", "Show the ranking in public while play goes on.", {"on": "true or false"}, _live),
    "clock": Action("assistant", "Start the clock of a round.", {"round": "number", "minutes": "number"}, _clock),
    "resend": Action(
        "assistant",
        "Ask a terminal for its records again.",
        {"device": "16 hex digits", "journal": "number", "from_seq?": "number, 1 if left out"},
        _resend,
    ),
    "reveal": Action(
        "director",
        "Look at a board you have yet to play; on record.",
        {"section": "letter", "board": "number", **_BY},
        _reveal,
    ),
    "penalty": Action(
        "director",
        "A penalty or bonus for one contestant (Laws 90, 91).",
        {
            "section?": "letter",
            "pair?": "contestant",
            "amount?": "-1/4, negative for a penalty",
            "unit?": "top, percent, matchpoints, imps, points or vps",
            "reason?": "words",
            "law?": "90",
            "undo?": "number of a penalty to take back",
            "actor?": "who decides",
        },
        _penalty,
    ),
    "forget-code": Action(
        "assistant",
        "A pair has forgotten the code with which it accepts; the next one it gives is its own.",
        {"section": "letter", "pair": "number"},
        _forget_code,
    ),
    "settings": Action("director", "Change settings of the event.", {"settings": "names with values"}, _settings),
    "seen": Action(
        "assistant",
        "An alert was looked at.",
        {"kind?": "of an alarm", "subject?": "of it", "number?": "of a check"},
        _seen_alert,
    ),
}
