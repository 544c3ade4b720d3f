"""Double-dummy tables for the checks at the tables: of deals that somebody has solved before, from ``cache.db``.

Nothing is solved here: a check has to answer at once, and does without what is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from dealer.cards import Seat
from dealer.deal import Deal
from dealer.records.par import Tricks
from dealer.store.dd_cache import CACHE_DB, MIGRATIONS, load_tables
from firmware_bridge.db import Database
from firmware_bridge.errors import FirmwareBridgeError
from terminals.contract import Strain

Solved = Mapping[tuple[Seat, Strain], int]
_PLACE = {Strain.SPADES: 0, Strain.HEARTS: 1, Strain.DIAMONDS: 2, Strain.CLUBS: 3, Strain.NOTRUMP: 4}


def by_declarer(tricks: Tricks) -> Solved:
    """(declarer, strain) -> tricks."""
    return {(seat, strain): tricks[at][seat] for strain, at in _PLACE.items() for seat in Seat}


def solved_deals(directory: Path) -> Callable[[Deal], Solved | None]:
    """Looks a deal up in the data directory's cache; None when there is no cache, or the deal is not in it.

    What was found is remembered. A deal that was not is looked for again when the file has changed.
    """
    path = directory / CACHE_DB
    found: dict[Deal, Solved] = {}
    missing: dict[Deal, float] = {}

    def look_up(deal: Deal) -> Solved | None:
        known = found.get(deal)
        changed = _changed(path)
        if known is not None or changed is None or missing.get(deal) == changed:
            return known
        try:
            database = Database.open(path, MIGRATIONS)
            try:
                tables = load_tables(database, [deal])
            finally:
                database.close()
        except FirmwareBridgeError:
            tables = {}
        if deal not in tables:
            missing[deal] = changed
            return None
        found[deal] = by_declarer(tables[deal])
        return found[deal]

    return look_up


def _changed(path: Path) -> float | None:
    """When the cache was last written, None when there is none."""
    times = []
    for one in (path, path.with_name(path.name + "-wal")):
        try:
            times.append(one.stat().st_mtime_ns)
        except OSError:
            continue
    return max(times, default=None) if path.exists() else None
