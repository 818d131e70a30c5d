SELECT document_id FROM deletion WHERE workspace_id = %(workspace_id)s AND completed_at IS NULL
