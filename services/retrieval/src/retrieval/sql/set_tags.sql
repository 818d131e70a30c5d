UPDATE indexed_document SET tags = %(tags)s WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
