SELECT count(*) FROM session_document WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
