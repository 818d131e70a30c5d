UPDATE document_stage
SET status = 'succeeded', started_at = coalesce(started_at, now()), finished_at = now(), lease = NULL,
    attempts = greatest(attempts, 1), worker = %(worker)s
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = ANY(%(names)s)
