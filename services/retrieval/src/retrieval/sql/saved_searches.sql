SELECT id, name, request, created_by, created_at, updated_at, version
FROM saved_search
WHERE workspace_id = %(workspace_id)s
  AND (%(before_at)s::timestamptz IS NULL OR (created_at, id) < (%(before_at)s, %(before_id)s::uuid))
ORDER BY created_at DESC, id DESC
LIMIT %(limit)s
