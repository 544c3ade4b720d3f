"""``cache.db``: double-dummy tables by deal, so that a record printed twice is solved once. May be deleted any time.

The key is a digest of the deal's index: the file does not hold a deal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from dealer.deal import INDEX_BYTES, Deal
from dealer.records.par import Tricks
from firmware_bridge.db import Database, Migration

CACHE_DB = "cache.db"
MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        1,
        (
            """CREATE TABLE double_dummy (
                deal BLOB NOT NULL PRIMARY KEY CHECK (length(deal) = 16),
                tricks BLOB NOT NULL CHECK (length(tricks) = 20)
            ) WITHOUT ROWID""",
        ),
    ),
)
_TAG = b"firmware-bridge double dummy\x00"


def _key(deal: Deal) -> bytes:
    return hashlib.sha256(_TAG + deal.index.to_bytes(INDEX_BYTES, "big")).digest()[:16]


def load_tables(database: Database, deals: Sequence[Deal]) -> dict[Deal, Tricks]:
    """The tables that are known."""
    found: dict[Deal, Tricks] = {}
    for deal in deals:
        rows = database.query("SELECT tricks FROM double_dummy WHERE deal = ?", (_key(deal),))
        if rows:
            body = bytes(rows[0][0])
            found[deal] = tuple(tuple(body[4 * strain : 4 * strain + 4]) for strain in range(5))
    return found


def store_tables(database: Database, tables: dict[Deal, Tricks]) -> None:
    """Keep tables; one that is there already stays."""
    with database.transaction() as connection:
        for deal, tricks in tables.items():
            body = bytes(number for row in tricks for number in row)
            connection.execute("INSERT OR IGNORE INTO double_dummy (deal, tricks) VALUES (?, ?)", (_key(deal), body))
