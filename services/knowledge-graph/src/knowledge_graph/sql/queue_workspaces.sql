INSERT INTO projection_queue (workspace_id, kind, id)
SELECT DISTINCT workspace_id, 'workspace', '' FROM graphed_document
WHERE %(workspace_id)s::uuid IS NULL OR workspace_id = %(workspace_id)s::uuid
ON CONFLICT (workspace_id, kind, id, other) DO UPDATE SET sequence = DEFAULT, queued_at = now()
RETURNING workspace_id
