DELETE FROM chunk_vector
WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM chunk_vector
    WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s
    LIMIT %(limit)s))
