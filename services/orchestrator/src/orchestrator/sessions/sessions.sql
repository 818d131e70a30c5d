-- name: create
-- Returns the session that the key created before, if there is one.
INSERT INTO session (workspace_id, id, created_by, title, temporary, idempotency_key)
VALUES (%(workspace_id)s, %(id)s, %(user_id)s, %(title)s, %(temporary)s, %(key)s)
ON CONFLICT (workspace_id, created_by, idempotency_key) WHERE idempotency_key IS NOT NULL
    DO UPDATE SET idempotency_key = excluded.idempotency_key
RETURNING {columns};

-- name: find
SELECT {columns} FROM session
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s;

-- name: page
SELECT {columns} FROM session
WHERE workspace_id = %(workspace_id)s AND created_by = %(user_id)s AND archived = %(archived)s AND NOT temporary
  AND (%(pinned)s::boolean IS NULL OR pinned = %(pinned)s)
  AND (%(before_at)s::timestamptz IS NULL
       OR (pinned, updated_at, id) < (%(before_pinned)s::boolean, %(before_at)s, %(before_id)s::uuid))
ORDER BY pinned DESC, updated_at DESC, id DESC
LIMIT %(limit)s;

-- name: active_run_ids
SELECT id FROM run
WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s AND state IN ('queued', 'running')
ORDER BY created_at, id;

-- name: artifact_index
SELECT current_index FROM artifact WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s;

-- name: change
-- What is null stays. A session is used when it is renamed, not when it is pinned or archived.
UPDATE session
SET title = coalesce(%(title)s, title), pinned = coalesce(%(pinned)s, pinned),
    archived = coalesce(%(archived)s, archived), version = version + 1,
    updated_at = CASE WHEN %(title)s::text IS NULL THEN updated_at ELSE now() END
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s
  AND (%(version)s::integer IS NULL OR version = %(version)s)
RETURNING {columns};

-- name: users
-- Returns whose the sessions are that may be remembered.
SELECT id, created_by FROM session
WHERE workspace_id = %(workspace_id)s AND id = ANY(%(ids)s) AND NOT temporary;
