"""Acts of the desk on the session as a whole: calls, messages, terminals, publication, penalties, settings.

They are listed, with who may do them, in ``desk_actions``.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from firmware_bridge.errors import EntryError
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_alerts import missing_view
from firmware_bridge.service.desk_lock import lock_of
from firmware_bridge.service.desk_values import Body, by_of, device_of, seat_of, text_of, whole_of
from firmware_bridge.service.desk_view import clock_view, grid_view
from terminals.scoring.lines import PenaltyUnit
from terminals.scoring.profile_file import load_profile
from terminals.settings import SECTION_SETTINGS
from terminals.store import ledger
from terminals.sync.director import Director
from terminals.sync.period import publish as publish_event
from terminals.sync.setup import section_letter, section_number


async def lock(desk: Desk, body: Body) -> dict[str, Any]:
    (section, table), by, setup = seat_of(body), by_of(desk, body), desk.setup
    locked = bool(body.get("locked", True))
    await desk.submit(lambda connection: Director(connection, setup, by).lock(section, table, locked=locked))
    return {"locked": locked}


async def message(desk: Desk, body: Body) -> dict[str, Any]:
    words = text_of(body, "text", 240)
    if not words:
        raise EntryError("a message has words.", code="bad-value")
    section = section_number(text_of(body, "section", 3)) if body.get("section") else 0
    table = whole_of(body, "table", 0, 255, 0)
    known = desk.setup.section(section)
    if section and (known is None or (table and not desk.setup.has_table(section, table))):
        place = f"table {section_letter(section)}{table}" if table else f"section {section_letter(section)}"
        raise EntryError("the event has no such place.", where=place, code="no-table")
    sends = desk.service.collector.text(words, section, table, urgent=bool(body.get("urgent", True)))
    desk.service.send(sends)
    await desk.log("message", text_of(body, "actor", 40, ""), text=words, section=section, table=table)
    return {"terminals": len(sends)}


async def answer_call(desk: Desk, body: Body) -> dict[str, Any]:
    section, table = seat_of(body)
    state = whole_of(body, "state", 2, 3)
    await desk.log("call-answered", text_of(body, "actor", 40, ""), section=section, table=table, state=state)
    return {"state": state}


async def close_round(desk: Desk, body: Body) -> dict[str, Any]:
    section, number = text_of(body, "section", 3, "A").upper(), whole_of(body, "round", 1, 255)
    found = desk.setup.section(section_number(section))
    movement = None if found is None else found.movement
    rounds = 0 if found is None else number if movement is None else movement.rounds
    if number > rounds:
        raise EntryError("there is no such round.", where=f"section {section}, round {number}", code="no-round")
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


async def admit(desk: Desk, body: Body) -> dict[str, Any]:
    letter, table = seat_of(body)
    await desk.admit(device_of(body), section_number(letter), table)
    return {"section": letter, "table": table}


async def admit_all(desk: Desk, body: Body) -> dict[str, Any]:
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


async def replace(desk: Desk, body: Body) -> dict[str, Any]:
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


async def refuse(desk: Desk, body: Body) -> dict[str, Any]:
    await desk.refuse(device_of(body))
    return {}


async def pair_terminal(desk: Desk, body: Body) -> dict[str, Any]:
    """Give a terminal a key of its own, shown this once. key: one that it has already, 32 hex digits."""
    device, given = device_of(body), text_of(body, "key", 64, "").replace(" ", "")
    try:
        key = bytes.fromhex(given) if given else None
    except ValueError:
        raise EntryError("a key is 32 hexadecimal digits.", code="bad-key") from None
    made = await desk.pair(device, key)
    await desk.log("paired", text_of(body, "actor", 40, ""), device=f"{device:016x}")
    return {"device": f"{device:016x}", "key": made.hex()}


async def publish(desk: Desk, body: Body) -> dict[str, Any]:
    setup, actor, wall = desk.setup, by_of(desk, body).actor, desk.wall()
    now = desk.clock.wall().timestamp()
    await desk.submit(lambda connection: publish_event(connection, setup, now, actor, wall))
    return {"ends_at": desk.period.ends_at}


async def live(desk: Desk, body: Body) -> dict[str, Any]:
    on = bool(body.get("on", True))
    await desk.log("live", text_of(body, "actor", 40, ""), on=on)
    return {"live": on}


async def clock(desk: Desk, body: Body) -> dict[str, Any]:
    number, minutes = whole_of(body, "round", 0, 255), whole_of(body, "minutes", 0, 240)
    at = desk.clock.wall().timestamp()
    await desk.log("clock", text_of(body, "actor", 40, ""), round=number, minutes=minutes, at=at)
    desk.hub.tell_all({"kind": "CLOCK", "clock": clock_view(desk)})
    return {"at": at}


async def resend(desk: Desk, body: Body) -> dict[str, Any]:
    """Ask a terminal for its records again, as far as it still holds them."""
    journal = whole_of(body, "journal", 1, 2**32 - 1)
    sends = desk.service.collector.resend(device_of(body), journal, whole_of(body, "from_seq", 1, 2**32 - 1, 1))
    desk.service.send(sends)
    return {"asked": bool(sends)}


async def reveal(desk: Desk, body: Body) -> dict[str, Any]:
    by, setup = by_of(desk, body), desk.setup
    section, board = text_of(body, "section", 3).upper(), whole_of(body, "board", 1, 999)
    await desk.submit(lambda connection: Director(connection, setup, by).reveal(section, board))
    desk.stream.publish(b"event: reset\ndata: {}\n\n")
    return {}


async def penalty(desk: Desk, body: Body) -> dict[str, Any]:
    """Laws 90 and 91: it touches one contestant's total and no board; kept as an event, taken back by another."""
    if "undo" in body:
        number = whole_of(body, "undo", 1, 10**12)
        if number not in desk.facts.penalties:
            raise EntryError("there is no such penalty.", code="no-such-penalty")
        await desk.log("penalty-undone", by_of(desk, body).actor, penalty=number)
        return {"penalties": list(desk.facts.penalties.values())}
    letter, pair = text_of(body, "section", 3, "A").upper(), whole_of(body, "pair", 1, 4095)
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


async def forget_code(desk: Desk, body: Body) -> dict[str, Any]:
    letter, pair = text_of(body, "section", 3, "A").upper(), whole_of(body, "pair", 1, 4095)
    await desk.log("pair-code-forgotten", text_of(body, "actor", 40, ""), section=letter, pair=pair)
    return {}


async def _section_settings(desk: Desk, letter: str, values: Mapping[str, Any], actor: str) -> None:
    setup = desk.setup
    section = setup.section_called(letter)
    if section is None:
        raise EntryError("the event has no such section.", where=letter, code="no-such-section")
    alien = sorted(set(values) - set(SECTION_SETTINGS))
    if alien:
        raise EntryError(f"{alien[0][:40]} is a setting of the whole event.", code="bad-setting")
    own = setup.settings_of(section.number).changed(values)
    await desk.change_setup(setup.with_settings({section.number: own}))
    await desk.log("settings", actor, names=sorted(values), section=letter)


async def settings(desk: Desk, body: Body) -> dict[str, Any]:
    async with lock_of(desk):  # a change of plan at the same moment is not written over
        return await _settings(desk, body)


async def _settings(desk: Desk, body: Body) -> dict[str, Any]:
    values = body.get("settings")
    if not isinstance(values, Mapping):
        raise EntryError("settings are wanted, names with values.", code="bad-value")
    setup, letter = desk.setup, text_of(body, "section", 3, "").upper()
    if letter:
        await _section_settings(desk, letter, values, text_of(body, "actor", 40, ""))
        return {}
    new = setup.settings.changed(values)
    if "profile" in values:
        load_profile(new.profile)  # one that can't be used is refused here, not found out when the evening is ranked
    await desk.change_setup(setup.with_changed_settings(values))
    await desk.log("settings", text_of(body, "actor", 40, ""), names=sorted(values))
    return {}


async def seen_alert(desk: Desk, body: Body) -> dict[str, Any]:
    if "number" in body:
        await desk.log("entry-check-seen", text_of(body, "actor", 40, ""), number=whole_of(body, "number", 1, 10**12))
        return {}
    kind, subject = text_of(body, "kind", 60), text_of(body, "subject", 200)
    await desk.submit(lambda connection: ledger.mark_alarm_seen(connection, kind, subject))
    await desk.log("alarm-seen", text_of(body, "actor", 40, ""), alarm=kind, subject=subject)
    return {}
