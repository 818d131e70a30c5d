SELECT count(DISTINCT other.document_id)
FROM document_stage AS mine
JOIN document_stage AS other
  ON other.workspace_id = mine.workspace_id AND other.document_id <> mine.document_id
 AND other.status IN ('queued', 'running') AND other.name IN ('convert', 'chunk', 'embed')
 AND other.queued_at < mine.queued_at
WHERE mine.workspace_id = %(workspace_id)s AND mine.document_id = %(document_id)s
  AND mine.status = 'queued' AND mine.name IN ('convert', 'embed')
