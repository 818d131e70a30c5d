SELECT document_id, requested_at, completed_at
FROM deletion
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
FOR UPDATE
