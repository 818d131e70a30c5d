SELECT entity_id, chunk_id, count(*) AS mentions
FROM mention
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
GROUP BY entity_id, chunk_id
