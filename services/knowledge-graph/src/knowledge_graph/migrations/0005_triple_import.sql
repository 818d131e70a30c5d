-- Sets of triples that users brought. The rows that a set gives are those of a document with the set's id, whose
-- `graphed_document.method` is `user`.
CREATE TABLE triple_import (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    format text NOT NULL,
    triples integer NOT NULL,
    entities integer NOT NULL,
    relations integer NOT NULL,
    aliases integer NOT NULL,
    notes text[] NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, name)
);
SELECT protect('triple_import');
