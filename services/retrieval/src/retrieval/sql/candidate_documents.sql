SELECT document, 1 - (embedding <=> %(vector)s::halfvec) AS score
FROM document_vector
WHERE workspace_id = %(workspace_id)s AND document = ANY (%(documents)s::bigint[])
  AND model = %(model)s AND dims = %(dims)s
