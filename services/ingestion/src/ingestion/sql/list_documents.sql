SELECT id, workspace_id, name, title, media_type, file_size, content_hash, status, version, searchable_version,
       embedding_status, source_type, source_id, source_name, source_path, source_uri, source_ids, tags, language, authors,
       headings, written_at, modified_at, pages, chunk_count, engine, embedding_model, embedding_dims, created_at,
       updated_at, indexed_at, stale_at
FROM document
WHERE workspace_id = %(workspace_id)s AND status <> 'deleting'
  AND (%(status)s::text IS NULL OR status = %(status)s)
  AND (%(name)s::text IS NULL OR name ILIKE %(name)s)
  AND (%(media_type)s::text IS NULL OR media_type = %(media_type)s)
  AND (%(source_type)s::text IS NULL OR source_type = %(source_type)s)
  AND (%(source_id)s::uuid IS NULL OR EXISTS (
        SELECT FROM origin
        WHERE origin.workspace_id = document.workspace_id AND origin.document_id = document.id
          AND origin.source_id = %(source_id)s
      ))
  AND (%(tag)s::text IS NULL OR lower(%(tag)s) = ANY(lower(tags::text)::text[]))
  AND (%(embedding_status)s::text IS NULL OR embedding_status = %(embedding_status)s)
  AND (%(stale)s::boolean IS NULL OR (stale_at IS NOT NULL) = %(stale)s)
  AND (%(before)s::timestamptz IS NULL OR (created_at, id) < (%(before)s, %(before_id)s::uuid))
ORDER BY created_at DESC, id DESC
LIMIT %(limit)s
