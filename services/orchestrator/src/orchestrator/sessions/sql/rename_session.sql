UPDATE session
SET title = %(title)s, version = version + 1, updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s
  AND (%(version)s::integer IS NULL OR version = %(version)s)
RETURNING id, title, created_at, updated_at, version
