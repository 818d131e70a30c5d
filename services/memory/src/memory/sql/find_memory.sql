SELECT
    memory.id,
    memory.kind,
    memory.content,
    memory.session_id,
    memory.created_by,
    memory.created_at,
    ARRAY(
        SELECT source.document_id
        FROM memory_source AS source
        WHERE source.workspace_id = memory.workspace_id AND source.memory_id = memory.id
        ORDER BY source.document_id
    ) AS document_ids
FROM memory
WHERE memory.workspace_id = %(workspace_id)s AND memory.id = %(id)s AND memory.created_by = %(user_id)s
