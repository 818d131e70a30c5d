-- Of each document, whose chunks are a range of the key, the ones that are nearest.
SELECT chunk, score
FROM unnest(%(documents)s::bigint[]) AS wanted (document)
CROSS JOIN LATERAL (
    SELECT chunk, 1 - (embedding <=> %(vector)s::halfvec) AS score FROM chunk_vector
    WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s
      AND chunk >= wanted.document << 20 AND chunk < (wanted.document + 1) << 20
    ORDER BY embedding <=> %(vector)s::halfvec, chunk
    LIMIT %(each)s
) AS nearest
