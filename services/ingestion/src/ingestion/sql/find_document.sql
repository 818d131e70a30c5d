SELECT id, workspace_id, name, title, media_type, bytes, content_hash, status, version, pages, chunk_count, engine,
       embedding_model, embedding_dims, created_at, updated_at, indexed_at
FROM document
WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s AND status <> 'deleting'
