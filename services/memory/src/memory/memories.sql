-- name: lock
-- Lets what derives from documents and what deletes them take turns, until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended('memory/' || %(workspace_id)s::text, 0));

-- name: insert
-- Inserts nothing if the memory, or one of the same run, exists.
INSERT INTO memory (workspace_id, id, kind, content, created_by, session_id, run_id, embedding_model, embedding)
VALUES (
    %(workspace_id)s, %(id)s, %(kind)s, %(content)s, %(created_by)s, %(session_id)s, %(run_id)s, %(model)s,
    %(embedding)s::vector
)
ON CONFLICT DO NOTHING;

-- name: insert_sources
INSERT INTO memory_source (workspace_id, memory_id, document_id)
SELECT %(workspace_id)s, %(memory_id)s, source.document_id
FROM unnest(%(document_ids)s::uuid[]) AS source (document_id)
ON CONFLICT DO NOTHING;

-- name: living_documents
-- Returns those of the documents that were not deleted.
SELECT DISTINCT cited.document_id
FROM unnest(%(document_ids)s::uuid[]) AS cited (document_id)
WHERE NOT EXISTS (
    SELECT FROM deleted_document AS deleted
    WHERE deleted.workspace_id = %(workspace_id)s AND deleted.document_id = cited.document_id
);

-- name: find
SELECT {columns} FROM memory
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s;

-- name: page
-- Returns the newest first.
SELECT {columns} FROM memory
WHERE
    workspace_id = %(workspace_id)s
    AND created_by = %(user_id)s
    AND (%(kind)s::text IS NULL OR kind = %(kind)s)
    AND (%(before)s::timestamptz IS NULL OR (created_at, id) < (%(before)s, %(before_id)s::uuid))
ORDER BY created_at DESC, id DESC
LIMIT %(limit)s;

-- name: nearest
-- Exact: a user's memories are few enough to compare all. Vectors of another model or size are not comparable.
SELECT {columns}, 1 - (embedding <=> %(embedding)s::vector) AS score FROM memory
WHERE
    workspace_id = %(workspace_id)s
    AND created_by = %(user_id)s
    AND embedding_model = %(model)s
    AND vector_dims(embedding) = vector_dims(%(embedding)s::vector)
ORDER BY embedding <=> %(embedding)s::vector, id
LIMIT %(k)s;

-- name: delete
DELETE FROM memory WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s;

-- name: mark_deleted
-- Keeps the document's id for good, so that a turn that comes late derives nothing from it.
INSERT INTO deleted_document (workspace_id, document_id) VALUES (%(workspace_id)s, %(document_id)s)
ON CONFLICT DO NOTHING;

-- name: delete_document
-- Detaches the document from what derives from it; a memory whose last source it was is deleted.
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
SELECT (SELECT count(*) FROM detached) AS memory_sources, (SELECT count(*) FROM orphaned) AS memories;

-- name: count_derived
SELECT count(*) FROM memory_source WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s;

-- name: is_session_deleted
SELECT EXISTS (SELECT FROM deleted_session WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s);

-- name: mark_session_deleted
-- Keeps the session's id for good, so that a turn that comes late brings nothing of it back.
INSERT INTO deleted_session (workspace_id, session_id) VALUES (%(workspace_id)s, %(session_id)s)
ON CONFLICT DO NOTHING;

-- name: delete_session
DELETE FROM memory WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s;
