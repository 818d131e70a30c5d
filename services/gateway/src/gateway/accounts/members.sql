-- name: put
INSERT INTO membership (workspace_id, user_id, role) VALUES (%(workspace_id)s, %(user_id)s, %(role)s)
ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = excluded.role;

-- name: find
SELECT {columns}
FROM membership AS member JOIN app_user ON app_user.id = member.user_id
WHERE member.workspace_id = %(workspace_id)s AND member.user_id = %(user_id)s;

-- name: list
SELECT {columns}
FROM membership AS member JOIN app_user ON app_user.id = member.user_id
WHERE member.workspace_id = %(workspace_id)s
  AND (%(at)s::timestamptz IS NULL OR (member.created_at, member.user_id) > (%(at)s, %(after)s::uuid))
ORDER BY member.created_at, member.user_id
LIMIT %(limit)s;

-- name: has_other_owner
SELECT EXISTS (
    SELECT FROM membership WHERE workspace_id = %(workspace_id)s AND user_id <> %(user_id)s AND role = 'owner'
);

-- name: delete
DELETE FROM membership WHERE workspace_id = %(workspace_id)s AND user_id = %(user_id)s;

-- name: is_active
SELECT EXISTS (
    SELECT FROM membership AS member JOIN app_user ON app_user.id = member.user_id
    WHERE member.workspace_id = %(workspace_id)s AND member.user_id = %(user_id)s AND app_user.disabled_at IS NULL
);
