-- Images that messages show; their bytes are in the object store. One without a session waits for it, or to be deleted.
SET LOCAL lock_timeout = '2s';
CREATE TABLE attachment (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    session_id uuid,
    created_by uuid NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    file_size integer NOT NULL,
    width integer NOT NULL,
    height integer NOT NULL,
    shown boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, session_id) REFERENCES session (workspace_id, id) ON DELETE SET NULL (session_id)
);
CREATE INDEX attachment_session ON attachment (workspace_id, session_id, created_at, id);
CREATE INDEX attachment_unused ON attachment (created_at) WHERE session_id IS NULL OR NOT shown;
SELECT protect_queue('attachment');
ALTER TABLE message ADD COLUMN attachment_ids uuid[] NOT NULL DEFAULT '{}';
