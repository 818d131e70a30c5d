SELECT id FROM document
WHERE workspace_id = %(workspace_id)s AND status <> 'deleting'
  AND (%(after)s::uuid IS NULL OR id > %(after)s)
  AND (%(document_ids)s::uuid[] IS NULL OR id = ANY(%(document_ids)s))
  AND (%(status)s::text IS NULL OR status = %(status)s)
  AND (%(embedding_status)s::text IS NULL OR embedding_status = %(embedding_status)s)
  AND (%(source_id)s::uuid IS NULL OR EXISTS (
        SELECT FROM origin
        WHERE origin.workspace_id = document.workspace_id AND origin.document_id = document.id
          AND origin.source_id = %(source_id)s
      ))
  AND (%(error_class)s::text IS NULL OR EXISTS (
        SELECT FROM document_stage AS stage
        WHERE stage.workspace_id = document.workspace_id AND stage.document_id = document.id
          AND stage.status IN ('failed', 'queued') AND stage.error_class = %(error_class)s
      ))
ORDER BY id
LIMIT %(limit)s
