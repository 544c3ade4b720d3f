"""The desk and the computer's clock: who is asked about it, and what follows when it is put right."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from firmware_bridge.errors import EntryError
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_values import Body, text_of
from firmware_bridge.service.known_clock import words
from terminals.store import desk as desk_store
from terminals.sync.period import shift

KIND = "computer-clock"
NEXT = "Say what time it is: firmware-bridge td clock 19:10, or that it is right: firmware-bridge td clock right."


def look(desk: Desk) -> None:
    """At the start: can the clock be right?"""
    desk.clock.look(desk.store.read(desk_store.newest_wall))


async def watch(desk: Desk) -> None:
    """Now and then: a clock that was put forward or back ends no correction period and no round."""
    moved = desk.clock.jumped()
    if moved:
        await _moved(desk, moved, "")


async def told(desk: Desk, body: Body) -> dict[str, Any]:
    """The director says what time it is, or that the computer's clock is right. Raises EntryError."""
    text, actor = text_of(body, "at", 30, ""), text_of(body, "actor", 40, "")
    moved = desk.clock.tell(_moment(desk, text) if text else None)
    await _moved(desk, moved, actor)
    return {"now": desk.wall(), "shown": words(desk.clock.wall())}


async def _moved(desk: Desk, moved: float, actor: str) -> None:
    event, wall = desk.event, desk.wall()
    await desk.submit(lambda connection: shift(connection, event, moved, wall))
    clock = desk.facts.clock
    if moved and clock is not None:
        await desk.log("clock", actor, **{**clock, "at": float(clock["at"]) + moved})
    await desk.log(KIND, actor, moved=round(moved))


def _moment(desk: Desk, text: str) -> datetime:
    """``19:10`` of the present day, ``2026-11-29 19:10`` by this computer's time zone, or what a page sends, in UTC."""
    if re.fullmatch(r"\d{1,2}:\d\d", text):
        hour, minute = (int(part) for part in text.split(":"))
        today = desk.clock.wall().astimezone()
        if hour < 24 and minute < 60:
            return today.replace(hour=hour, minute=minute, second=0, microsecond=0)
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", text):
            return datetime.fromisoformat(text)
        if re.fullmatch(r"\d{4}-\d\d-\d\d[ T]\d{1,2}:\d\d", text):
            return datetime.fromisoformat(f"{text[:10]}T{text[11:].zfill(5)}").astimezone()
    except (ValueError, OverflowError, OSError):
        pass
    raise EntryError(f"{text!r} is no time.", next_step="Write 19:10, or 2026-11-29 19:10.", code="bad-value")
