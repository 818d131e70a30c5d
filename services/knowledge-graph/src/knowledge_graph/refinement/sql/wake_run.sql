UPDATE refinement_run SET state = 'queued', available_at = now()
WHERE
    workspace_id = %(workspace_id)s
    AND state = 'waiting'
    AND EXISTS (
        SELECT FROM refinement_chunk AS chunk
        WHERE
            chunk.workspace_id = %(workspace_id)s
            AND NOT EXISTS (
                SELECT FROM refinement_result AS result
                WHERE
                    result.workspace_id = chunk.workspace_id
                    AND result.digest = chunk.digest
                    AND result.state <> 'again'
            )
    )
