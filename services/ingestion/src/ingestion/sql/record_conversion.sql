WITH version AS (
    UPDATE document_version
    SET title = %(title)s, pages = %(pages)s, chunk_count = %(chunk_count)s, engine = %(engine)s,
        embedding_model = NULL, embedding_dims = NULL
    WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND version = %(version)s
)
UPDATE document
SET title = %(title)s, pages = %(pages)s, chunk_count = %(chunk_count)s, engine = %(engine)s,
    headings = %(headings)s, tags = %(tags)s, language = %(language)s, authors = %(authors)s,
    written_at = %(written_at)s, modified_at = %(modified_at)s, embedding_status = 'pending', embedding_model = NULL,
    embedding_dims = NULL, updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s
