-- What was told of already goes on to be searchable by its words.
UPDATE document
SET status = CASE WHEN index.status = 'waiting' THEN 'cancelled' ELSE document.status END,
    embedding_status = CASE WHEN index.status = 'waiting' THEN document.embedding_status ELSE 'failed' END,
    updated_at = now()
FROM document_stage AS index
WHERE document.workspace_id = %(workspace_id)s AND document.id = ANY(%(document_ids)s)
  AND index.workspace_id = document.workspace_id AND index.document_id = document.id AND index.name = 'index'
