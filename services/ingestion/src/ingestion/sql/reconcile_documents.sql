SELECT id, name, version, searchable_version, chunk_count, content_hash, embedding_model IS NOT NULL AS embedded,
       EXISTS (SELECT FROM document_stage AS stage
               WHERE stage.workspace_id = document.workspace_id AND stage.document_id = document.id
                 AND stage.name = 'graph' AND stage.status = 'succeeded') AS graphed,
       updated_at
FROM document
WHERE workspace_id = %(workspace_id)s AND status <> 'deleting'
