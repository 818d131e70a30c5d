INSERT INTO tombstone (workspace_id, document_id) VALUES (%(workspace_id)s, %(document_id)s) ON CONFLICT DO NOTHING
