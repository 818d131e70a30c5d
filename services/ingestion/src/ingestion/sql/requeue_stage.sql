UPDATE document_stage
SET status = 'queued', losses = 0, postponements = 0, queued_at = now(), not_before = NULL,
    dispatched_at = CASE WHEN name IN ('index', 'graph') THEN now() END,
    lease = NULL, worker = NULL, started_at = NULL, heartbeat_at = NULL, finished_at = NULL, page = NULL, pages = NULL,
    error_class = NULL, error_message = NULL, traceparent = %(traceparent)s
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = %(name)s
