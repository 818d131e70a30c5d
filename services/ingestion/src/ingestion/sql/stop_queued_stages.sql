UPDATE document_stage SET status = 'waiting'
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s) AND status = 'queued'
