-- name: authenticate
-- The one look-up that comes before the workspace is known. The role is the key's, or the member's where that is lower.
SELECT key.id AS key_id, key.secret_sha256, least(key.role, member.role) AS role, key.all_workspaces, key.workspaces,
       key.expires_at, coalesce(key.expires_at <= clock_timestamp(), false) AS is_expired,
       key.user_id, app_user.name AS user_name, app_user.email AS user_email, app_user.is_admin,
       app_user.created_at AS user_created_at,
       app_user.disabled_at AS user_disabled_at,
       key.workspace_id, workspace.name AS workspace_name, workspace.created_at AS workspace_created_at,
       workspace.key_requests_per_minute
FROM api_key AS key
JOIN membership AS member ON member.workspace_id = key.workspace_id AND member.user_id = key.user_id
JOIN app_user ON app_user.id = key.user_id
JOIN workspace ON workspace.id = key.workspace_id
WHERE key.id = %(id)s AND key.revoked_at IS NULL;

-- name: insert
INSERT INTO api_key (workspace_id, id, user_id, name, role, secret_sha256, all_workspaces, workspaces, expires_at)
VALUES (%(workspace_id)s, %(id)s, %(user_id)s, %(name)s, %(role)s, %(secret_sha256)s, %(all_workspaces)s,
        %(workspaces)s, %(expires_at)s)
ON CONFLICT DO NOTHING
RETURNING {columns};

-- name: find
SELECT {columns} FROM api_key WHERE workspace_id = %(workspace_id)s AND id = %(id)s;

-- name: find_state
SELECT key.user_id, key.role, app_user.is_admin
FROM api_key AS key JOIN app_user ON app_user.id = key.user_id
WHERE key.workspace_id = %(workspace_id)s AND key.id = %(id)s;

-- name: list
SELECT {columns} FROM api_key
WHERE workspace_id = %(workspace_id)s AND (%(user_id)s::uuid IS NULL OR user_id = %(user_id)s)
  AND (%(at)s::timestamptz IS NULL OR (created_at, id) > (%(at)s, %(after)s::uuid))
ORDER BY created_at, id
LIMIT %(limit)s;

-- name: revoke
UPDATE api_key SET revoked_at = coalesce(revoked_at, clock_timestamp())
WHERE workspace_id = %(workspace_id)s AND id = %(id)s;

-- name: list_computable
-- Returns the keys of all workspaces whose secrets could be computed from the secret that services shared up to 0.1.0.
SELECT key.id, key.name, key.user_id, app_user.name AS user_name, key.workspace_id, workspace.name AS workspace_name,
       key.role::text AS role, key.created_at, key.last_used_at
FROM api_key AS key
JOIN app_user ON app_user.id = key.user_id
JOIN workspace ON workspace.id = key.workspace_id
WHERE key.is_computable AND key.revoked_at IS NULL
ORDER BY key.created_at, key.id;

-- name: revoke_of_member
UPDATE api_key SET revoked_at = clock_timestamp()
WHERE workspace_id = %(workspace_id)s AND user_id = %(user_id)s AND revoked_at IS NULL;

-- name: mark_used
UPDATE api_key SET last_used_at = %(at)s
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND (last_used_at IS NULL OR last_used_at < %(at)s);
