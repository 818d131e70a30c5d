UPDATE deletion SET completed_at = now()
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND completed_at IS NULL
