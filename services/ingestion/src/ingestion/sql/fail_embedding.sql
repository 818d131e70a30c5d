UPDATE document SET embedding_status = 'failed', updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s
