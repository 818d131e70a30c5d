UPDATE document_stage
SET status = 'succeeded', attempts = greatest(attempts, 1), started_at = coalesce(started_at, queued_at),
    finished_at = now(), worker = %(worker)s, error_class = NULL, error_message = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = %(name)s AND status IN ('queued', 'failed')
