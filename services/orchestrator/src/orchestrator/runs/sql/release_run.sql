-- Back to the queue. `refund` is 1 where the attempt was given up for no fault of its own.
WITH released AS (
    UPDATE run
    SET status = 'queued', lease_owner = NULL, lease_token = NULL, lease_expires_at = NULL,
        attempts_left = attempts_left + %(refund)s, available_at = now() + make_interval(secs => %(delay_seconds)s),
        node_trace = %(node_trace)s, issues = %(issues)s
    WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease_token = %(lease_token)s AND status = 'running'
    RETURNING id
)
SELECT pg_notify('orchestrator_run_queued', '') FROM released
