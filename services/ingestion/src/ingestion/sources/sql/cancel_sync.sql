UPDATE source_sync
SET status = 'cancelled', lease = NULL, finished_at = now()
WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s AND id = %(sync_id)s
  AND status IN ('queued', 'running')
