SELECT document_id, name, status, lane, attempts, queued_at, started_at, heartbeat_at, finished_at, not_before, worker,
       error_class, error_message, page, pages
FROM document_stage
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s)
