"""What the desk may do, by name: the same acts for the page, for ``td`` and for other programs.

Each takes JSON values and a caller, and gives JSON values. Acts on results are in ``desk_result_acts``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from firmware_bridge.service import desk_clock
from firmware_bridge.service import desk_ruling_acts as ruling_acts
from firmware_bridge.service import desk_scoring as scoring
from firmware_bridge.service import desk_session as session
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_result_acts import result_action
from firmware_bridge.service.desk_values import Body


@dataclass(frozen=True, slots=True)
class Action:
    """role: least role that may do it. fields: name -> words for the API document; those with "?" are optional.

    preview: whether ``desk_result_acts.preview`` knows it. look: a preview of its own.
    """

    role: str
    words: str
    fields: Mapping[str, str]
    run: Callable[[Desk, Body], Awaitable[dict[str, Any]]]
    preview: bool = False
    look: Callable[[Desk, Body], Awaitable[dict[str, Any]]] | None = None


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
        result_action("correct"),
        True,
    ),
    "choose": Action(
        "assistant",
        "One of several entries is right.",
        {**_PLAY, "claim": "its place", **_BY},
        result_action("choose"),
    ),
    "leave": Action("assistant", "Looked at, right as it is.", {**_PLAY, **_BY}, result_action("leave")),
    "erase": Action("assistant", "Take a result away.", {**_PLAY, **_BY}, result_action("erase"), True),
    "not-played": Action(
        "assistant",
        "The board was not played.",
        {**_PLAY, "reason?": "cancelled, no-time, late-pair, withdrawn or other", **_BY},
        result_action("not-played"),
        True,
    ),
    "artificial": Action(
        "director",
        "An artificial adjusted score (Law 12C2).",
        {**_PLAY, "ns_score": "AVE+, AVE, AVE- or percent", "ew_score": "the same", **_BY},
        result_action("artificial"),
        True,
    ),
    "move": Action(
        "assistant",
        "The result belongs to another board or other pairs.",
        {**_PLAY, "to_board?": "number", "to_ns?": "pair", "to_ew?": "pair", **_BY},
        result_action("move"),
        True,
    ),
    "swap": Action(
        "assistant", "North-South and East-West sat the other way.", {**_PLAY, **_BY}, result_action("swap"), True
    ),
    "undo": Action("assistant", "Take an act back.", {"action": "its id", **_BY}, result_action("undo")),
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
