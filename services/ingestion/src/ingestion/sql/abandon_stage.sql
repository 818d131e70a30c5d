-- The document is being deleted: its objects may be erased once no worker holds it.
UPDATE document_stage SET status = 'waiting', lease = NULL
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND lease = %(lease)s AND status = 'running'
