UPDATE document_stage AS stage
SET heartbeat_at = now(), page = %(page)s, pages = %(pages)s
FROM document
WHERE stage.workspace_id = %(workspace_id)s AND stage.document_id = %(document_id)s AND stage.lease = %(lease)s
  AND stage.status = 'running'
  AND document.workspace_id = stage.workspace_id AND document.id = stage.document_id AND document.status <> 'deleting'
