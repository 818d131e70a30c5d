UPDATE deletion SET erased_at = now()
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
