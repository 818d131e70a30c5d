-- Every vector of some documents, whose chunks are ranges of the key. OFFSET 0 keeps them so.
SELECT chunk, 1 - (embedding <=> %(vector)s::halfvec) AS score
FROM unnest(%(documents)s::bigint[]) AS wanted (document)
CROSS JOIN LATERAL (
    SELECT chunk, embedding FROM chunk_vector
    WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s
      AND chunk >= wanted.document << 20 AND chunk < (wanted.document + 1) << 20
    OFFSET 0
) AS vector
ORDER BY embedding <=> %(vector)s::halfvec, chunk
LIMIT %(limit)s
