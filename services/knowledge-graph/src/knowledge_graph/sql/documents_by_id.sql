SELECT document_id, name, chunks_key
FROM graphed_document
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(ids)s)
