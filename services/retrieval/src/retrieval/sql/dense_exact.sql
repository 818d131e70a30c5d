-- Every vector of the workspace, less those that the filter has no bit for. The untyped column matches no HNSW index.
SELECT chunk, 1 - (embedding <=> %(vector)s::halfvec) AS score
FROM chunk_vector
WHERE workspace_id = %(workspace_id)s
  AND model = %(model)s AND dims = %(dims)s
  AND (%(bitmap)s::bytea IS NULL
       OR CASE WHEN (chunk >> 20) - %(first)s BETWEEN 0 AND 8 * length(%(bitmap)s::bytea) - 1
               THEN get_bit(%(bitmap)s::bytea, (chunk >> 20) - %(first)s) = 1 ELSE false END)
ORDER BY embedding <=> %(vector)s::halfvec, chunk
LIMIT %(limit)s
