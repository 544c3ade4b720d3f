"""The SQL of the club's history: a table of 16-byte digests of every deal this club ever dealt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from dealer.generate import Origin
from dealer.history import DIGEST_BYTES, Earlier, repeat_is_a_fault
from firmware_bridge.db import Connection, Database
from firmware_bridge.errors import DealError

_CHUNK = 8192

# One statement looks at thousands of digests that are handed over as one blob; the counter cuts it up again.
_COUNTER = """WITH RECURSIVE counter (i) AS (
    SELECT 0 UNION ALL SELECT i + 1 FROM counter WHERE i + 1 < ?2
)"""
_FIND = (
    _COUNTER
    + """
SELECT counter.i, history.board, history_set.set_id, history_set.dealt_on
FROM counter JOIN history ON history.digest = substr(?1, counter.i * 16 + 1, 16)
JOIN history_set ON history_set.number = history.set_number"""
)
_ADD = (
    _COUNTER
    + """
INSERT OR IGNORE INTO history (digest, set_number, board)
SELECT substr(?1, i * 16 + 1, 16), ?3, CAST(substr(?4, i * 8 + 1, 8) AS INTEGER) FROM counter"""
)


def record_deals(
    database: Database,
    digests: Sequence[bytes],
    numbers: Sequence[int],
    *,
    set_id: str,
    origin: Origin,
    dealt_on: str,
) -> list[Earlier]:
    """Look for the deals in the history and put the new ones on record, in one transaction.

    Returns the deals that were there already. When that is a fault for this origin, nothing is recorded. A deal that
    this very set brought in earlier (the set is recorded again, or extended) is no repeat.
    """
    # In order of the digests every row goes to the end of a page: four times as fast as at random.
    rows = sorted(zip(digests, numbers, strict=True))
    return record_rows(
        database,
        b"".join(digest for digest, _ in rows),
        [number for _, number in rows],
        set_id=set_id,
        origin=origin,
        dealt_on=dealt_on,
    )


def record_rows(
    database: Database, digests: bytes, numbers: Sequence[int], *, set_id: str, origin: Origin, dealt_on: str
) -> list[Earlier]:
    """``record_deals`` for digests that are in ascending order and in one piece, 16 bytes each."""
    width = DIGEST_BYTES
    with database.transaction() as connection:
        repeats = [earlier for earlier in _find(connection, digests, numbers) if earlier.set_id != set_id]
        if repeats and repeat_is_a_fault(origin):
            return repeats
        row = _set_row(connection, set_id, origin, dealt_on)
        for start in range(0, len(numbers), _CHUNK):
            part = numbers[start : start + _CHUNK]
            boards = (b"%8d" * len(part)) % tuple(part)
            blob = digests[start * width : (start + len(part)) * width]
            connection.execute(_ADD, (blob, len(part), row, boards))
    return repeats


@contextmanager
def recording(
    database: Database, *, set_id: str, origin: Origin, dealt_on: str
) -> Iterator[Callable[[bytes, bytes, int], None]]:
    """For sets too large to look at in one piece: gives a function that records a block of new deals.

    It takes digests in ascending order, board numbers as eight digits each, and how many; it raises DealError when a
    deal is on record already, in this set too. All is committed when the block ends well, nothing when it does not.
    """
    with database.transaction() as connection:
        row = _set_row(connection, set_id, origin, dealt_on)

        def record(digests: bytes, boards: bytes, count: int) -> None:
            connection.execute(_ADD, (digests, count, row, boards))
            added = int(connection.execute("SELECT changes()").fetchone()[0])
            if added != count:
                raise DealError(
                    f"{count - added} of these deals were dealt here before; chance does not do that.",
                    next_step="Do not use this set. Check the computer's random generator and the data directory.",
                    code="dealt-before",
                )

        yield record


def _set_row(connection: Connection, set_id: str, origin: Origin, dealt_on: str) -> int:
    connection.execute(
        "INSERT OR IGNORE INTO history_set (set_id, origin, dealt_on) VALUES (?, ?, ?)",
        (set_id, origin.value, dealt_on),
    )
    return int(connection.execute("SELECT number FROM history_set WHERE set_id = ?", (set_id,)).fetchone()[0])


def find_deals(database: Database, digests: Sequence[bytes], numbers: Sequence[int]) -> list[Earlier]:
    """The deals of these that are on record."""
    with database.transaction() as connection:
        return _find(connection, b"".join(digests), numbers)


def _find(connection: Connection, digests: bytes, numbers: Sequence[int]) -> list[Earlier]:
    found: list[Earlier] = []
    if connection.execute("SELECT 1 FROM history LIMIT 1").fetchone() is None:
        return found
    for start in range(0, len(numbers), _CHUNK):
        count = min(_CHUNK, len(numbers) - start)
        part = digests[start * DIGEST_BYTES : (start + count) * DIGEST_BYTES]
        for place, board, set_id, dealt_on in connection.execute(_FIND, (part, count)).fetchall():
            found.append(Earlier(numbers[start + place], int(board), str(set_id), str(dealt_on)))
    return sorted(found, key=lambda earlier: earlier.board)


def summary(database: Database) -> tuple[int, int]:
    """Number of deals and of sets on record."""
    deals = database.query("SELECT count(*) FROM history")[0][0]
    sets = database.query("SELECT count(*) FROM history_set")[0][0]
    return int(deals), int(sets)


def list_sets(database: Database, limit: int = 1000) -> list[tuple[str, str, str, int]]:
    """Set id, origin, day and number of deals of each set, newest first."""
    rows = database.query(
        """SELECT s.set_id, s.origin, s.dealt_on, (SELECT count(*) FROM history AS d WHERE d.set_number = s.number)
        FROM history_set AS s ORDER BY s.number DESC LIMIT ?""",
        (limit,),
    )
    return [(str(set_id), str(origin), str(day), int(count)) for set_id, origin, day, count in rows]


assert DIGEST_BYTES == 16, "the statements above cut the blob every 16 bytes"
