-- The worker goes on to the next stage under the lease that it holds.
UPDATE document_stage
SET status = 'running', attempts = attempts + 1, lease = %(lease)s, worker = %(worker)s,
    queued_at = coalesce(queued_at, now()), started_at = now(), heartbeat_at = now(), finished_at = NULL,
    page = NULL, pages = NULL, error_class = NULL, error_message = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = %(name)s
  AND status IN ('waiting', 'queued', 'running')
