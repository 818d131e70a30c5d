SELECT chunk.document_id, chunk.number, chunk.chunk_id, chunk.digest, chunk.tokens, document.chunks_key
FROM refinement_chunk AS chunk
INNER JOIN graphed_document AS document
    ON document.workspace_id = chunk.workspace_id AND document.document_id = chunk.document_id
WHERE
    chunk.workspace_id = %(workspace_id)s
    AND (%(document_ids)s::uuid[] IS NULL OR chunk.document_id = ANY(%(document_ids)s::uuid[]))
    AND (chunk.document_id, chunk.number) > (%(after_document)s::uuid, %(after_number)s::integer)
    AND chunk.digest <> ALL(%(except)s::bytea[])
    AND NOT EXISTS (
        SELECT FROM refinement_result AS result
        WHERE
            result.workspace_id = chunk.workspace_id
            AND result.digest = chunk.digest
            AND result.state <> 'again'
    )
ORDER BY chunk.document_id, chunk.number
LIMIT %(limit)s
