-- What is remembered, what it derives from, and which documents are gone for good.

CREATE TABLE memory (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('episode', 'note')),
    content text NOT NULL,
    created_by uuid NOT NULL,
    session_id uuid,
    run_id uuid,
    embedding_model text NOT NULL,
    embedding vector NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, id)
);
-- A run is remembered once, however often it is told.
CREATE UNIQUE INDEX memory_run ON memory (workspace_id, run_id) WHERE run_id IS NOT NULL;
CREATE INDEX memory_owner ON memory (workspace_id, created_by, created_at DESC, id DESC);
SELECT protect('memory');

CREATE TABLE memory_source (
    workspace_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    document_id uuid NOT NULL,
    PRIMARY KEY (workspace_id, memory_id, document_id),
    FOREIGN KEY (workspace_id, memory_id) REFERENCES memory ON DELETE CASCADE
);
CREATE INDEX memory_source_document ON memory_source (workspace_id, document_id) INCLUDE (memory_id);
SELECT protect('memory_source');

-- A turn that is told late must not derive a memory from a document that was deleted meanwhile.
CREATE TABLE deleted_document (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    deleted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, document_id)
);
SELECT protect('deleted_document');
