UPDATE document
SET embedding_model = %(embedding_model)s, embedding_dims = %(embedding_dims)s, updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s
