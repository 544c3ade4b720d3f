CREATE TABLE journal_part ( device TEXT NOT NULL, journal INTEGER NOT NULL, first INTEGER NOT NULL, event TEXT NOT NULL, PRIMARY KEY (device, journal, first) ) WITHOUT ROWID;
INSERT OR REPLACE INTO journal_part (device, journal, first, event) SELECT device, journal, first, event FROM journal_event ORDER BY first, event;
DROP TABLE journal_event;
ALTER TABLE journal_part RENAME TO journal_event;
