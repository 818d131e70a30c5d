-- Searches that a team keeps. The request is kept as it was given: what it leaves out follows the defaults.
CREATE TABLE saved_search (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    request jsonb NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    version integer NOT NULL DEFAULT 1,
    PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX saved_search_name ON saved_search (workspace_id, lower(name));
CREATE INDEX saved_search_created ON saved_search (workspace_id, created_at, id);
SELECT protect('saved_search');

-- What stands before and after a passage. A passage that moves within its document keeps its number, so numbers do not tell.
CREATE INDEX chunk_place ON chunk (workspace_id, document_id, chunk_index);
