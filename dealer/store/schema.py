"""The tables of ``dealing.db``: which physical boards exist, what state they are in, and every attempt at them.

The journal holds no card: a board is known by the digest of its deal (protocol, section 6). ``kept_board`` does hold
the deals of sets that are in play (dealer.store.sets). Device ids are 64 bits without a
sign, which SQLite does not have, so they are kept as 16 hex digits.
"""

from __future__ import annotations

from firmware_bridge.db import Migration

DEALING_DB = "dealing.db"
"""Name of the file in the data directory."""

_JOURNAL = Migration(
    1,
    (
        """CREATE TABLE deal_set (
            set_id TEXT NOT NULL PRIMARY KEY,
            registered_at TEXT NOT NULL
        ) WITHOUT ROWID""",
        """CREATE TABLE set_board (
            set_id TEXT NOT NULL REFERENCES deal_set (set_id),
            board INTEGER NOT NULL,
            digest BLOB NOT NULL CHECK (length(digest) = 8),
            PRIMARY KEY (set_id, board)
        ) WITHOUT ROWID""",
        """CREATE TABLE board_copy (
            set_id TEXT NOT NULL,
            board INTEGER NOT NULL,
            copy INTEGER NOT NULL CHECK (copy > 0),
            state TEXT NOT NULL CHECK (state IN
                ('planned', 'dealing', 'good', 'unconfirmed', 'suspect', 'failed', 'unknown')),
            attempts INTEGER NOT NULL DEFAULT 0,
            job_id INTEGER NOT NULL DEFAULT 0,
            machine_id TEXT NOT NULL DEFAULT '',
            boot_id INTEGER NOT NULL DEFAULT 0,
            reasons TEXT NOT NULL DEFAULT '',
            changed_at TEXT NOT NULL,
            PRIMARY KEY (set_id, board, copy),
            FOREIGN KEY (set_id, board) REFERENCES set_board (set_id, board)
        ) WITHOUT ROWID""",
        """CREATE TABLE attempt (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            set_id TEXT NOT NULL,
            board INTEGER NOT NULL,
            copy INTEGER NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('deal', 'read')),
            job_id INTEGER NOT NULL,
            machine_id TEXT NOT NULL,
            boot_id INTEGER NOT NULL,
            state TEXT NOT NULL,
            reasons TEXT NOT NULL DEFAULT '',
            fault INTEGER NOT NULL DEFAULT 0,
            cards INTEGER NOT NULL DEFAULT 0,
            began_at TEXT NOT NULL,
            ended_at TEXT NOT NULL DEFAULT ''
        )""",
        "CREATE INDEX attempt_by_board ON attempt (set_id, board, copy)",
        "CREATE INDEX attempt_by_job ON attempt (job_id)",
    ),
)

_KEPT_SETS = Migration(
    2,
    (
        """CREATE TABLE kept_set (
            set_id TEXT NOT NULL PRIMARY KEY,
            origin TEXT NOT NULL,
            fingerprint TEXT NOT NULL
        ) WITHOUT ROWID""",
        """CREATE TABLE kept_board (
            set_id TEXT NOT NULL REFERENCES kept_set (set_id),
            board INTEGER NOT NULL,
            routing BLOB NOT NULL CHECK (length(routing) = 13),
            PRIMARY KEY (set_id, board)
        ) WITHOUT ROWID""",
    ),
)

_HISTORY = Migration(
    3,
    (
        """CREATE TABLE history_set (
            number INTEGER PRIMARY KEY,
            set_id TEXT NOT NULL UNIQUE,
            origin TEXT NOT NULL,
            dealt_on TEXT NOT NULL
        )""",
        """CREATE TABLE history (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 16),
            set_number INTEGER NOT NULL,
            board INTEGER NOT NULL
        ) WITHOUT ROWID""",
    ),
)

_REVEALS = Migration(
    4,
    (
        """CREATE TABLE reveal (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            what TEXT NOT NULL,
            source TEXT NOT NULL,
            board INTEGER NOT NULL,
            at TEXT NOT NULL
        )""",
        """CREATE TRIGGER reveal_no_update BEFORE UPDATE ON reveal
            BEGIN SELECT RAISE(ABORT, 'reveal is append-only'); END""",
        """CREATE TRIGGER reveal_no_delete BEFORE DELETE ON reveal
            BEGIN SELECT RAISE(ABORT, 'reveal is append-only'); END""",
    ),
)

_HEALTH = Migration(
    5,
    (
        """CREATE TABLE machine_health (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            machine_id TEXT NOT NULL,
            odd INTEGER NOT NULL,
            cards INTEGER NOT NULL,
            feed_ms REAL NOT NULL,
            margin REAL NOT NULL,
            margin_low INTEGER NOT NULL,
            beam_ms REAL NOT NULL,
            trouble TEXT NOT NULL
        )""",
        "CREATE INDEX machine_health_by_machine ON machine_health (machine_id, number)",
        """CREATE TABLE card_trouble (
            machine_id TEXT NOT NULL,
            card INTEGER NOT NULL,
            times INTEGER NOT NULL,
            PRIMARY KEY (machine_id, card)
        ) WITHOUT ROWID""",
        """CREATE TABLE cleaning (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            machine_id TEXT NOT NULL,
            after INTEGER NOT NULL,
            at TEXT NOT NULL
        )""",
    ),
)

# Early databases call the history "dealt"; whatever a club has on record there goes on counting.
_HISTORY_NAMED = Migration(
    6,
    (
        "CREATE TABLE IF NOT EXISTS dealt_set (number INTEGER PRIMARY KEY, set_id TEXT, origin TEXT, dealt_on TEXT)",
        "CREATE TABLE IF NOT EXISTS dealt (digest BLOB PRIMARY KEY, set_number INTEGER, board INTEGER)",
        """CREATE TABLE IF NOT EXISTS history_set (
            number INTEGER PRIMARY KEY,
            set_id TEXT NOT NULL UNIQUE,
            origin TEXT NOT NULL,
            dealt_on TEXT NOT NULL
        )""",
        """CREATE TABLE IF NOT EXISTS history (
            digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 16),
            set_number INTEGER NOT NULL,
            board INTEGER NOT NULL
        ) WITHOUT ROWID""",
        "INSERT OR IGNORE INTO history_set SELECT number, set_id, origin, dealt_on FROM dealt_set",
        "INSERT OR IGNORE INTO history SELECT digest, set_number, board FROM dealt",
        "DROP TABLE dealt",
        "DROP TABLE dealt_set",
    ),
)

_RETRIES = Migration(7, ("ALTER TABLE machine_health ADD COLUMN retries INTEGER NOT NULL DEFAULT 0",))

MIGRATIONS: tuple[Migration, ...] = (_JOURNAL, _KEPT_SETS, _HISTORY, _REVEALS, _HEALTH, _HISTORY_NAMED, _RETRIES)
