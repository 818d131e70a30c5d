SELECT member.workspace_id, app_user.id
FROM app_user JOIN membership AS member ON member.user_id = app_user.id
WHERE app_user.is_admin AND member.role = 'owner'
ORDER BY app_user.created_at, member.created_at
LIMIT 1
