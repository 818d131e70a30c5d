-- name: exact
-- Every vector of the workspace, less those that the filter has no bit for. The untyped column matches no HNSW index.
SELECT chunk, 1 - (embedding <=> %(vector)s::halfvec) AS score
FROM chunk_vector
WHERE workspace_id = %(workspace_id)s
  AND model = %(model)s AND dims = %(dims)s
  AND (%(bitmap)s::bytea IS NULL
       OR CASE WHEN (chunk >> 20) - %(first)s BETWEEN 0 AND 8 * length(%(bitmap)s::bytea) - 1
               THEN get_bit(%(bitmap)s::bytea, (chunk >> 20) - %(first)s) = 1 ELSE false END)
ORDER BY embedding <=> %(vector)s::halfvec, chunk
LIMIT %(limit)s;

-- name: exact_in_documents
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
LIMIT %(limit)s;

-- name: approximate
-- {model} and {dims} are literals: the index of the embedding space is a partial one. The outer order mends the relaxed.
SELECT chunk, score FROM (
    SELECT chunk, 1 - (embedding::halfvec({dims}) <=> %(vector)s::halfvec({dims})) AS score
    FROM chunk_vector
    WHERE workspace_id = %(workspace_id)s
      AND model = {model} AND vector_dims(embedding) = {dims}
      AND (%(bitmap)s::bytea IS NULL
           OR CASE WHEN (chunk >> 20) - %(first)s BETWEEN 0 AND 8 * length(%(bitmap)s::bytea) - 1
                   THEN get_bit(%(bitmap)s::bytea, (chunk >> 20) - %(first)s) = 1 ELSE false END)
    ORDER BY embedding::halfvec({dims}) <=> %(vector)s::halfvec({dims})
    LIMIT greatest(%(limit)s, %(at_least)s)
) AS nearest
ORDER BY score DESC, chunk
LIMIT %(limit)s;

-- name: configure
SELECT set_config('hnsw.max_scan_tuples', %(most_visited)s::text, true),
       set_config('hnsw.ef_search', %(candidates)s::text, true),
       set_config('enable_sort', %(sorting)s, true),
       set_config('plan_cache_mode', %(planning)s, true);
