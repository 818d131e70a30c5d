INSERT INTO deletion (workspace_id, document_id, source_id)
SELECT %(workspace_id)s, document_id, %(source_id)s::uuid FROM unnest(%(document_ids)s::uuid[]) AS document_id
