SELECT key.id AS key_id, key.secret_sha256, least(key.role, member.role) AS role, key.all_workspaces,
       key.user_id, app_user.name AS user_name, app_user.is_admin, app_user.created_at AS user_created_at,
       key.workspace_id, workspace.name AS workspace_name, workspace.created_at AS workspace_created_at
FROM api_key AS key
JOIN membership AS member ON member.workspace_id = key.workspace_id AND member.user_id = key.user_id
JOIN app_user ON app_user.id = key.user_id
JOIN workspace ON workspace.id = key.workspace_id
WHERE key.id = %(id)s AND key.revoked_at IS NULL
