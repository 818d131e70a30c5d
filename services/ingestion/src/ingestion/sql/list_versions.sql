SELECT version, name, title, file_size, content_hash, pages, chunk_count, engine, created_at, indexed_at, superseded_at
FROM document_version
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
  AND (%(before)s::bigint IS NULL OR version < %(before)s)
ORDER BY version DESC
LIMIT %(limit)s
