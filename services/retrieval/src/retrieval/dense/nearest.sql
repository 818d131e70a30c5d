-- name: exact
-- Compares every vector of the workspace that the filter has a bit for. The column has no fixed dimensions, so it
-- matches no HNSW index. The scores are computed of the nearest only: beside the order, each distance would be twice. In
-- a subquery the vector's text is read once, by any plan.
SELECT chunk, 1 - distance AS score FROM (
    SELECT chunk, embedding <=> (SELECT %(vector)s::halfvec) AS distance
    FROM chunk_vector
    WHERE workspace_id = %(workspace_id)s
      AND model = %(model)s AND dims = %(dims)s
      AND (%(bitmap)s::bytea IS NULL
           OR CASE WHEN (chunk >> 20) - %(first)s BETWEEN 0 AND 8 * length(%(bitmap)s::bytea) - 1
                   THEN get_bit(%(bitmap)s::bytea, (chunk >> 20) - %(first)s) = 1 ELSE false END)
    ORDER BY distance, chunk
    LIMIT %(limit)s
) AS nearest
ORDER BY distance, chunk;

-- name: exact_in_documents
-- Compares every vector of some documents, whose chunks are ranges of the key. OFFSET 0 keeps the planner from pulling
-- up the subquery.
SELECT chunk, 1 - distance AS score FROM (
    SELECT chunk, embedding <=> (SELECT %(vector)s::halfvec) AS distance
    FROM unnest(%(documents)s::bigint[]) AS wanted (document)
    CROSS JOIN LATERAL (
        SELECT chunk, embedding FROM chunk_vector
        WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s
          AND chunk >= wanted.document << 20 AND chunk < (wanted.document + 1) << 20
        OFFSET 0
    ) AS vector
    ORDER BY distance, chunk
    LIMIT %(limit)s
) AS nearest
ORDER BY distance, chunk;

-- name: approximate
-- Uses the partial index of the space, so {model} and {dims} are literals; as the limits are, too, any plan knows that
-- few rows are wanted. How far HNSW searches is set before the scan begins, which depends on it for that reason. The
-- outer ORDER BY corrects the relaxed order of the index.
SELECT chunk, 1 - distance AS score
FROM (SELECT set_config('hnsw.max_scan_tuples', %(most_compared)s::text, true) AS compared,
             set_config('hnsw.ef_search', %(candidates)s::text, true) AS kept
      OFFSET 0) AS configured
CROSS JOIN LATERAL (
    SELECT chunk, embedding::halfvec({dims}) <=> %(vector)s::halfvec({dims}) AS distance
    FROM chunk_vector
    WHERE workspace_id = %(workspace_id)s
      AND model = {model} AND vector_dims(embedding) = {dims} AND configured.kept IS NOT NULL
      AND (%(bitmap)s::bytea IS NULL
           OR CASE WHEN (chunk >> 20) - %(first)s BETWEEN 0 AND 8 * length(%(bitmap)s::bytea) - 1
                   THEN get_bit(%(bitmap)s::bytea, (chunk >> 20) - %(first)s) = 1 ELSE false END)
    ORDER BY distance
    LIMIT {read}
) AS nearest
ORDER BY score DESC, chunk
LIMIT %(limit)s;
