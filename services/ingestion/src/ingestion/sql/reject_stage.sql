UPDATE document_stage
SET status = 'failed', attempts = attempts + 1, started_at = coalesce(started_at, queued_at), finished_at = now(),
    worker = %(worker)s, error_class = %(error_class)s, error_message = %(error_message)s
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = %(name)s AND status = 'queued'
