-- name: create
-- Returns the session that the key created before, if there is one.
INSERT INTO session (workspace_id, id, created_by, title, idempotency_key)
VALUES (%(workspace_id)s, %(id)s, %(user_id)s, %(title)s, %(key)s)
ON CONFLICT (workspace_id, created_by, idempotency_key) WHERE idempotency_key IS NOT NULL
    DO UPDATE SET idempotency_key = excluded.idempotency_key
RETURNING {columns};

-- name: find
SELECT {columns} FROM session
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s;

-- name: page
SELECT {columns} FROM session
WHERE workspace_id = %(workspace_id)s AND created_by = %(user_id)s
  AND (%(before_at)s::timestamptz IS NULL OR (updated_at, id) < (%(before_at)s, %(before_id)s::uuid))
ORDER BY updated_at DESC, id DESC
LIMIT %(limit)s;

-- name: rename
UPDATE session
SET title = %(title)s, version = version + 1, updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s
  AND (%(version)s::integer IS NULL OR version = %(version)s)
RETURNING {columns};

-- name: delete
-- Deletes the session and all that belongs to it; tells the processes that work on its runs, and returns their ids.
WITH runs AS (
    SELECT id, pg_notify('orchestrator_run_cancelled', id::text) AS notified
    FROM run WHERE workspace_id = %(workspace_id)s AND session_id = %(id)s
)
DELETE FROM session
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s
  AND (%(version)s::integer IS NULL OR version = %(version)s)
RETURNING coalesce((SELECT array_agg(id) FILTER (WHERE notified IS NOT NULL) FROM runs), '{}') AS run_ids;

-- name: messages
SELECT {message_columns} FROM message
WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s
  AND (%(after_at)s::timestamptz IS NULL OR (created_at, id) > (%(after_at)s, %(after_id)s::uuid))
ORDER BY created_at, id
LIMIT %(limit)s;

-- name: ask
-- Stores the user's message and its run in one round trip. A session that is not the caller's yields no row; a key that
-- was used before inserts nothing.
WITH owned AS (
    SELECT id FROM session
    WHERE workspace_id = %(workspace_id)s AND id = %(session_id)s AND created_by = %(user_id)s
    FOR KEY SHARE
), new_run AS (
    INSERT INTO run (workspace_id, id, session_id, created_by, role, delegation, traceparent, idempotency_key,
                     document_ids, attempts_left)
    SELECT %(workspace_id)s, %(run_id)s, owned.id, %(user_id)s, %(role)s, %(delegation)s, %(traceparent)s, %(key)s,
           %(document_ids)s::uuid[], %(max_attempts)s
    FROM owned
    ON CONFLICT (workspace_id, session_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING id, session_id, created_at
), new_message AS (
    INSERT INTO message (workspace_id, id, session_id, run_id, role, content)
    SELECT %(workspace_id)s, %(message_id)s, new_run.session_id, new_run.id, 'user', %(content)s FROM new_run
)
SELECT new_run.id, new_run.created_at FROM owned LEFT JOIN new_run ON true;

-- name: asked_before
-- Returns the run that the key created, and what it was asked.
SELECT run.id, message.content, run.document_ids
FROM run
JOIN message ON message.workspace_id = run.workspace_id AND message.run_id = run.id AND message.role = 'user'
WHERE run.workspace_id = %(workspace_id)s AND run.session_id = %(session_id)s AND run.idempotency_key = %(key)s;
