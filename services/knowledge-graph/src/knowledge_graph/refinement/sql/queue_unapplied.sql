-- Documents whose graph holds other results than there are.
INSERT INTO refinement_queue (workspace_id, document_id)
SELECT DISTINCT chunk.workspace_id, chunk.document_id
FROM refinement_chunk AS chunk
LEFT JOIN refinement_result AS result
    ON result.workspace_id = chunk.workspace_id AND result.digest = chunk.digest AND result.state = 'done'
WHERE chunk.workspace_id = %(workspace_id)s AND chunk.applied <> (result.digest IS NOT NULL)
ON CONFLICT (workspace_id, document_id) DO UPDATE SET sequence = DEFAULT
