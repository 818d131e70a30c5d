-- What was told of already goes on to be searchable by its words. Both tables are asked for the ids, so that neither is
-- read as a whole.
UPDATE document
SET status = CASE WHEN index.status = 'waiting' THEN 'cancelled' ELSE document.status END,
    embedding_status = CASE WHEN index.status = 'waiting' THEN document.embedding_status ELSE 'failed' END,
    updated_at = now()
FROM document_stage AS index
WHERE document.workspace_id = %(workspace_id)s AND document.id = ANY(%(document_ids)s)
  AND index.workspace_id = %(workspace_id)s AND index.document_id = ANY(%(document_ids)s)
  AND index.document_id = document.id AND index.name = 'index'
