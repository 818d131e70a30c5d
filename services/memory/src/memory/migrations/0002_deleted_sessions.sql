-- A turn that is told late must not bring back what was said in a session that was deleted meanwhile.
CREATE TABLE deleted_session (
    workspace_id uuid NOT NULL,
    session_id uuid NOT NULL,
    deleted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, session_id)
);
SELECT protect('deleted_session');
CREATE INDEX memory_session ON memory (workspace_id, session_id) WHERE session_id IS NOT NULL;
