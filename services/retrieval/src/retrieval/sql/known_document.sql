SELECT
    (SELECT version FROM indexed_document
     WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s) AS version,
    EXISTS (SELECT FROM tombstone
            WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s) AS deleted
