SELECT count(*) FROM chunk_vector
WHERE workspace_id = %(workspace_id)s AND document = %(document)s AND model = %(model)s AND dims = %(dims)s
