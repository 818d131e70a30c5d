SELECT number, title_terms FROM indexed_document
WHERE workspace_id = %(workspace_id)s AND number = ANY (%(documents)s::bigint[])
