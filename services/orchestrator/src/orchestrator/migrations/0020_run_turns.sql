-- The users of a workspace take turns, and have a limited number of runs waiting.
DROP INDEX run_waiting;
CREATE INDEX run_waiting ON run (workspace_id, created_by, available_at) WHERE state = 'queued';
