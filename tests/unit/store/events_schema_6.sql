CREATE TABLE admission ( device TEXT NOT NULL, event TEXT NOT NULL, PRIMARY KEY (device, event) ) WITHOUT ROWID;
INSERT OR IGNORE INTO admission (device, event) SELECT device.id, event.id FROM device, event WHERE device.state = 'admitted' AND event.active = 1;
INSERT OR IGNORE INTO admission (device, event) SELECT DISTINCT device, event FROM record;
