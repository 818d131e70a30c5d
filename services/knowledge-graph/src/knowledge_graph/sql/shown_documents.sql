SELECT document_id::text AS id, method = 'user' AS is_import FROM graphed_document
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(documents)s::uuid[])
