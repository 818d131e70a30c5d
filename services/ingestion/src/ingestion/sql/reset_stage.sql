UPDATE document_stage
SET status = 'waiting', queued_at = NULL, lease = NULL, worker = NULL, started_at = NULL, heartbeat_at = NULL,
    finished_at = NULL, page = NULL, pages = NULL, error_class = NULL, error_message = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = %(name)s
