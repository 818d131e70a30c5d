-- What was done of chunking lies in the dead worker's memory: it begins again with the conversion.
UPDATE document_stage
SET status = CASE WHEN name = 'chunk' THEN 'waiting' WHEN losses + 1 >= %(losses)s THEN 'failed' ELSE 'queued' END,
    losses = losses + 1, lease = NULL, dispatched_at = NULL, page = NULL, pages = NULL,
    finished_at = CASE WHEN name <> 'chunk' AND losses + 1 >= %(losses)s THEN now() END,
    error_class = CASE WHEN name <> 'chunk' THEN 'worker-lost' END,
    error_message = CASE WHEN name <> 'chunk' THEN %(message)s END
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
  AND status = 'running' AND heartbeat_at < now() - make_interval(secs => %(lease)s)
RETURNING name, status
