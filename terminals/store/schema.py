"""The tables of ``events.db``, as numbered migrations. docs/tables.md explains them.

Ids of 64 bits are stored as 16 hexadecimal digits (SQLite's integers are signed). Records and events are append-only,
and the database itself refuses to change or delete them. Everything in ``current_result`` follows from
``result_event`` and can be rebuilt. Wall times are texts for people; nothing is ordered by them.
"""

from __future__ import annotations

from firmware_bridge.db import Migration


def _append_only(table: str) -> tuple[str, ...]:
    return tuple(
        f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
        for verb in ("UPDATE", "DELETE")
    )


_FIRST = (
    """CREATE TABLE event (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        setup TEXT NOT NULL,
        plan_version INTEGER NOT NULL,
        active INTEGER NOT NULL DEFAULT 0,
        created TEXT NOT NULL
    ) WITHOUT ROWID""",
    "CREATE UNIQUE INDEX event_active ON event(active) WHERE active = 1",
    """CREATE TABLE device (
        id TEXT PRIMARY KEY,
        state TEXT NOT NULL CHECK (state IN ('waiting', 'admitted', 'refused')),
        section INTEGER NOT NULL DEFAULT 0,
        place INTEGER NOT NULL DEFAULT 0,
        key BLOB,
        model TEXT NOT NULL DEFAULT '',
        firmware TEXT NOT NULL DEFAULT '',
        note TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID""",
    # One admitted terminal a table; place 0 is no table.
    "CREATE UNIQUE INDEX device_place ON device(section, place) WHERE state = 'admitted' AND place > 0",
    """CREATE TABLE journal (
        device TEXT NOT NULL,
        journal INTEGER NOT NULL,
        upto INTEGER NOT NULL,
        PRIMARY KEY (device, journal)
    ) WITHOUT ROWID""",
    # In a table WITHOUT ROWID the columns of the key come first: quick_check of some SQLite versions calls others NULL.
    # From which number on the records of a journal belong to an event; a journal may live for several evenings.
    """CREATE TABLE journal_event (
        device TEXT NOT NULL,
        journal INTEGER NOT NULL,
        event TEXT NOT NULL,
        first INTEGER NOT NULL,
        PRIMARY KEY (device, journal, event)
    ) WITHOUT ROWID""",
    """CREATE TABLE hole (
        device TEXT NOT NULL,
        journal INTEGER NOT NULL,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        PRIMARY KEY (device, journal, first)
    ) WITHOUT ROWID""",
    """CREATE TABLE record (
        number INTEGER PRIMARY KEY,
        device TEXT NOT NULL,
        journal INTEGER NOT NULL,
        seq INTEGER NOT NULL CHECK (seq > 0),
        body BLOB NOT NULL,
        crc INTEGER NOT NULL,
        auth BLOB NOT NULL,
        event TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('stored', 'quarantined')),
        reason TEXT NOT NULL DEFAULT '',
        UNIQUE (device, journal, seq)
    )""",
    """CREATE TABLE conflict (
        number INTEGER PRIMARY KEY,
        device TEXT NOT NULL,
        journal INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        body BLOB NOT NULL,
        crc INTEGER NOT NULL,
        auth BLOB NOT NULL,
        event TEXT NOT NULL,
        UNIQUE (device, journal, seq, body)
    )""",
    """CREATE TABLE result_event (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        event TEXT NOT NULL,
        kind TEXT NOT NULL,
        section TEXT NOT NULL,
        board INTEGER NOT NULL,
        ns INTEGER NOT NULL,
        ew INTEGER NOT NULL,
        play INTEGER NOT NULL,
        content TEXT,
        round INTEGER NOT NULL,
        place INTEGER NOT NULL,
        device TEXT,
        journal INTEGER,
        seq INTEGER,
        root INTEGER NOT NULL,
        confirmed INTEGER NOT NULL,
        warnings TEXT NOT NULL,
        action TEXT NOT NULL,
        target TEXT NOT NULL,
        actor TEXT NOT NULL,
        second TEXT NOT NULL,
        note TEXT NOT NULL,
        wall TEXT NOT NULL
    )""",
    "CREATE INDEX result_event_play ON result_event(event, section, board, ns, ew, play)",
    "CREATE INDEX result_event_key ON result_event(device, journal, seq) WHERE device IS NOT NULL",
    "CREATE INDEX result_event_action ON result_event(action) WHERE action <> ''",
    """CREATE TABLE current_result (
        event TEXT NOT NULL,
        section TEXT NOT NULL,
        board INTEGER NOT NULL,
        ns INTEGER NOT NULL,
        ew INTEGER NOT NULL,
        play INTEGER NOT NULL,
        content TEXT,
        status TEXT NOT NULL,
        attention TEXT NOT NULL,
        warnings TEXT NOT NULL,
        ruled INTEGER NOT NULL,
        claims INTEGER NOT NULL,
        round INTEGER NOT NULL,
        place INTEGER NOT NULL,
        changes INTEGER NOT NULL,
        number INTEGER NOT NULL,
        PRIMARY KEY (event, section, board, ns, ew, play)
    ) WITHOUT ROWID""",
    """CREATE TABLE desk_event (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        event TEXT NOT NULL,
        kind TEXT NOT NULL,
        data TEXT NOT NULL,
        actor TEXT NOT NULL,
        wall TEXT NOT NULL
    )""",
    """CREATE TABLE outbox (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        event TEXT NOT NULL,
        kind TEXT NOT NULL,
        subject INTEGER NOT NULL
    )""",
    """CREATE TABLE outbox_reader (
        name TEXT PRIMARY KEY,
        upto INTEGER NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE alarm (
        kind TEXT NOT NULL,
        subject TEXT NOT NULL,
        text TEXT NOT NULL,
        times INTEGER NOT NULL,
        seen INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (kind, subject)
    ) WITHOUT ROWID""",
    """CREATE TABLE person (
        event TEXT NOT NULL,
        section TEXT NOT NULL,
        pair INTEGER NOT NULL,
        seat TEXT NOT NULL,
        number TEXT NOT NULL DEFAULT '',
        name TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (event, section, pair, seat)
    ) WITHOUT ROWID""",
    "CREATE TABLE probe (id INTEGER PRIMARY KEY CHECK (id = 1), times INTEGER NOT NULL)",
    *_append_only("record"),
    *_append_only("conflict"),
    *_append_only("result_event"),
    *_append_only("desk_event"),
)

# What a scoring program set up through the Data Connector, and what waits for it. SQL: terminals.store.data_connector.
_SCORING_PROGRAMS = (
    """CREATE TABLE program_event (
        event TEXT PRIMARY KEY,
        guid TEXT NOT NULL,
        club TEXT NOT NULL,
        digest TEXT NOT NULL,
        newest INTEGER NOT NULL,
        version INTEGER NOT NULL,
        data TEXT NOT NULL
    ) WITHOUT ROWID""",
    "CREATE UNIQUE INDEX program_event_guid ON program_event(guid) WHERE newest = 1",
    """CREATE TABLE program_session (
        guid TEXT PRIMARY KEY,
        event TEXT NOT NULL
    ) WITHOUT ROWID""",
    # The last state of each thing that both sides know, whoever told it.
    """CREATE TABLE program_state (
        event TEXT NOT NULL,
        session TEXT NOT NULL,
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (event, session, kind, key)
    ) WITHOUT ROWID""",
    # AUTOINCREMENT: a number is never given twice, also when the newest rows are gone.
    """CREATE TABLE program_item (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        event TEXT NOT NULL,
        session TEXT NOT NULL,
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        body TEXT NOT NULL,
        cleared INTEGER NOT NULL DEFAULT 0
    )""",
    "CREATE INDEX program_item_queue ON program_item(event, session, kind, cleared, id)",
    """CREATE TABLE program_mark (
        event TEXT NOT NULL,
        session TEXT NOT NULL,
        kind TEXT NOT NULL,
        delivered INTEGER NOT NULL,
        accepted INTEGER NOT NULL,
        PRIMARY KEY (event, session, kind)
    ) WITHOUT ROWID""",
)

# The club's players, for the search at the tables. folded: the name without accents and capitals.
_PLAYERS = (
    """CREATE TABLE player (
        number TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        folded TEXT NOT NULL
    ) WITHOUT ROWID""",
)

# One boundary at one number: a journal may come back to an event that it has played in before.
_BOUNDARIES = (
    """CREATE TABLE journal_part (
        device TEXT NOT NULL,
        journal INTEGER NOT NULL,
        first INTEGER NOT NULL,
        event TEXT NOT NULL,
        PRIMARY KEY (device, journal, first)
    ) WITHOUT ROWID""",
    "INSERT OR REPLACE INTO journal_part (device, journal, first, event)"
    " SELECT device, journal, first, event FROM journal_event ORDER BY first, event",
    "DROP TABLE journal_event",
    "ALTER TABLE journal_part RENAME TO journal_event",
)

# What tables record beside results; and which names have changed, so that tables are told.
_TABLE_RECORDS = (
    """CREATE TABLE table_event (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        event TEXT NOT NULL,
        kind TEXT NOT NULL,
        section TEXT NOT NULL,
        board INTEGER NOT NULL,
        ns INTEGER NOT NULL,
        ew INTEGER NOT NULL,
        round INTEGER NOT NULL,
        place INTEGER NOT NULL,
        device TEXT NOT NULL,
        journal INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        confirmed INTEGER NOT NULL,
        data BLOB NOT NULL,
        wall TEXT NOT NULL,
        UNIQUE (device, journal, seq)
    )""",
    "CREATE INDEX table_event_board ON table_event(event, section, board, kind)",
    *_append_only("table_event"),
    """CREATE TABLE person_change (
        event TEXT NOT NULL,
        section TEXT NOT NULL,
        pair INTEGER NOT NULL,
        version INTEGER NOT NULL,
        PRIMARY KEY (event, section, pair)
    ) WITHOUT ROWID""",
    "CREATE INDEX person_change_version ON person_change(version)",
    *(
        f"CREATE TRIGGER person_{verb.lower()} AFTER {verb} ON person BEGIN"
        " INSERT OR REPLACE INTO person_change (event, section, pair, version)"
        " VALUES (new.event, new.section, new.pair, (SELECT COALESCE(MAX(version), 0) + 1 FROM person_change)); END"
        for verb in ("INSERT", "UPDATE")
    ),
)

# Who was admitted to which event: a phone may deliver late what it keyed in there. Of files from before only those who
# are admitted now, or have sent a record, are known.
_ADMISSIONS = (
    """CREATE TABLE admission (
        device TEXT NOT NULL,
        event TEXT NOT NULL,
        PRIMARY KEY (device, event)
    ) WITHOUT ROWID""",
    "INSERT OR IGNORE INTO admission (device, event)"
    " SELECT device.id, event.id FROM device, event WHERE device.state = 'admitted' AND event.active = 1",
    "INSERT OR IGNORE INTO admission (device, event) SELECT DISTINCT device, event FROM record",
)

MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, _FIRST),
    Migration(2, _SCORING_PROGRAMS),
    Migration(3, _PLAYERS),
    Migration(4, _BOUNDARIES),
    Migration(5, _TABLE_RECORDS),
    Migration(6, _ADMISSIONS),
)
"""Every step from an empty file to the newest schema. A released step is never changed; a change is a new step."""
