-- Pinned sessions are listed first, archived ones only when they are asked for.
ALTER TABLE session
    ADD COLUMN pinned boolean NOT NULL DEFAULT false,
    ADD COLUMN archived boolean NOT NULL DEFAULT false;
DROP INDEX session_recent;
CREATE INDEX session_listing ON session (workspace_id, created_by, archived, pinned DESC, updated_at DESC, id DESC);
