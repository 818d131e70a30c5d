-- Retrieval serves this version, if no later one. Success of the embedding is what the index counts, nothing else.
WITH version AS (
    UPDATE document_version SET indexed_at = coalesce(indexed_at, now())
    WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND version = %(version)s
)
UPDATE document
SET searchable_version = greatest(searchable_version, %(version)s),
    embedding_status = CASE
        WHEN version <> %(version)s THEN embedding_status
        WHEN %(vectors)s = %(chunk_count)s THEN 'complete'
        WHEN embedding_status = 'complete' THEN 'pending'
        ELSE embedding_status
    END,
    updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s AND version >= %(version)s
