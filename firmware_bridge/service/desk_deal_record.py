"""What the dealing screen shows of the past, also after a restart: attempts, sets that were made, machine figures.

It is read from the journal of ``dealing.db`` each time. Blind: states, counts and kinds of trouble, no card, and of a
worn face only that there is one.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

from dealer.health import HealthReport, assess
from dealer.store.health import HealthStore
from dealer.store.journal import AttemptRow, Journal
from dealer.store.schema import DEALING_DB
from firmware_bridge.errors import EntryError

SETS = 12
"""Sets that are listed, the newest first."""
ATTEMPTS = 30


async def record_view(directory: Path, set_id: str) -> dict[str, Any]:
    """``attempts`` at the set in play (or the newest one), ``sets``, ``machines``; the newest first.

    Raises StoreError when the journal can't be read.
    """
    path = directory / DEALING_DB
    if not path.exists():
        return {"attempts": [], "sets": [], "machines": []}
    journal = await asyncio.to_thread(Journal.open, path)
    try:
        names = (await journal.sets())[::-1][:SETS]
        sets = [found for name in names if (found := await _set_view(journal, name))]
        chosen = set_id if set_id in names or not names else names[0]
        attempts = await journal.attempts(chosen) if chosen else []
        health = HealthStore(journal)
        machines = []
        for machine in await health.machines():
            history = await health.history(machine)
            if history:
                machines.append(_machine_view(assess(history, await health.card_troubles(machine))))
    finally:
        await asyncio.to_thread(journal.close)
    return {"attempts": [_attempt_view(one) for one in attempts[::-1][:ATTEMPTS]], "sets": sets, "machines": machines}


async def cleaned(directory: Path, machine: str) -> None:
    """Rollers and optics of this machine have been cleaned. Raises EntryError when it has dealt nothing here."""
    path = directory / DEALING_DB
    known: list[str] = []
    if path.exists():
        journal = await asyncio.to_thread(Journal.open, path)
        try:
            health = HealthStore(journal)
            known = await health.machines()
            if machine in known:
                await health.cleaned(machine)
        finally:
            await asyncio.to_thread(journal.close)
    if machine not in known:
        raise EntryError("no such machine has dealt here.", where=machine[:16], code="no-such-machine")


async def _set_view(journal: Journal, name: str) -> dict[str, Any] | None:
    rows = await journal.rows(name)
    if not rows:
        return None
    attempts = await journal.attempts(name)
    boards = [key.board for key in rows]
    return {
        "id": name[:8],
        "first": min(boards),
        "last": max(boards),
        "copies": max(key.copy for key in rows),
        "planned": len(rows),
        "states": dict(Counter(row.state.value for row in rows.values())),
        "at": max((one.ended_at or one.began_at for one in attempts), default=""),
    }


def _attempt_view(one: AttemptRow) -> dict[str, Any]:
    return {
        "board": one.key.board,
        "copy": one.key.copy,
        "kind": one.kind,
        "state": one.state.value,
        "reasons": [reason.value for reason in one.reasons],
        "at": one.ended_at or one.began_at,
    }


def _machine_view(report: HealthReport) -> dict[str, Any]:
    return {
        "machine": report.machine_id,
        "attempts": report.attempts,
        "cards": report.cards,
        "feed_ms": float(f"{report.feed_ms:.3f}"),
        "feed_drift": float(f"{report.feed_drift:.5f}"),
        "margin": float(f"{report.margin:.3f}"),
        "margin_drift": float(f"{report.margin_drift:.5f}"),
        "false_reads_per_100_packs": float(f"{report.per_100_packs:.4f}"),
        "troubles": report.troubles,
        "warnings": [{"code": one.code, "text": one.text} for one in report.warnings],
    }
