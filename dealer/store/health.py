"""Health figures of dealing machines in ``dealing.db``: one row an attempt, and how often a face was hard to read.

Of a board only the parity is kept (the colour of its pack), of a card only its face over all packs: nothing here tells
a deal.
"""

from __future__ import annotations

from collections import Counter

from dealer.health import BoardHealth, Trouble
from dealer.store.journal import Journal
from firmware_bridge.clock import Clock, SystemClock
from firmware_bridge.db import Connection

KEPT = 5000
"""Attempts kept per machine; a busy club makes as many in a year."""


class HealthStore:
    """The health tables of the file that a journal has open. Every method raises StoreError like the journal's."""

    def __init__(self, journal: Journal, clock: Clock | None = None) -> None:
        self._journal = journal
        self._clock = clock or SystemClock()

    async def record(self, item: BoardHealth) -> None:
        """Keep the figures of one attempt."""

        def job(connection: Connection) -> None:
            connection.execute(
                "INSERT INTO machine_health (machine_id, odd, cards, feed_ms, margin, margin_low, beam_ms, trouble,"
                " retries) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    item.machine_id,
                    item.board % 2,
                    item.cards,
                    item.feed_ms,
                    item.margin,
                    item.margin_low,
                    item.beam_ms,
                    item.trouble.value if item.trouble is not None else "",
                    item.retries,
                ),
            )
            connection.execute(
                "DELETE FROM machine_health WHERE machine_id = ? AND number <= (SELECT number FROM machine_health"
                " WHERE machine_id = ? ORDER BY number DESC LIMIT 1 OFFSET ?)",
                (item.machine_id, item.machine_id, KEPT),
            )
            if item.doubtful is not None:
                connection.execute(
                    "INSERT INTO card_trouble (machine_id, card, times) VALUES (?, ?, 1)"
                    " ON CONFLICT (machine_id, card) DO UPDATE SET times = times + 1",
                    (item.machine_id, item.doubtful),
                )

        await self._journal.submit(job)

    async def history(self, machine_id: str) -> list[BoardHealth]:
        """Attempts since the machine was last cleaned, oldest first. ``board`` is 1 for odd boards, 0 for even ones."""

        def job(connection: Connection) -> list[BoardHealth]:
            rows = connection.execute(
                "SELECT odd, cards, feed_ms, margin, margin_low, beam_ms, trouble, retries FROM machine_health"
                " WHERE machine_id = ? AND number > (SELECT coalesce(max(after), 0) FROM cleaning WHERE machine_id = ?)"
                " ORDER BY number",
                (machine_id, machine_id),
            ).fetchall()
            return [
                BoardHealth(
                    machine_id,
                    int(odd),
                    int(cards),
                    float(feed),
                    float(margin),
                    int(low),
                    float(beam),
                    Trouble(trouble) if trouble else None,
                    retries=int(retries),
                )
                for odd, cards, feed, margin, low, beam, trouble, retries in rows
            ]

        return await self._journal.submit(job)

    async def card_troubles(self, machine_id: str) -> Counter[int]:
        """How often each face 0-51 was the one over which a board stopped."""

        def job(connection: Connection) -> Counter[int]:
            rows = connection.execute(
                "SELECT card, times FROM card_trouble WHERE machine_id = ?", (machine_id,)
            ).fetchall()
            return Counter({int(card): int(times) for card, times in rows})

        return await self._journal.submit(job)

    async def machines(self) -> list[str]:
        """Ids of all machines with figures, 16 hex digits each."""

        def job(connection: Connection) -> list[str]:
            rows = connection.execute("SELECT DISTINCT machine_id FROM machine_health ORDER BY machine_id").fetchall()
            return [str(row[0]) for row in rows]

        return await self._journal.submit(job)

    async def cleaned(self, machine_id: str) -> None:
        """Rollers and optics have been cleaned: drifts count from here."""

        def job(connection: Connection) -> None:
            connection.execute(
                "INSERT INTO cleaning (machine_id, after, at)"
                " SELECT ?, coalesce(max(number), 0), ? FROM machine_health WHERE machine_id = ?",
                (machine_id, self._clock.wall().isoformat(timespec="seconds"), machine_id),
            )
            connection.execute("DELETE FROM card_trouble WHERE machine_id = ?", (machine_id,))

        await self._journal.submit(job)
