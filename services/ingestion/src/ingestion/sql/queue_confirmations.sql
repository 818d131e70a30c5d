-- Told again with vectors, only the index is to be confirmed again.
UPDATE document_stage
SET status = 'queued', queued_at = now(), dispatched_at = now(), finished_at = NULL, error_class = NULL,
    error_message = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
  AND (name = 'index' OR name = 'graph' AND status = 'waiting')
