-- Each recall counts memories without terms: mostly none, which this index tells without reading all of the user's.
CREATE INDEX memory_unprepared ON memory (workspace_id, created_by) WHERE terms IS NULL;
