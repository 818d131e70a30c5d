UPDATE document_stage SET status = 'waiting'
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND status = 'queued'
