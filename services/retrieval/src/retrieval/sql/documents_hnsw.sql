-- {model} and {dims} are literals: the index of the embedding space is a partial one. The outer order mends the relaxed.
SELECT document, score FROM (
    SELECT document, 1 - (embedding::halfvec({dims}) <=> %(vector)s::halfvec({dims})) AS score
    FROM document_vector
    WHERE workspace_id = %(workspace_id)s AND model = {model} AND vector_dims(embedding) = {dims}
      AND (%(documents)s::bigint[] IS NULL OR document = ANY (%(documents)s::bigint[]))
    ORDER BY embedding::halfvec({dims}) <=> %(vector)s::halfvec({dims})
    LIMIT %(limit)s
) AS nearest
ORDER BY score DESC, document
