SELECT chunk, 1 - (embedding <=> %(vector)s::halfvec) AS score
FROM chunk_vector
WHERE workspace_id = %(workspace_id)s AND chunk = ANY (%(chunks)s::bigint[])
  AND model = %(model)s AND dims = %(dims)s
