SELECT id, name, is_admin, created_at FROM app_user
WHERE %(at)s::timestamptz IS NULL OR (created_at, id) > (%(at)s, %(after)s::uuid)
ORDER BY created_at, id
LIMIT %(limit)s
