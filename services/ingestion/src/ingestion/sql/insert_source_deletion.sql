INSERT INTO source_deletion (workspace_id, source_id) VALUES (%(workspace_id)s, %(source_id)s) ON CONFLICT DO NOTHING
