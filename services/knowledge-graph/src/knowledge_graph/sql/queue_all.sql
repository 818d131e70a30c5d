INSERT INTO projection_queue (workspace_id, document_id)
SELECT workspace_id, document_id FROM graphed_document
WHERE %(workspace_id)s::uuid IS NULL OR workspace_id = %(workspace_id)s::uuid
ORDER BY graphed_at
ON CONFLICT (workspace_id, document_id) DO UPDATE SET sequence = DEFAULT, queued_at = now()
