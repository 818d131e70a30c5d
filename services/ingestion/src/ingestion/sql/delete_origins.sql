DELETE FROM origin WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s)
