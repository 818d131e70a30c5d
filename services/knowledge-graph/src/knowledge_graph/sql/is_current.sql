SELECT
    NOT EXISTS (
        SELECT FROM deleted_document WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
    )
    AND NOT EXISTS (
        SELECT FROM graphed_document
        WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND version > %(version)s
    )
