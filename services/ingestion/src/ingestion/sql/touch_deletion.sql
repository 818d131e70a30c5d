UPDATE deletion SET announced_at = announced_at
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
