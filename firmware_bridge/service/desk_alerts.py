"""What the director should look at now, the state of every terminal, and the desk's own log, as JSON values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_clock import NEXT as CLOCK_NEXT
from firmware_bridge.service.desk_view import ATTENTION_WORDS, play_json
from firmware_bridge.service.known_clock import words as words_of
from firmware_bridge.wire.numbers import CallState
from terminals.entry import CAUSES
from terminals.scoring.rulings import RulingState
from terminals.store import desk as desk_store
from terminals.store import ledger
from terminals.store.desk import DeviceState
from terminals.store.results import CurrentResult
from terminals.store.values import device_hex
from terminals.sync.recorded import VERIFIER
from terminals.sync.scheduled import unscheduled
from terminals.sync.sense import UNPLANNED, WARNINGS
from terminals.sync.setup import MAX_SECTIONS, EventSetup, section_letter
from terminals.sync.tables import CellState, plan_warnings

LOW_BATTERY = 20
MANY_WAITING = 3
"""Results on a terminal that is there; more of them than this do not just wait for the next moment."""
Add = Callable[..., None]
_CAUSE_CODES = {words: code for code, words in CAUSES.items()}
_HELD = {"after-final": "held-final", "locked-table": "held-locked"}
"""Codes that a result asks for the director with; as mere warnings the same codes have other words."""


def terminals_view(desk: Desk) -> list[dict[str, Any]]:
    """Every device of the roster, those in contact with what they say of themselves."""
    contact = {one.device: one for one in desk.service.collector.terminals}
    out = []
    for device in sorted(desk.service.collector.roster.values(), key=lambda d: (d.section, d.table, d.id)):
        one = contact.get(device.id)
        status = None if one is None else one.status
        out.append(
            {
                "device": device_hex(device.id),
                "state": device.state.value,
                "model": device.model,
                "section": section_letter(device.section) if device.section else None,
                "table": device.table or None,
                "station": None if one is None else one.station,
                "present": bool(one is not None and one.present),
                "round": None if status is None else status.round,
                "waiting": None if status is None else status.waiting,
                "battery": None if status is None or status.battery == 255 else status.battery,
            }
        )
    return out


def alerts_view(desk: Desk, grid: dict[str, Any]) -> list[dict[str, Any]]:
    """What the director should look at, the most urgent first. Each has words, and where to go.

    ``code`` with ``values`` says the same for pages in other languages.
    """
    out: list[dict[str, Any]] = []

    def add(rank: int, kind: str, code: str, text: str, values: dict[str, Any], **more: Any) -> None:
        out.append({"rank": rank, "kind": kind, "code": code, "text": text, "values": values, **more})

    trouble = desk.service.collector.trouble
    if trouble:
        add(0, "store", "store", f"Results can't be stored: {trouble} Terminals keep them.", {"trouble": trouble})
    for station in desk.stations:
        if station.trouble:
            where, why = station.url, station.trouble
            text = f"Base station {where} is not there: {why} Its terminals keep their results."
            add(1, "station", "station", text, {"station": where, "why": why})
    if desk.clock.doubt:
        now = words_of(desk.clock.wall())
        text = f"This computer says it is {now}; that can't be right. {CLOCK_NEXT}"
        add(1, "computer-clock", "computer-clock", text, {"now": now})
    for kept in desk.facts.decided.kept.values():
        if kept.state in (RulingState.PROPOSED, RulingState.APPEALED):
            what = "is under appeal" if kept.counts else "is proposed and does not count yet"
            code, text = f"ruling-{kept.state.value}", f"Ruling {kept.number} {what}."
            add(4, "ruling", code, text, {"ruling": kept.number})
    if desk.profile_trouble:
        name, why = desk.setup.settings.profile, desk.profile_trouble
        text = f"Scores are worked out by the plain profile, not by {name}: {why}"
        add(2, "profile", "profile", text, {"name": name, "trouble": why})
    _calls(desk, add)
    _tables(grid, add)
    _results(desk, add)
    for check in desk.facts.checks[-20:]:
        place = f"{check['section']}{check['table']}"
        hidden = (check["section"], check["board"]) in desk.veil.boards
        causes = [] if hidden else [_CAUSE_CODES.get(cause, cause) for cause in check["causes"]]  # some are words
        words = "an entry looks wrong" if hidden else "; ".join(CAUSES.get(cause, cause) for cause in causes)
        seat = {"number": check["number"], "section": check["section"], "table": check["table"]}
        text = f"Table {place}, board {check['board']}: {words}."
        values = {"place": place, "board": check["board"]}
        add(3, "check", "check-veiled" if hidden else "check", text, values, causes=causes, **seat)
    for alarm in desk.store.read(lambda c: ledger.alarms(c, unseen=True)):
        add(2, "alarm", f"alarm-{alarm.kind}", alarm.text, {"text": alarm.text}, alarm=[alarm.kind, alarm.subject])
    contact = {one.device: one for one in desk.service.collector.terminals}
    for device in desk.service.collector.roster.values():
        one = contact.get(device.id)
        if device.state is not DeviceState.WAITING or one is None or not one.present or one.status is None:
            continue
        wanted = one.status
        if wanted.table and 1 <= wanted.section <= MAX_SECTIONS:
            letter = section_letter(wanted.section)
            place = f"{letter}{wanted.table}"
            held = desk.holder(wanted.section, wanted.table) is not None
            seat = {"section": letter, "table": wanted.table, "held": held}
            text = f"A terminal waits for table {place}."
            add(3, "admission", "admission", text, {"place": place}, device=device_hex(device.id), **seat)
    out.sort(key=lambda alert: alert["rank"])
    return out[:200]


def _calls(desk: Desk, add: Add) -> None:
    """Every call that is not done, also of a table that the event's movement does not have, longest waiting first."""
    for (letter, number), call in desk.facts.calls.items():
        place, coming = f"{letter}{number}", call["state"] == int(CallState.COMING)
        words = f"Table {place}: the director is coming." if coming else f"Table {place} calls the director."
        code, seat = "coming" if coming else "call", {"section": letter, "table": number}
        add(4 if coming else 1, "call", code, words, {"place": place}, **seat)


def _tables(grid: dict[str, Any], add: Add) -> None:
    """Silent terminals, results that wait on one, low batteries, tables behind the room and the board they missed."""
    gaps = _gaps(grid)
    for table in grid["tables"]:
        place = f"{table['section']}{table['table']}"
        seat = {"section": table["section"], "table": table["table"]}
        waiting = table["waiting"]
        if waiting and not table["present"] and table["terminal"]:
            text = f"Table {place}: {waiting} results wait on a terminal that is silent."
            add(2, "silent", "silent-waiting", text, {"place": place, "count": waiting}, **seat)
        elif table["terminal"] and not table["present"] and not table["done"]:
            add(5, "silent", "silent", f"Table {place}: its terminal is silent.", {"place": place}, **seat)
        elif waiting > MANY_WAITING:
            text = f"Table {place}: {waiting} results wait on its terminal and have not arrived."
            add(4, "silent", "waiting", text, {"place": place, "count": waiting}, **seat)
        if table["battery"] is not None and table["battery"] < LOW_BATTERY:
            values = {"place": place, "percent": table["battery"]}
            add(4, "battery", "battery", f"Table {place}: the battery is at {table['battery']} %.", values, **seat)
        if table["behind"] >= 1:
            rounds = "a round" if table["behind"] == 1 else f"{table['behind']} rounds"
            values = {"place": place, "count": table["behind"]}
            add(5, "late", "late", f"Table {place} is {rounds} behind the room.", values, **seat)
        for number, board in gaps.get((table["section"], table["table"]), ()):
            values = {"place": place, "board": board, "round": number}
            text = f"Table {place}: board {board} of round {number} has no result."
            add(3, "missing", "missing", text, values, **seat)


def _gaps(grid: dict[str, Any]) -> dict[tuple[str, int], list[tuple[int, int]]]:
    """Boards without a result of rounds after which the table has entered something: (round, board) by table."""
    missing: dict[tuple[str, int], list[tuple[int, int]]] = {}
    newest: dict[tuple[str, int], int] = {}
    for cell in grid["cells"]:
        seat = (cell["section"], cell["table"])
        if cell["state"] == CellState.MISSING.value:
            missing.setdefault(seat, []).append((cell["round"], cell["board"]))
        else:
            newest[seat] = max(newest.get(seat, 0), cell["round"])
    return {
        seat: [one for one in sorted(boards) if one[0] < newest.get(seat, 0)][:4] for seat, boards in missing.items()
    }


def _results(desk: Desk, add: Add) -> None:
    """Results that ask for the director, and warnings with their cause."""
    for row in desk.rows.values():
        play = play_json(row.play)
        where = f"Board {row.play.board}, {row.play.ns} against {row.play.ew}"
        values = {"board": row.play.board, "ns": row.play.ns, "ew": row.play.ew}
        for code in row.attention:
            text = f"{where}: {ATTENTION_WORDS.get(code, code)}"
            add(2, "attention", _HELD.get(code, code), text, values, play=play)
        if not row.attention:
            for code in dict.fromkeys(
                _ruled(desk, row) if row.ruled else (*row.warnings, *plan_warnings(desk.setup, row))
            ):
                add(3, "warning", code, f"{where}: {WARNINGS.get(code, code)}.", values, play=play)


def _ruled(desk: Desk, row: CurrentResult) -> tuple[str, ...]:
    """A result from the director for two pairs that never meet on the board, until somebody says that it is right.

    Who sat the other way round played what was scheduled, unless the scheduled play has a result too.
    """
    stray = unscheduled(desk.setup, row.play) if UNPLANNED in row.warnings else None
    if stray is None:
        return ()
    other = desk.rows.get(replace(row.play, ns=row.play.ew, ew=row.play.ns)) if stray.reversed else None
    return () if stray.reversed and (other is None or other.content is None) else (UNPLANNED,)


def missing_view(setup: EventSetup, grid: dict[str, Any], section: str, number: int) -> list[dict[str, Any]]:
    """Boards of a round without a result."""
    return [
        {name: cell[name] for name in ("table", "board", "ns", "ew")}
        for cell in grid["cells"]
        if cell["section"] == section and cell["round"] == number and cell["state"] == CellState.MISSING.value
    ]


def log_view(desk: Desk, limit: int = 200) -> list[dict[str, Any]]:
    """The newest events of the desk."""
    event = desk.event
    found = desk.store.read(lambda c: desk_store.desk_events(c, event))[-limit:]
    return [
        {"number": one.number, "kind": one.kind, "actor": one.actor, "wall": one.wall, "data": dict(one.data)}
        for one in reversed(found)
        if one.kind not in ("planned", "pair-code", VERIFIER)
    ]
