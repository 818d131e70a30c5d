WITH recorded AS (
    UPDATE document
    SET title = %(title)s, pages = %(pages)s, chunk_count = %(chunk_count)s, engine = %(engine)s, updated_at = now()
    WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s
    RETURNING *
)
UPDATE document_version AS past
SET title = recorded.title, pages = recorded.pages, chunk_count = recorded.chunk_count, engine = recorded.engine
FROM recorded
WHERE past.workspace_id = recorded.workspace_id AND past.document_id = recorded.id AND past.version = recorded.version
