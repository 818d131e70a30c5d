-- What only the conversion can tell stays as it was; the vectors are those of the version before.
WITH newer AS (
    UPDATE document
    SET version = version + 1, media_type = %(media_type)s, file_size = %(file_size)s, content_hash = %(content_hash)s,
        status = 'processing', embedding_status = 'pending', embedding_model = NULL, embedding_dims = NULL,
        stale_at = NULL, updated_at = now()
    WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s
    RETURNING workspace_id, id, version, media_type, file_size, content_hash
),
replaced AS (
    UPDATE document_version AS older
    SET replaced_at = now()
    FROM newer
    WHERE older.workspace_id = newer.workspace_id AND older.document_id = newer.id AND older.replaced_at IS NULL
)
INSERT INTO document_version (workspace_id, document_id, version, name, media_type, file_size, content_hash)
SELECT workspace_id, id, version, %(name)s, media_type, file_size, content_hash FROM newer
