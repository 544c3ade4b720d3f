"""Deal sets kept between runs, so that an evening goes on with the boards it began with.

The deals are cards: the rows hold routings as bytes, never text, the file belongs to its owner only, and nothing but
the dealing job and the hand records reads them.
"""

from __future__ import annotations

from dealer.board import Board
from dealer.deal import Deal
from dealer.generate import DealSet, Origin
from firmware_bridge.db import Database
from firmware_bridge.errors import StoreError


def save_set(database: Database, deals: DealSet) -> None:
    """Keep a set, or the boards by which a kept one was extended.

    Raises StoreError when a kept board of this set has another deal: a set that is in play never changes.
    """
    with database.transaction() as connection:
        connection.execute(
            "INSERT OR IGNORE INTO kept_set (set_id, origin, fingerprint) VALUES (?, ?, ?)",
            (deals.id, deals.origin.value, deals.fingerprint),
        )
        for board in deals.boards:
            rows = connection.execute(
                "SELECT routing FROM kept_board WHERE set_id = ? AND board = ?", (deals.id, board.number)
            ).fetchall()
            if not rows:
                connection.execute(
                    "INSERT INTO kept_board (set_id, board, routing) VALUES (?, ?, ?)",
                    (deals.id, board.number, board.deal.routing),
                )
            elif bytes(rows[0][0]) != board.deal.routing:
                raise StoreError(
                    f"board {board.number} of this set is kept with another deal.",
                    where=str(database.path),
                    next_step="Use the file that the set was begun with, or another data directory.",
                    code="set-differs",
                )


def load_set(database: Database, set_id: str) -> DealSet | None:
    """The set with that id, boards in ascending order; None if it is not kept here."""
    rows = database.query("SELECT origin, fingerprint FROM kept_set WHERE set_id = ?", (set_id,))
    if not rows:
        return None
    boards = database.query("SELECT board, routing FROM kept_board WHERE set_id = ? ORDER BY board", (set_id,))
    return DealSet(
        set_id,
        Origin(rows[0][0]),
        tuple(Board(int(number), Deal.from_routing(bytes(routing))) for number, routing in boards),
        str(rows[0][1]),
    )
