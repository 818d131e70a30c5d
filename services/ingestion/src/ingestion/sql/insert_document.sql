INSERT INTO document (workspace_id, id, name, media_type, bytes, content_hash)
VALUES (%(workspace_id)s, %(document_id)s, %(name)s, %(media_type)s, %(bytes)s, %(content_hash)s)
RETURNING id, workspace_id, name, title, media_type, bytes, content_hash, status, version, pages, chunk_count, engine,
          embedding_model, embedding_dims, created_at, updated_at, indexed_at
