-- name: find
SELECT
    enabled, state, max_tokens, version, calls, input_tokens, output_tokens, last_error,
    CASE WHEN enabled AND state = 'queued' AND available_at > now() THEN available_at END AS retry_at
FROM refinement
WHERE workspace_id = %(workspace_id)s;

-- name: change
-- Stores the settings. Turning refinement on queues the work, unless a process holds it, which then sees the new
-- budget.
INSERT INTO refinement (workspace_id, enabled, max_tokens, version, state)
VALUES (
    %(workspace_id)s, %(enabled)s, %(max_tokens)s::bigint, 1, CASE WHEN %(enabled)s THEN 'queued' ELSE 'waiting' END
)
ON CONFLICT (workspace_id) DO UPDATE SET
    enabled = excluded.enabled,
    max_tokens = excluded.max_tokens,
    version = refinement.version + 1,
    state = CASE WHEN refinement.lease_token IS NULL THEN excluded.state ELSE refinement.state END,
    available_at = now(),
    attempts = 0,
    outages = 0;

-- name: withdraw
-- Turns refinement off at once and withdraws the lease, so that outstanding answers are discarded.
UPDATE refinement SET
    enabled = false, version = version + 1, state = 'waiting', lease_token = NULL, lease_expires_at = NULL
WHERE workspace_id = %(workspace_id)s;

-- name: lock
-- Waits for documents that are being graphed, so that their chunks are visible.
SELECT workspace_id FROM refinement WHERE workspace_id = %(workspace_id)s FOR UPDATE;

-- name: hold_awake
-- Keeps the work from becoming idle before the chunks of the document being graphed are visible.
SELECT workspace_id FROM refinement WHERE workspace_id = %(workspace_id)s AND enabled FOR KEY SHARE;

-- name: wake
UPDATE refinement SET state = 'queued', available_at = now()
WHERE
    workspace_id = %(workspace_id)s
    AND enabled
    AND state = 'waiting'
    AND EXISTS (
        SELECT FROM refinement_chunk AS chunk
        WHERE
            chunk.workspace_id = %(workspace_id)s
            AND NOT EXISTS (
                SELECT FROM refinement_result AS result
                WHERE
                    result.workspace_id = chunk.workspace_id
                    AND result.digest = chunk.digest
                    AND result.state <> 'again'
            )
    );

-- name: budget
SELECT max_tokens, input_tokens + output_tokens AS tokens FROM refinement WHERE workspace_id = %(workspace_id)s;

-- name: spend
-- Records the cost of a call, whatever became of the work; returns whether the lease is still held.
UPDATE refinement SET
    calls = calls + %(calls)s,
    input_tokens = input_tokens + %(input_tokens)s,
    output_tokens = output_tokens + %(output_tokens)s,
    attempts = CASE WHEN %(answered)s THEN 0 ELSE attempts END,
    outages = CASE WHEN %(answered)s THEN 0 ELSE outages END,
    last_error = coalesce(%(error)s, last_error)
WHERE workspace_id = %(workspace_id)s
RETURNING lease_token IS NOT DISTINCT FROM %(lease_token)s;
