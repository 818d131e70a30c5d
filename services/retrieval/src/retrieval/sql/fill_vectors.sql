-- Of chunks that are still there; their documents are locked.
INSERT INTO chunk_vector (workspace_id, chunk, document, model, embedding)
SELECT chunk.workspace_id, chunk.number, chunk.document, %(model)s, written.embedding::halfvec
FROM unnest(%(numbers)s::bigint[], %(embeddings)s::text[]) AS written (number, embedding)
JOIN chunk ON chunk.workspace_id = %(workspace_id)s AND chunk.number = written.number
ON CONFLICT (workspace_id, model, dims, chunk) DO NOTHING
