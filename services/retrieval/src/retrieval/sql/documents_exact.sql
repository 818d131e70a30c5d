-- Every vector of the workspace's documents, or of those of the filter. The untyped column matches no HNSW index.
SELECT document, 1 - (embedding <=> %(vector)s::halfvec) AS score
FROM document_vector
WHERE workspace_id = %(workspace_id)s AND model = %(model)s AND dims = %(dims)s
  AND (%(documents)s::bigint[] IS NULL OR document = ANY (%(documents)s::bigint[]))
ORDER BY embedding <=> %(vector)s::halfvec, document
LIMIT %(limit)s
