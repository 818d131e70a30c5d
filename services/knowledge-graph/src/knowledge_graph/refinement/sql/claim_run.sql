-- One that waits, or that a dead process left behind. Not one that was paused or cancelled and is still being put down.
UPDATE refinement_run SET
    state = 'running',
    lease_token = gen_random_uuid(),
    lease_expires_at = now() + make_interval(secs => %(lease_seconds)s),
    started_at = coalesce(started_at, now())
WHERE (workspace_id, id) IN (
    SELECT workspace_id, id FROM refinement_run
    WHERE
        state IN ('queued', 'running')
        AND available_at <= now()
        AND (lease_expires_at IS NULL OR lease_expires_at < now())
    ORDER BY available_at
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
RETURNING workspace_id, id, document_ids, follow, outages, lease_token
