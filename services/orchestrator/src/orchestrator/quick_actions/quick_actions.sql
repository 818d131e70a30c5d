-- name: create
INSERT INTO quick_action (workspace_id, id, created_by, shared, name, prompt, target, use_history, use_preferences)
VALUES (%(workspace_id)s, %(id)s, %(user_id)s, %(shared)s, %(name)s, %(prompt)s, %(target)s, %(use_history)s,
        %(use_preferences)s)
RETURNING {columns};

-- name: count
SELECT count(*) FROM quick_action
WHERE workspace_id = %(workspace_id)s AND shared = %(shared)s AND (shared OR created_by = %(user_id)s);

-- name: one_at_a_time
SELECT pg_advisory_xact_lock(hashtextextended('quick_action ' || %(workspace_id)s::text, 0));

-- name: find
SELECT {columns} FROM quick_action
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND (shared OR created_by = %(user_id)s);

-- name: page
SELECT {columns} FROM quick_action
WHERE workspace_id = %(workspace_id)s AND (shared OR created_by = %(user_id)s)
  AND (%(after_at)s::timestamptz IS NULL OR (created_at, id) > (%(after_at)s, %(after_id)s::uuid))
ORDER BY created_at, id
LIMIT %(limit)s;

-- name: change
UPDATE quick_action SET
    name = coalesce(%(name)s, name), prompt = coalesce(%(prompt)s, prompt), target = coalesce(%(target)s, target),
    use_history = coalesce(%(use_history)s, use_history),
    use_preferences = coalesce(%(use_preferences)s, use_preferences), updated_at = clock_timestamp(), version = version + 1
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND (shared OR created_by = %(user_id)s)
  AND (%(version)s::integer IS NULL OR version = %(version)s)
RETURNING {columns};

-- name: delete
DELETE FROM quick_action
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND (shared OR created_by = %(user_id)s)
  AND (%(version)s::integer IS NULL OR version = %(version)s);
