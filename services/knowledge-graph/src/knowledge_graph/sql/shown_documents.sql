SELECT document_id::text AS id FROM graphed_document
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(documents)s::uuid[])
