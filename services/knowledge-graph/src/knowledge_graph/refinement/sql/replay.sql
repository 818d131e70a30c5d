WITH forgotten AS (
    DELETE FROM refinement_result AS result
    WHERE
        result.workspace_id = %(workspace_id)s
        AND result.state = 'failed'
        AND (
            %(chunk_ids)s::text[] IS NULL
            OR result.digest IN (
                SELECT digest FROM refinement_chunk
                WHERE workspace_id = %(workspace_id)s AND chunk_id = ANY(%(chunk_ids)s::text[])
            )
        )
    RETURNING digest
)

SELECT count(*) FROM refinement_chunk
WHERE workspace_id = %(workspace_id)s AND digest IN (SELECT digest FROM forgotten)
