-- What a search may be limited by. Documents of before have it when ingestion, at its own migration, tells of them again.

ALTER TABLE indexed_document
    ADD COLUMN source_ids uuid[] NOT NULL DEFAULT '{}',
    ADD COLUMN written_at timestamptz,
    ADD COLUMN modified_at timestamptz,
    ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}';

-- Passages by the id that other services know them by; as a hash, which is a fifth of its size.
CREATE INDEX chunk_named ON chunk (workspace_id, hashtext(chunk_id));
