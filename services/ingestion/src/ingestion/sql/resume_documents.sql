-- A version that search serves stays searchable while its embedding or its graph is tried again.
UPDATE document
SET status = CASE WHEN status IN ('failed', 'cancelled') THEN 'processing' ELSE status END,
    embedding_status = CASE WHEN id IN (
        SELECT wanted.document_id
        FROM unnest(%(document_ids)s::uuid[], %(names)s::text[]) AS wanted (document_id, name)
        WHERE wanted.name IN ('convert', 'embed')
    ) THEN 'pending' ELSE embedding_status END,
    updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = ANY(%(document_ids)s)
