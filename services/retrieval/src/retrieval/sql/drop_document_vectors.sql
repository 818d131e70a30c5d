DELETE FROM document_vector
WHERE workspace_id = %(workspace_id)s AND ctid = ANY (ARRAY(
    SELECT ctid FROM document_vector
    WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s
    LIMIT %(limit)s))
