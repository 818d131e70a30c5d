SELECT id, title, created_at, updated_at, version
FROM session
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s
