-- The artifact of a session, at most one. `version` rises with every change, also when only `current_index` moves.
CREATE TABLE artifact (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    session_id uuid NOT NULL,
    version integer NOT NULL DEFAULT 1,
    current_index integer NOT NULL DEFAULT 1,
    last_index integer NOT NULL DEFAULT 0,
    indexed_document_id uuid,
    indexed_index integer,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, session_id),
    FOREIGN KEY (workspace_id, session_id) REFERENCES session (workspace_id, id) ON DELETE CASCADE
);
SELECT protect('artifact');

-- A version never changes. `body` is compressed: the whole text where `index` is `whole_index`, otherwise what changed
-- since the version before it; so a text is read from the versions `whole_index` to `index`. A run has one version.
CREATE TABLE artifact_version (
    workspace_id uuid NOT NULL,
    artifact_id uuid NOT NULL,
    index integer NOT NULL,
    parent_index integer,
    event text NOT NULL CHECK (event IN ('create', 'update', 'rewrite', 'patch', 'restore')),
    kind text NOT NULL CHECK (kind IN ('markdown', 'code', 'pdf')),
    language text,
    title text,
    document_id uuid,
    created_by uuid NOT NULL,
    run_id uuid,
    message_id uuid,
    outcome text NOT NULL CHECK (outcome IN ('current', 'merged', 'kept_aside')),
    characters integer NOT NULL,
    citations jsonb NOT NULL DEFAULT '[]',
    whole_index integer NOT NULL,
    body bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace_id, artifact_id, index),
    FOREIGN KEY (workspace_id, artifact_id) REFERENCES artifact (workspace_id, id) ON DELETE CASCADE
);
ALTER TABLE artifact_version ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE UNIQUE INDEX artifact_version_of_run ON artifact_version (workspace_id, run_id) WHERE run_id IS NOT NULL;
CREATE INDEX artifact_version_children ON artifact_version (workspace_id, artifact_id, parent_index, index DESC);
SELECT protect('artifact_version');
