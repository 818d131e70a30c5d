-- name: all
-- Returns the presets of the workspace and the user.
SELECT user_id, name, content, updated_at FROM preset
WHERE workspace_id = %(workspace_id)s AND (user_id IS NULL OR user_id = %(user_id)s)
ORDER BY name, user_id NULLS LAST;

-- name: find
-- Returns the preset of this name: the user's, else the workspace's.
SELECT user_id, name, content, updated_at FROM preset
WHERE workspace_id = %(workspace_id)s AND (user_id IS NULL OR user_id = %(user_id)s) AND name = %(name)s
ORDER BY user_id NULLS LAST
LIMIT 1;

-- name: lock
-- Keeps others from adding presets to the workspace until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace_id)s::text || '/presets', 0));

-- name: count
-- Returns how many others there are in the same scope.
SELECT count(*) FROM preset
WHERE workspace_id = %(workspace_id)s AND user_id IS NOT DISTINCT FROM %(owner_id)s::uuid AND name <> %(name)s;

-- name: put
INSERT INTO preset AS known (workspace_id, user_id, name, content, updated_by)
VALUES (%(workspace_id)s, %(owner_id)s, %(name)s, %(content)s, %(updated_by)s)
ON CONFLICT (workspace_id, user_id, name) DO UPDATE
SET content = excluded.content, updated_by = excluded.updated_by, updated_at = clock_timestamp()
RETURNING user_id, name, content, updated_at;

-- name: delete
DELETE FROM preset
WHERE workspace_id = %(workspace_id)s AND user_id IS NOT DISTINCT FROM %(owner_id)s::uuid AND name = %(name)s;
