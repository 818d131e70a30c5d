-- Without a model the embedding has failed; with one it is complete when the index confirms its vectors.
WITH version AS (
    UPDATE document_version
    SET embedding_model = %(embedding_model)s, embedding_dims = %(embedding_dims)s
    WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND version = %(version)s
)
UPDATE document
SET embedding_model = %(embedding_model)s, embedding_dims = %(embedding_dims)s, updated_at = now(),
    embedding_status = CASE WHEN %(embedding_model)s::text IS NULL THEN 'failed' ELSE 'pending' END
WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s
