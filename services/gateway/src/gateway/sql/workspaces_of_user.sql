SELECT membership.workspace_id
FROM membership
JOIN workspace ON workspace.id = membership.workspace_id
WHERE membership.user_id = %(user_id)s
ORDER BY workspace.created_at, workspace.id
LIMIT %(limit)s
