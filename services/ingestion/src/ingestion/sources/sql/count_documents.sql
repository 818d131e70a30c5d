SELECT source_id, count(DISTINCT document_id)
FROM origin
WHERE workspace_id = %(workspace_id)s AND source_id = ANY(%(source_ids)s) AND document_id IS NOT NULL
GROUP BY source_id
