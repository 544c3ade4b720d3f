CREATE TABLE table_event ( number INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL, kind TEXT NOT NULL, section TEXT NOT NULL, board INTEGER NOT NULL, ns INTEGER NOT NULL, ew INTEGER NOT NULL, round INTEGER NOT NULL, place INTEGER NOT NULL, device TEXT NOT NULL, journal INTEGER NOT NULL, seq INTEGER NOT NULL, confirmed INTEGER NOT NULL, data BLOB NOT NULL, wall TEXT NOT NULL, UNIQUE (device, journal, seq) );
CREATE INDEX table_event_board ON table_event(event, section, board, kind);
CREATE TRIGGER table_event_no_update BEFORE UPDATE ON table_event BEGIN SELECT RAISE(ABORT, 'table_event is append-only'); END;
CREATE TRIGGER table_event_no_delete BEFORE DELETE ON table_event BEGIN SELECT RAISE(ABORT, 'table_event is append-only'); END;
CREATE TABLE person_change ( event TEXT NOT NULL, section TEXT NOT NULL, pair INTEGER NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (event, section, pair) ) WITHOUT ROWID;
CREATE INDEX person_change_version ON person_change(version);
CREATE TRIGGER person_insert AFTER INSERT ON person BEGIN INSERT OR REPLACE INTO person_change (event, section, pair, version) VALUES (new.event, new.section, new.pair, (SELECT COALESCE(MAX(version), 0) + 1 FROM person_change)); END;
CREATE TRIGGER person_update AFTER UPDATE ON person BEGIN INSERT OR REPLACE INTO person_change (event, section, pair, version) VALUES (new.event, new.section, new.pair, (SELECT COALESCE(MAX(version), 0) + 1 FROM person_change)); END;
