SELECT id, title, created_at, updated_at, version
FROM session
WHERE workspace_id = %(workspace_id)s AND created_by = %(user_id)s
  AND (%(before_at)s::timestamptz IS NULL OR (updated_at, id) < (%(before_at)s, %(before_id)s::uuid))
ORDER BY updated_at DESC, id DESC
LIMIT %(limit)s
