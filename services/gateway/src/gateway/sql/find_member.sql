SELECT member.user_id, app_user.name, member.role, member.created_at, app_user.is_admin
FROM membership AS member JOIN app_user ON app_user.id = member.user_id
WHERE member.workspace_id = %(workspace_id)s AND member.user_id = %(user_id)s
