SELECT id, name, created_at FROM workspace
WHERE (%(only)s::uuid IS NULL OR id = %(only)s)
  AND (%(at)s::timestamptz IS NULL OR (created_at, id) > (%(at)s, %(after)s::uuid))
ORDER BY created_at, id
LIMIT %(limit)s
