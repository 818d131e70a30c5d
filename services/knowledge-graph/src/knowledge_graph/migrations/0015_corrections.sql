-- What people corrected. The rows that a correction gives are those of a document with its id, whose
-- `graphed_document.method` is `user`; the type of an entity is read from here.
CREATE TABLE correction (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('confirm', 'reject', 'add', 'merge', 'split', 'type')),
    entity_id text COLLATE "C" NOT NULL,
    entity text NOT NULL,
    other text,
    relation_type text,
    entity_type text,
    status text NOT NULL,
    dated text,
    reason text NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX correction_newest ON correction (workspace_id, created_at DESC, id DESC);
CREATE INDEX correction_of_type ON correction (workspace_id, entity_id) WHERE kind = 'type';
SELECT protect('correction');
-- As for every table since 0008.
ALTER TABLE correction ALTER COLUMN workspace_id SET STATISTICS 0;
