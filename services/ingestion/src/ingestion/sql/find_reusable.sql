-- The latest earlier version whose vectors are of this space and still stored.
SELECT version FROM document_version
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND version < %(version)s
  AND embedding_model = %(embedding_model)s AND embedding_dims = %(embedding_dims)s AND erased_at IS NULL
ORDER BY version DESC
LIMIT 1
