-- What was found in a text goes with the last passage that has it.
DELETE FROM refinement_result AS result
WHERE
    result.workspace_id = %(workspace_id)s
    AND result.digest = ANY(%(digests)s::bytea[])
    AND NOT EXISTS (
        SELECT FROM refinement_chunk AS chunk
        WHERE chunk.workspace_id = result.workspace_id AND chunk.digest = result.digest
    )
