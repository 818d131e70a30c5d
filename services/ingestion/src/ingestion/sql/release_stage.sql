-- Back to the queue, at once to its old place or later; a worker that was told to stop has not counted as an attempt.
UPDATE document_stage
SET status = CASE WHEN name = 'chunk' THEN 'waiting' ELSE 'queued' END,
    lease = NULL, page = NULL, pages = NULL, attempts = attempts - %(uncount)s,
    postponements = postponements + %(postponed)s, losses = losses + %(lost)s,
    not_before = CASE WHEN %(delay)s > 0 THEN now() + make_interval(secs => %(delay)s) END,
    error_class = CASE WHEN name <> 'chunk' THEN %(error_class)s END,
    error_message = CASE WHEN name <> 'chunk' THEN %(error_message)s END
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND lease = %(lease)s AND status = 'running'
