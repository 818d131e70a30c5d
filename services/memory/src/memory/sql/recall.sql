-- Exact: a user's memories are few enough to compare all. Vectors of another model or size are not comparable.
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
    ) AS document_ids,
    1 - (memory.embedding <=> %(embedding)s::vector) AS score
FROM memory
WHERE
    memory.workspace_id = %(workspace_id)s
    AND memory.created_by = %(user_id)s
    AND memory.embedding_model = %(model)s
    AND vector_dims(memory.embedding) = vector_dims(%(embedding)s::vector)
ORDER BY memory.embedding <=> %(embedding)s::vector, memory.id
LIMIT %(k)s
