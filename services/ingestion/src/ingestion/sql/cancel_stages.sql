UPDATE document_stage
SET status = 'cancelled', lease = NULL, dispatched_at = NULL, not_before = NULL, finished_at = now(), page = NULL,
    pages = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s)
  AND name IN ('convert', 'chunk', 'embed') AND status IN ('queued', 'running')
RETURNING document_id
