UPDATE source_sync
SET status = %(status)s, lease = NULL, finished_at = now(), heartbeat_at = now(), error_class = %(error_class)s,
    error_message = %(error_message)s
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease = %(lease)s AND status = 'running'
