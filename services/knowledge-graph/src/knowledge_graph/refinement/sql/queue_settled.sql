-- Documents with this text that have nothing left to be asked.
INSERT INTO refinement_queue (workspace_id, document_id)
SELECT DISTINCT chunk.workspace_id, chunk.document_id
FROM refinement_chunk AS chunk
WHERE
    chunk.workspace_id = %(workspace_id)s
    AND chunk.digest = %(digest)s
    AND NOT EXISTS (
        SELECT FROM refinement_chunk AS other
        WHERE
            other.workspace_id = chunk.workspace_id
            AND other.document_id = chunk.document_id
            AND NOT EXISTS (
                SELECT FROM refinement_result AS result
                WHERE
                    result.workspace_id = other.workspace_id
                    AND result.digest = other.digest
                    AND result.state <> 'again'
            )
    )
ON CONFLICT (workspace_id, document_id) DO UPDATE SET sequence = DEFAULT
