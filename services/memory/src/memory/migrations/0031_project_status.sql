-- What the status of a workspace's project is compiled from beside the world state: the documents' names, as told.
CREATE TABLE known_document (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    name text NOT NULL,
    told_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, document_id)
);
SELECT protect('known_document');
CREATE INDEX known_document_age ON known_document (workspace_id, told_at DESC, document_id DESC);

-- The status as it was compiled last.
CREATE TABLE project_status (
    workspace_id uuid PRIMARY KEY,
    manifest text NOT NULL,
    compiled_at timestamptz NOT NULL DEFAULT now()
);
SELECT protect('project_status');
