-- Snapshots of sessions that others may read. They go with the session, and with the message that they end with. Of the
-- token there is a hash alone.
CREATE TABLE session_share (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    session_id uuid NOT NULL,
    message_id uuid NOT NULL,
    created_by uuid NOT NULL,
    audience text NOT NULL CHECK (audience IN ('members', 'link')),
    title text,
    messages jsonb NOT NULL,
    secret_sha256 bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, session_id) REFERENCES session (workspace_id, id) ON DELETE CASCADE,
    FOREIGN KEY (workspace_id, message_id) REFERENCES message (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX session_share_listing ON session_share (workspace_id, created_by, created_at DESC, id DESC);
CREATE INDEX session_share_session ON session_share (workspace_id, session_id);
CREATE INDEX session_share_message ON session_share (workspace_id, message_id);
SELECT protect('session_share');

-- Whether members may share by link; a workspace without a row has not said so.
CREATE TABLE sharing_settings (
    workspace_id uuid PRIMARY KEY,
    links boolean NOT NULL,
    version integer NOT NULL DEFAULT 1
);
SELECT protect('sharing_settings');
