SELECT document_id FROM deletion
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND erased_at IS NULL
FOR UPDATE SKIP LOCKED
