SELECT name, status, attempts, started_at, heartbeat_at, finished_at, worker, error_class, error_message, page, pages,
       not_before
FROM document_stage
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
