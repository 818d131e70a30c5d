-- What waits, and what a dead process left behind. The turns of a session are worked off one after the other, so that
-- each sees the answers before it.
UPDATE run
SET status = 'running', attempts = attempts + 1, attempts_left = attempts_left - 1,
    lease_owner = %(owner)s, lease_token = gen_random_uuid(), started_at = coalesce(started_at, now()),
    lease_expires_at = now() + make_interval(secs => %(lease_seconds)s)
WHERE (workspace_id, id) IN (
    SELECT waiting.workspace_id, waiting.id
    FROM run AS waiting
    WHERE (waiting.status = 'queued' AND waiting.available_at <= now()
           OR waiting.status = 'running' AND waiting.lease_expires_at < now())
      AND NOT EXISTS (
          SELECT FROM run AS earlier
          WHERE earlier.workspace_id = waiting.workspace_id AND earlier.session_id = waiting.session_id
            AND earlier.status IN ('queued', 'running')
            AND (earlier.created_at, earlier.id) < (waiting.created_at, waiting.id))
    ORDER BY waiting.created_at
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
RETURNING workspace_id, id, session_id, created_by, role, traceparent, document_ids, attempts, attempts_left,
          lease_token, cancel_requested
