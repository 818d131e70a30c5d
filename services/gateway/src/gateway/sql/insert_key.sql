INSERT INTO api_key (workspace_id, id, user_id, name, role, secret_sha256, all_workspaces)
VALUES (%(workspace_id)s, %(id)s, %(user_id)s, %(name)s, %(role)s, %(secret_sha256)s, %(all_workspaces)s)
ON CONFLICT DO NOTHING
RETURNING id, name, user_id, workspace_id, role, all_workspaces, created_at, last_used_at, revoked_at
