-- name: all
-- Returns what the workspace and the user have set; with a null user what the workspace has.
SELECT user_id, key, value, sealed, key_id, updated_at FROM setting
WHERE workspace_id = %(workspace_id)s AND (user_id IS NULL OR user_id = %(user_id)s)
ORDER BY key, user_id NULLS FIRST;

-- name: lock
-- Keeps others from changing the settings of the workspace until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace_id)s::text || '/settings', 0));

-- name: put
INSERT INTO setting AS known (workspace_id, user_id, key, value, sealed, key_id, updated_by)
VALUES (%(workspace_id)s, %(user_id)s, %(key)s, %(value)s, %(sealed)s, %(key_id)s, %(updated_by)s)
ON CONFLICT (workspace_id, user_id, key) DO UPDATE
SET value = excluded.value, sealed = excluded.sealed, key_id = excluded.key_id, updated_by = excluded.updated_by,
    updated_at = clock_timestamp();

-- name: delete
DELETE FROM setting
WHERE workspace_id = %(workspace_id)s AND user_id IS NOT DISTINCT FROM %(user_id)s::uuid AND key = %(key)s;

-- name: sealed_otherwise
-- Returns secrets of all workspaces that are sealed with another key.
SELECT workspace_id, key, sealed, key_id FROM setting
WHERE sealed IS NOT NULL AND key_id <> %(key_id)s
ORDER BY workspace_id, key
FOR UPDATE;

-- name: reseal
UPDATE setting SET sealed = %(sealed)s, key_id = %(key_id)s
WHERE workspace_id = %(of_workspace)s AND user_id IS NULL AND key = %(key)s;

-- name: with_roles
-- Returns the workspaces that have chosen models, with these.
SELECT workspace_id, key, value FROM setting WHERE key LIKE 'roles.%%' AND user_id IS NULL
ORDER BY workspace_id, key
LIMIT %(limit)s;
