-- The backups that were taken, told by whoever takes them (the administrator). Open to the system scope alone, for reading.
CREATE TABLE backup (
    name text PRIMARY KEY,
    finished_at timestamptz NOT NULL
);
CREATE INDEX backup_end ON backup (finished_at);
ALTER TABLE backup ENABLE ROW LEVEL SECURITY;
CREATE POLICY system ON backup FOR SELECT USING (is_system());
