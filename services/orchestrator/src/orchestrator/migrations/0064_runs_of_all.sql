-- The runs of all users, newest first.
CREATE INDEX run_of_all ON run (workspace_id, created_at DESC, id DESC);
