-- Of documents that are still what they were when their texts were read.
INSERT INTO document_vector (workspace_id, document, model, embedding)
SELECT indexed.workspace_id, indexed.number, %(model)s, written.embedding::halfvec
FROM unnest(%(numbers)s::bigint[], %(states)s::text[], %(embeddings)s::text[]) AS written (number, state, embedding)
JOIN indexed_document AS indexed ON indexed.workspace_id = %(workspace_id)s AND indexed.number = written.number
                                AND indexed.xmin::text = written.state
WHERE wants_document_vectors(%(workspace_id)s)
ON CONFLICT (workspace_id, document, model, dims) DO NOTHING
