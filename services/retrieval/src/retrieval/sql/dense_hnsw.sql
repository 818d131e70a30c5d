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
LIMIT %(limit)s
