SELECT FROM document_stage
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND name = 'index' AND status <> 'waiting'
