INSERT INTO memory_source (workspace_id, memory_id, document_id)
SELECT %(workspace_id)s, %(memory_id)s, source.document_id
FROM unnest(%(document_ids)s::uuid[]) AS source (document_id)
ON CONFLICT DO NOTHING
