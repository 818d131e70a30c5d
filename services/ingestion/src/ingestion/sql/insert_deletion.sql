INSERT INTO deletion (workspace_id, document_id) VALUES (%(workspace_id)s, %(document_id)s)
