-- With its first version. The columns about where it comes from follow with its origin.
WITH inserted AS (
    INSERT INTO document (workspace_id, id, name, media_type, file_size, content_hash, source_type)
    VALUES (%(workspace_id)s, %(document_id)s, %(name)s, %(media_type)s, %(file_size)s, %(content_hash)s, %(kind)s)
    RETURNING *
)
INSERT INTO document_version (workspace_id, document_id, version, name, media_type, file_size, content_hash)
SELECT workspace_id, id, version, name, media_type, file_size, content_hash FROM inserted
