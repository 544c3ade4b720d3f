CREATE TABLE program_event ( event TEXT PRIMARY KEY, guid TEXT NOT NULL, club TEXT NOT NULL, digest TEXT NOT NULL, newest INTEGER NOT NULL, version INTEGER NOT NULL, data TEXT NOT NULL ) WITHOUT ROWID;
CREATE UNIQUE INDEX program_event_guid ON program_event(guid) WHERE newest = 1;
CREATE TABLE program_session ( guid TEXT PRIMARY KEY, event TEXT NOT NULL ) WITHOUT ROWID;
CREATE TABLE program_state ( event TEXT NOT NULL, session TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (event, session, kind, key) ) WITHOUT ROWID;
CREATE TABLE program_item ( id INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL, session TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, cleared INTEGER NOT NULL DEFAULT 0 );
CREATE INDEX program_item_queue ON program_item(event, session, kind, cleared, id);
CREATE TABLE program_mark ( event TEXT NOT NULL, session TEXT NOT NULL, kind TEXT NOT NULL, delivered INTEGER NOT NULL, accepted INTEGER NOT NULL, PRIMARY KEY (event, session, kind) ) WITHOUT ROWID;
