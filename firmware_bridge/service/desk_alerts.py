"""What the director should look at now, the state of every terminal, and the desk's own log, as JSON values."""

from __future__ import annotations

from typing import Any

from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_view import ATTENTION_WORDS, play_json
from terminals.entry import CAUSES
from terminals.store import desk as desk_store
from terminals.store import ledger
from terminals.store.desk import DeviceState
from terminals.store.values import device_hex
from terminals.sync.sense import WARNINGS
from terminals.sync.setup import MAX_SECTIONS, EventSetup, section_letter
from terminals.sync.tables import CellState, plan_warnings

LOW_BATTERY = 20


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
    """What the director should look at, the most urgent first. Each has words, and where to go."""
    out: list[dict[str, Any]] = []

    def add(rank: int, kind: str, text: str, **more: Any) -> None:
        out.append({"rank": rank, "kind": kind, "text": text, **more})

    if desk.service.collector.trouble:
        add(0, "store", f"Results can't be stored: {desk.service.collector.trouble} Terminals keep them.")
    if desk.profile_trouble:
        name = desk.setup.settings.profile
        add(2, "profile", f"Scores are worked out by the plain profile, not by {name}: {desk.profile_trouble}")
    for table in grid["tables"]:
        place = f"{table['section']}{table['table']}"
        seat = {"section": table["section"], "table": table["table"]}
        if table["call"] == 1:
            add(1, "call", f"Table {place} calls the director.", **seat)
        if table["waiting"] and not table["present"] and table["terminal"]:
            add(2, "silent", f"Table {place}: {table['waiting']} results wait on a terminal that is silent.", **seat)
        elif table["terminal"] and not table["present"] and not table["done"]:
            add(5, "silent", f"Table {place}: its terminal is silent.", **seat)
        if table["battery"] is not None and table["battery"] < LOW_BATTERY:
            add(4, "battery", f"Table {place}: the battery is at {table['battery']} %.", **seat)
        if table["behind"] >= 1:
            rounds = "a round" if table["behind"] == 1 else f"{table['behind']} rounds"
            add(5, "late", f"Table {place} is {rounds} behind the room.", **seat)
    for row in desk.rows.values():
        play = play_json(row.play)
        where = f"Board {row.play.board}, {row.play.ns} against {row.play.ew}"
        for code in row.attention:
            add(2, "attention", f"{where}: {ATTENTION_WORDS.get(code, code)}", play=play)
        if not row.attention and not row.ruled:
            for code in dict.fromkeys((*row.warnings, *plan_warnings(desk.setup, row))):
                add(3, "warning", f"{where}: {WARNINGS.get(code, code)}.", play=play)
    for check in desk.facts.checks[-20:]:
        words = "; ".join(CAUSES.get(cause, cause) for cause in check["causes"])  # terminals' checks leave codes
        hidden = (check["section"], check["board"]) in desk.veil.boards
        text = f"Table {check['section']}{check['table']}, board {check['board']}: " + (
            "an entry looks wrong." if hidden else f"{words}."
        )
        add(3, "check", text, number=check["number"], section=check["section"], table=check["table"])
    for alarm in desk.store.read(lambda c: ledger.alarms(c, unseen=True)):
        add(2, "alarm", alarm.text, alarm=[alarm.kind, alarm.subject])
    contact = {one.device: one for one in desk.service.collector.terminals}
    for device in desk.service.collector.roster.values():
        one = contact.get(device.id)
        if device.state is not DeviceState.WAITING or one is None or not one.present or one.status is None:
            continue
        wanted = one.status
        if wanted.table and 1 <= wanted.section <= MAX_SECTIONS:
            letter = section_letter(wanted.section)
            text = f"A terminal waits for table {letter}{wanted.table}."
            held = desk.holder(wanted.section, wanted.table) is not None
            seat = {"section": letter, "table": wanted.table, "held": held}
            add(3, "admission", text, device=device_hex(device.id), **seat)
    out.sort(key=lambda alert: alert["rank"])
    return out[:200]


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
        if one.kind not in ("planned", "pair-code")
    ]
