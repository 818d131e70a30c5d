SELECT chunk.document_id, chunk.number, chunk.chunk_id, result.attempts, result.error, result.changed_at AS failed_at
FROM refinement_result AS result
INNER JOIN refinement_chunk AS chunk ON chunk.workspace_id = result.workspace_id AND chunk.digest = result.digest
WHERE
    result.workspace_id = %(workspace_id)s
    AND result.state = 'failed'
    AND (chunk.document_id, chunk.number) > (%(after_document)s::uuid, %(after_number)s::integer)
ORDER BY chunk.document_id, chunk.number
LIMIT %(limit)s
