SELECT coalesce(sum(document.file_size), 0)::bigint
FROM document_stage AS stage
JOIN document ON document.workspace_id = stage.workspace_id AND document.id = stage.document_id
WHERE stage.workspace_id = %(workspace_id)s AND stage.status IN ('queued', 'running') AND stage.name = 'convert'
  AND stage.lane = %(lane)s
