-- The runs of one user, newest first, and those of one session.
CREATE INDEX run_listing ON run (workspace_id, created_by, created_at DESC, id DESC);
CREATE INDEX run_session_listing ON run (workspace_id, session_id, created_at DESC, id DESC);
