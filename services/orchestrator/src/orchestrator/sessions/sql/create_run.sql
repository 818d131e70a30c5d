-- The user's message and its run: all in one statement, so that a turn costs one round trip. A session that is not the
-- caller's yields no row; a key that was used before inserts nothing (the caller then reads the earlier run).
WITH owned AS (
    SELECT id FROM session
    WHERE workspace_id = %(workspace_id)s AND id = %(session_id)s AND created_by = %(user_id)s
    FOR KEY SHARE
), new_run AS (
    INSERT INTO run (workspace_id, id, session_id, created_by, role, traceparent, idempotency_key, document_ids,
                     attempts_left)
    SELECT %(workspace_id)s, %(run_id)s, owned.id, %(user_id)s, %(role)s, %(traceparent)s, %(key)s,
           %(document_ids)s::uuid[], %(max_attempts)s
    FROM owned
    ON CONFLICT (workspace_id, session_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING id, session_id, created_at
), new_message AS (
    INSERT INTO message (workspace_id, id, session_id, run_id, role, content)
    SELECT %(workspace_id)s, %(message_id)s, new_run.session_id, new_run.id, 'user', %(content)s FROM new_run
    RETURNING id
), told AS (
    SELECT pg_notify('orchestrator_run_queued', '') FROM new_message
)
SELECT owned.id AS session_id, new_run.id AS run_id, new_run.created_at, (SELECT count(*) FROM told) AS told
FROM owned LEFT JOIN new_run ON true
