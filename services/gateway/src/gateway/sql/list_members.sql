SELECT member.user_id, app_user.name, member.role, member.created_at
FROM membership AS member JOIN app_user ON app_user.id = member.user_id
WHERE member.workspace_id = %(workspace_id)s
  AND (%(at)s::timestamptz IS NULL OR (member.created_at, member.user_id) > (%(at)s, %(after)s::uuid))
ORDER BY member.created_at, member.user_id
LIMIT %(limit)s
