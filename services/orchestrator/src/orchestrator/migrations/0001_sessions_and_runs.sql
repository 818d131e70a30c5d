-- Sessions are visible to the user who made them, so their index begins with workspace and user.
CREATE TABLE session (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    created_by uuid NOT NULL,
    title text,
    version integer NOT NULL DEFAULT 1,
    idempotency_key text,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX session_recent ON session (workspace_id, created_by, updated_at DESC, id DESC);
CREATE UNIQUE INDEX session_idempotency ON session (workspace_id, created_by, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
SELECT protect('session');

-- `attempts` counts claims and never falls: it fences the run's event stream. `attempts_left` is what a crash costs.
CREATE TABLE run (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    session_id uuid NOT NULL,
    created_by uuid NOT NULL,
    role text NOT NULL,
    traceparent text,
    idempotency_key text,
    status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
    mode text CHECK (mode IN ('model', 'extractive')),
    document_ids uuid[],
    attempts integer NOT NULL DEFAULT 0,
    attempts_left integer NOT NULL,
    available_at timestamptz NOT NULL DEFAULT now(),
    lease_owner text,
    lease_token uuid,
    lease_expires_at timestamptz,
    cancel_requested boolean NOT NULL DEFAULT false,
    node_trace text[] NOT NULL DEFAULT '{}',
    issues text[] NOT NULL DEFAULT '{}',
    error_type text,
    error_message text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at timestamptz,
    finished_at timestamptz,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, session_id) REFERENCES session (workspace_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX run_idempotency ON run (workspace_id, session_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX run_of_session ON run (workspace_id, session_id, created_at) WHERE status IN ('queued', 'running');
CREATE INDEX run_waiting ON run (created_at) WHERE status IN ('queued', 'running');
SELECT protect_queue('run');

CREATE TABLE message (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    session_id uuid NOT NULL,
    run_id uuid NOT NULL,
    role text NOT NULL CHECK (role IN ('user', 'assistant')),
    content text NOT NULL,
    citations jsonb NOT NULL DEFAULT '[]',
    removed_citations integer NOT NULL DEFAULT 0,
    mode text CHECK (mode IN ('model', 'extractive')),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, run_id, role),
    FOREIGN KEY (workspace_id, session_id) REFERENCES session (workspace_id, id) ON DELETE CASCADE,
    FOREIGN KEY (workspace_id, run_id) REFERENCES run (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX message_order ON message (workspace_id, session_id, created_at, id);
SELECT protect('message');
