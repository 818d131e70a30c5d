-- In the order of their ids, as all who lock several do.
SELECT id, workspace_id, name, title, media_type, file_size, content_hash, status, version, searchable_version,
       embedding_status, source_type, source_id, source_name, source_path, source_uri, source_ids, tags, language, authors,
       headings, written_at, modified_at, pages, chunk_count, engine, embedding_model, embedding_dims, created_at,
       updated_at, indexed_at, stale_at
FROM document
WHERE workspace_id = %(workspace_id)s AND id = ANY(%(document_ids)s) AND status <> 'deleting'
ORDER BY id
FOR UPDATE
