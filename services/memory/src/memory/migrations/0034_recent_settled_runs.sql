-- Runs of more than a day ago are deleted when a user's next run is settled.
CREATE INDEX settled_run_age ON settled_run (workspace_id, user_id, settled_at);
