WITH recorded AS (
    UPDATE document
    SET embedding_model = %(embedding_model)s, embedding_dims = %(embedding_dims)s, updated_at = now()
    WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s
    RETURNING *
)
UPDATE document_version AS past
SET embedding_model = recorded.embedding_model, embedding_dims = recorded.embedding_dims
FROM recorded
WHERE past.workspace_id = recorded.workspace_id AND past.document_id = recorded.id AND past.version = recorded.version
