UPDATE document_version SET erased_at = now()
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND version = %(version)s
