-- name: insert
INSERT INTO app_user (id, name, is_admin) VALUES (%(id)s, %(name)s, %(is_admin)s)
ON CONFLICT (id) DO NOTHING
RETURNING {columns};

-- name: find
SELECT {columns} FROM app_user WHERE id = %(id)s;

-- name: list
SELECT {columns} FROM app_user
WHERE %(at)s::timestamptz IS NULL OR (created_at, id) > (%(at)s, %(after)s::uuid)
ORDER BY created_at, id
LIMIT %(limit)s;
