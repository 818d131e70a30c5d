-- Detaches the document from what derives from it; a memory whose last source this was goes with it.
WITH detached AS (
    DELETE FROM memory_source
    WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
    RETURNING memory_id
),
orphaned AS (
    DELETE FROM memory
    USING detached
    WHERE
        memory.workspace_id = %(workspace_id)s
        AND memory.id = detached.memory_id
        AND NOT EXISTS (
            SELECT FROM memory_source AS other
            WHERE
                other.workspace_id = %(workspace_id)s
                AND other.memory_id = detached.memory_id
                AND other.document_id <> %(document_id)s
        )
    RETURNING memory.id
)
SELECT (SELECT count(*) FROM detached) AS sources, (SELECT count(*) FROM orphaned) AS memories
