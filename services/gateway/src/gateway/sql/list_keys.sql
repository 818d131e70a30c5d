SELECT id, name, user_id, workspace_id, role, all_workspaces, created_at, last_used_at, revoked_at FROM api_key
WHERE workspace_id = %(workspace_id)s
  AND (%(at)s::timestamptz IS NULL OR (created_at, id) > (%(at)s, %(after)s::uuid))
ORDER BY created_at, id
LIMIT %(limit)s
