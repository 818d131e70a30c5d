-- name: insert
-- Creates a workspace, unless there is one with this id, or was: the services refuse everything of a deleted one.
INSERT INTO workspace (id, name)
SELECT %(id)s, %(name)s WHERE NOT EXISTS (SELECT FROM workspace_deletion WHERE workspace_id = %(id)s)
ON CONFLICT (id) DO NOTHING
RETURNING {columns};

-- name: change
UPDATE workspace SET key_requests_per_minute = %(key_requests_per_minute)s WHERE id = %(id)s RETURNING {columns};

-- name: find
SELECT {columns} FROM workspace WHERE id = %(id)s;

-- name: lock
-- Until the transaction ends, nobody else changes who is in the workspace.
SELECT true FROM workspace WHERE id = %(id)s FOR UPDATE;

-- name: list
SELECT {columns} FROM workspace
WHERE (%(only)s::uuid IS NULL OR id = %(only)s)
  AND (%(at)s::timestamptz IS NULL OR (created_at, id) > (%(at)s, %(after)s::uuid))
ORDER BY created_at, id
LIMIT %(limit)s;

-- name: ids_of_user
-- Returns the workspaces that a user is a member of, the oldest first; `only` limits them to some.
SELECT membership.workspace_id
FROM membership
JOIN workspace ON workspace.id = membership.workspace_id
WHERE membership.user_id = %(user_id)s
  AND (%(only)s::uuid[] IS NULL OR membership.workspace_id = ANY(%(only)s))
ORDER BY workspace.created_at, workspace.id
LIMIT %(limit)s;

-- name: find_admin
-- Returns the first active administrator and a workspace that this user owns.
SELECT member.workspace_id, app_user.id AS user_id
FROM app_user JOIN membership AS member ON member.user_id = app_user.id
WHERE app_user.is_admin AND app_user.disabled_at IS NULL AND member.role = 'owner'
ORDER BY app_user.created_at, member.created_at
LIMIT 1;

-- name: delete_contents
-- Keys, invitations and members refer to the workspace and go first; their counts are the gateway's own receipt.
WITH keys AS (DELETE FROM api_key WHERE workspace_id = %(id)s RETURNING 1),
invitations AS (DELETE FROM invitation WHERE workspace_id = %(id)s RETURNING 1),
members AS (DELETE FROM membership WHERE workspace_id = %(id)s RETURNING 1)
SELECT (SELECT count(*) FROM keys) AS api_key, (SELECT count(*) FROM invitations) AS invitation,
       (SELECT count(*) FROM members) AS membership;

-- name: delete
DELETE FROM workspace WHERE id = %(id)s;

-- name: count
SELECT (SELECT count(*) FROM api_key WHERE workspace_id = %(id)s) AS api_key,
       (SELECT count(*) FROM invitation WHERE workspace_id = %(id)s) AS invitation,
       (SELECT count(*) FROM membership WHERE workspace_id = %(id)s) AS membership,
       (SELECT count(*) FROM workspace WHERE id = %(id)s) AS workspace;
