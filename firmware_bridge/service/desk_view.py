"""What pages are shown of the running evening, as JSON values. Boards that a playing director has yet to play are
veiled in every one of them: that they are entered, or need attention, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median_low
from typing import Any

from dealer.board import vulnerability_of
from dealer.cards import card_name
from firmware_bridge.errors import EntryError
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_ruling_views import content_words, on_play_view, penalties_view, ruling_view
from firmware_bridge.service.desk_scoring import scoring_view
from firmware_bridge.service.recorded_files import accepted_view
from terminals.result import Played
from terminals.scoring.boards import LineScore, SideScore
from terminals.scoring.contract_score import score_ns
from terminals.scoring.rounding import decimal_text
from terminals.scoring.session import SessionScore
from terminals.store import content as content_json
from terminals.store import results
from terminals.store.desk import DeviceState
from terminals.store.results import CurrentResult
from terminals.store.values import PlayKey, device_hex
from terminals.sync.event_score import EventScore
from terminals.sync.projection import resolve
from terminals.sync.ruling_log import marking, on_play, pending
from terminals.sync.sense import WARNINGS, movement_numbers
from terminals.sync.setup import Section, section_letter
from terminals.sync.tables import CellState, cell_state, cells, plan_warnings, scoring_input, unplanned

ATTENTION_WORDS = {
    "contested": "Two terminals say different things about this board.",
    "erased-elsewhere": "The result stands at one terminal and was erased at another.",
    "after-ruling": "A table sent something else after the director had ruled.",
    "after-final": "A table sent something after the results were final.",
    "locked-table": "A locked table sent something.",
}


def event_view(desk: Desk) -> dict[str, Any]:
    """The event itself: sections, settings, where it stands."""
    setup, facts = desk.setup, desk.facts
    return {
        "id": f"{setup.id:016x}",
        "active": desk.has_event,
        "name": setup.name,
        "version": desk.cursor,
        "plan_version": setup.plan_version,
        "sections": [_section(section) for section in setup.sections],
        "settings": {**setup.settings.as_dict(), "director_pin": bool(setup.settings.director_pin)},
        "method": facts.method.value,
        "live": facts.live,
        "scoring": scoring_view(desk.setup, desk.conditions),
        "penalties": penalties_view(desk),
        "appeals": len(pending(facts.decided.kept)),
        "deals": bool(facts.deal_set),
        "clock": None if facts.clock is None else {**facts.clock, **(clock_view(desk) or {})},
        "published_at": desk.period.published_at,
        "ends_at": desk.period.ends_at,
        "final": desk.period.final,
        "locked": sorted([section, table] for section, table in facts.locked),
        "closed": sorted([section, number] for section, number in facts.closed),
    }


def _section(section: Section) -> dict[str, Any]:
    movement = section.movement
    own = {name: bool(value) if name == "director_pin" else value for name, value in section.own}
    named = {"letter": section.letter, "number": section.number, "settings": own}
    if movement is None:
        return {**named, "movement": None}
    return {
        **named,
        "movement": movement.name,
        "format": movement.format.value,
        "tables": movement.tables,
        "rounds": movement.rounds,
        "boards_per_round": movement.boards_per_round,
        "boards": list(movement.board_numbers),
        "pairs": list(movement.pairs),
        "notes": list(movement.notes),
        "copies": max(movement.copies_to_deal().values(), default=1),
    }


# --- results -----------------------------------------------------------------------------------------------------


def place_of(desk: Desk, row: CurrentResult) -> tuple[int, int]:
    """(round, table) of a result: as its terminal said, or as the movement has it when the desk entered it."""
    if row.round and row.table:
        return row.round, row.table
    section = desk.setup.section_called(row.play.section)
    if section is None or section.movement is None:
        return row.round, row.table
    found = movement_numbers(section.movement).meetings.get((row.play.board, row.play.ns, row.play.ew))
    return found or (row.round, row.table)


def row_view(desk: Desk, row: CurrentResult, *, warned: bool = True, veiled: bool = True) -> dict[str, Any]:
    """One current result. ``text`` and ``score`` are empty where the veil lies over it."""
    play = row.play
    hidden = veiled and desk.veil.hides(play)
    out: dict[str, Any] = {
        "section": play.section,
        "board": play.board,
        "ns": play.ns,
        "ew": play.ew,
        "play": play.play,
        "round": place_of(desk, row)[0],
        "table": place_of(desk, row)[1],
        "changes": row.changes,
        "attention": list(row.attention),
        "hidden": hidden,
    }
    if hidden:
        state = CellState.ATTENTION if row.attention else CellState.MISSING
        if not row.attention and row.content is not None:
            state = CellState.ENTERED
        return {**out, "state": state.value, "text": "", "score": None, "warnings": []}
    kept = desk.facts.decided.kept
    warnings = [*row.warnings, *plan_warnings(desk.setup, row)] if warned else list(row.warnings)
    return {
        **out,
        "state": cell_state(row, final=desk.period.final).value,
        "text": content_words(row.content),
        "score": None if row.content is None else score_ns(row.content, play.board, marking(kept, play)),
        "warnings": list(dict.fromkeys(warnings)),
        "rulings": on_play_view(desk, play),
        "ruled": row.ruled,
    }


def grid_view(desk: Desk) -> dict[str, Any]:
    """Every scheduled board with its state, what the movement does not have, and each table's round and lateness."""
    rows = list(desk.rows.values())
    found = cells(desk.setup, rows, final=desk.period.final)
    out = []
    open_rounds: dict[tuple[str, int], int] = {}
    for cell in found:
        seat = (cell.section, cell.table)
        state = cell.state
        shown: dict[str, Any] = {"text": "", "score": None, "changes": 0, "hidden": False}
        if cell.result is not None:
            seen = row_view(desk, cell.result, warned=False)
            shown = {name: seen[name] for name in shown}
            state = CellState(seen["state"])
        if state is CellState.MISSING and (cell.section, cell.round) not in desk.facts.closed:
            open_rounds.setdefault(seat, cell.round)
        out.append(
            {
                "section": cell.section,
                "round": cell.round,
                "table": cell.table,
                "board": cell.board,
                "ns": cell.ns,
                "ew": cell.ew,
                "state": state.value,
                **shown,
            }
        )
    return {
        "cells": out,
        "others": [row_view(desk, row) for row in unplanned(desk.setup, rows)],
        "tables": tables_view(desk, open_rounds),
        "counts": _counts(out),
    }


def _counts(found: Iterable[dict[str, Any]]) -> dict[str, int]:
    counts: dict[str, int] = {"expected": 0, "stored": 0}
    for cell in found:
        counts["expected"] += 1
        counts["stored"] += cell["state"] != CellState.MISSING.value
        counts[cell["state"]] = counts.get(cell["state"], 0) + 1
    return counts


def tables_view(desk: Desk, open_rounds: dict[tuple[str, int], int]) -> list[dict[str, Any]]:
    """Tables with their terminal, their first round that is not complete, and how far behind the room they are."""
    out = []
    holders = {}
    for device in desk.service.collector.roster.values():
        if device.state is DeviceState.ADMITTED and device.table:
            holders[section_letter(device.section), device.table] = device.id
    present = {one.device: one for one in desk.service.collector.terminals}
    for section in desk.setup.sections:
        if section.movement is None:
            continue
        rounds = section.movement.rounds
        of_tables = {t: open_rounds.get((section.letter, t), rounds + 1) for t in range(1, section.movement.tables + 1)}
        usual = median_low(list(of_tables.values()))
        for table, now in of_tables.items():
            seat = (section.letter, table)
            device_id = holders.get(seat)
            terminal = present.get(device_id) if device_id is not None else None
            status = None if terminal is None else terminal.status
            out.append(
                {
                    "section": section.letter,
                    "table": table,
                    "round": now,
                    "done": now > rounds,
                    "behind": max(0, min(usual, rounds) - now),
                    "locked": seat in desk.facts.locked,
                    "call": desk.facts.calls.get(seat, {}).get("state", 0),
                    "terminal": None if device_id is None else device_hex(device_id),
                    "model": "" if device_id is None else desk.service.collector.roster[device_id].model,
                    "present": bool(terminal is not None and terminal.present),
                    "waiting": 0 if status is None else status.waiting,
                    "battery": None if status is None or status.battery == 255 else status.battery,
                }
            )
    return out


def board_view(desk: Desk, section: str, board: int, *, public: bool = False, veiled: bool = True) -> dict[str, Any]:
    """The traveller of a board. public: without leads and states. veiled: as the desk sees it.

    Raises EntryError for a board that is not in play.
    """
    found = desk.setup.section_called(section)
    if found is None:
        raise EntryError("the event has no such section.", where=section[:8], code="no-such-section")
    numbers = found.movement.board_numbers if found.movement is not None else ()
    if found.movement is not None and board not in numbers:
        raise EntryError("the section has no such board.", where=f"board {board}", code="no-such-board")
    points = {_play(line): line for line in _lines(desk.score(), board)}
    lines = []
    for row in desk.rows.values():
        play = row.play
        if (play.section, play.board) != (found.letter, board) or (public and row.content is None):
            continue
        seen = row_view(desk, row, veiled=veiled)
        scored = points.get(play)
        lead = None
        if isinstance(row.content, Played) and row.content.lead is not None and not public and not seen["hidden"]:
            lead = card_name(row.content.lead)
        if public:
            laws = [one["law"] for one in seen.get("rulings", ())]
            seen = {**{name: seen[name] for name in ("ns", "ew", "text", "score", "hidden")}, "laws": laws}
        open_line = scored is not None and not seen["hidden"]
        lines.append(
            {
                **seen,
                **({} if public else {"lead": lead}),
                "ns_names": desk.names_of(found.letter, play.ns),
                "ew_names": desk.names_of(found.letter, play.ew),
                "ns_points": _points(scored.ns) if open_line and scored is not None else None,
                "ew_points": _points(scored.ew) if open_line and scored is not None else None,
                "percent": _percent(scored.ns) if open_line and scored is not None else None,
            }
        )
    lines.sort(key=lambda line: (-(line["score"] if line["score"] is not None else -99999), line["ns"]))
    return {
        "section": found.letter,
        "board": board,
        "dealer": "NESW"[(board - 1) % 4],
        "vulnerable": vulnerability_of(board).pbn,
        "lines": lines,
    }


def _lines(score: SessionScore, board: int) -> list[LineScore]:
    return [line for (_, number), scored in score.boards.items() if number == board for line in scored]


def _play(scored: LineScore) -> PlayKey:
    line = scored.line
    return PlayKey(line.section, line.board, line.ns.number, line.ew.number, line.play)


def _points(side: SideScore | None) -> str | None:
    return None if side is None else decimal_text(side.points, 2)


def _percent(side: SideScore | None) -> str | None:
    value = None if side is None else side.percent
    return None if value is None else decimal_text(value, 1)


def ranking_view(desk: Desk, score: EventScore | None = None) -> list[dict[str, Any]]:
    """One entry for each winner group: name and rows, best first."""
    scored = desk.score() if score is None else score
    names = [group.name for group in scoring_input(desk.setup, []).groups]
    out = []
    for at, rows in enumerate(scored.rankings):
        # A section with one ranking is called by its letter.
        name = (names[at] if at < len(names) else "").removesuffix(" all")
        out.append(
            {
                "name": {"NS": "North-South", "EW": "East-West"}.get(name, "" if len(scored.rankings) == 1 else name),
                "direction": name if name in ("NS", "EW") else "",
                "unit": scored.units[at],
                "rows": [
                    {
                        "place": row.place_text,
                        "section": row.contestant.section,
                        "pair": row.contestant.number,
                        "names": desk.contestant_names(row.contestant.section, row.contestant.number),
                        "value": row.value_text,
                        "boards": row.boards,
                    }
                    for row in rows
                ],
            }
        )
    return out


def play_view(desk: Desk, play: PlayKey) -> dict[str, Any]:
    """The audit trail of one play: every event, what the tables say, which acts can be undone."""
    event = desk.event
    events = desk.store.read(lambda c: results.of_play(c, event, play))
    state = resolve(play, events)
    hidden = desk.veil.hides(play)
    return {
        "play": play_json(play),
        "hidden": hidden,
        "changes": state.changes,
        "status": state.status.value,
        "attention": [ATTENTION_WORDS.get(code, code) for code in state.attention],
        "warnings": [WARNINGS.get(code, code) for code in state.warnings] if not hidden else [],
        "content": None if hidden else content_json.to_json(state.content),
        "text": "" if hidden else content_words(state.content),
        "rulings": [ruling_view(desk, one) for one in on_play(desk.facts.decided.kept, play)],
        "claims": [
            {
                "claim": at,
                "terminal": device_hex(claim.device),
                "table": claim.table,
                "text": "" if hidden else ("erased" if claim.content is None else content_words(claim.content)),
                "confirmed": claim.confirmed,
            }
            for at, claim in enumerate(state.claims)
        ],
        "codes": {
            "attention": list(state.attention),
            "warnings": list(state.warnings) if not hidden else [],
        },
        "actions": list(state.actions),
        "accepted": accepted_view(desk, play),
        "events": [
            {
                "number": one.number,
                "kind": one.kind.value,
                "text": "" if hidden else content_words(one.content),
                "actor": one.actor or (f"terminal {device_hex(one.key.device)}" if one.key is not None else ""),
                "second": one.second,
                "note": "" if hidden else one.note,
                "wall": one.wall,
                "action": one.action,
                "confirmed": one.confirmed,
            }
            for one in events
        ],
    }


def play_json(play: PlayKey) -> dict[str, Any]:
    return {"section": play.section, "board": play.board, "ns": play.ns, "ew": play.ew, "play": play.play}


def clock_view(desk: Desk) -> dict[str, Any] | None:
    """The clock of the round: seconds left, so that a phone with a wrong clock shows the right time."""
    clock = desk.facts.clock
    if clock is None or not clock["minutes"]:
        return None
    left = float(clock["at"]) + 60 * int(clock["minutes"]) - desk.clock.wall().timestamp()
    return {"round": clock["round"], "left": int(left)}
