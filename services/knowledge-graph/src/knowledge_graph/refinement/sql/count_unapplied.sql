SELECT count(DISTINCT chunk.document_id)
FROM refinement_chunk AS chunk
LEFT JOIN refinement_result AS result
    ON result.workspace_id = chunk.workspace_id AND result.digest = chunk.digest AND result.state = 'done'
WHERE chunk.workspace_id = %(workspace_id)s AND chunk.applied <> (result.digest IS NOT NULL)
