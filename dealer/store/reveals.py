"""Who let cards be shown: every reveal is put on record before a card is seen, and never changed."""

from __future__ import annotations

from dataclasses import dataclass

from firmware_bridge.clock import Clock
from firmware_bridge.db import Database


@dataclass(frozen=True, slots=True)
class Reveal:
    """what: the command. source: file or set. board: 0 for all. at: the time of day, for people to read."""

    number: int
    what: str
    source: str
    board: int
    at: str


def record_reveal(database: Database, what: str, source: str, board: int, clock: Clock) -> None:
    """Put a reveal on record. Raises StoreError when that can't be done; then nothing may be shown."""
    with database.transaction() as connection:
        connection.execute(
            "INSERT INTO reveal (what, source, board, at) VALUES (?, ?, ?, ?)",
            (what, source, board, clock.wall().isoformat(timespec="seconds")),
        )


def reveals(database: Database) -> list[Reveal]:
    """All reveals, oldest first."""
    rows = database.query("SELECT number, what, source, board, at FROM reveal ORDER BY number")
    return [Reveal(int(row[0]), str(row[1]), str(row[2]), int(row[3]), str(row[4])) for row in rows]
