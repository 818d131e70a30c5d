SELECT id FROM document
WHERE workspace_id = %(workspace_id)s AND status <> 'deleting' AND id IN (
    SELECT document_id FROM origin WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s
)
ORDER BY id
FOR UPDATE
