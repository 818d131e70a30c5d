INSERT INTO chunk_vector (workspace_id, chunk, document, model, embedding)
SELECT %(workspace_id)s, chunk, %(document)s, %(model)s, embedding::halfvec
FROM unnest(%(numbers)s::bigint[], %(embeddings)s::text[]) AS written (chunk, embedding)
ON CONFLICT (workspace_id, model, dims, chunk) DO NOTHING
