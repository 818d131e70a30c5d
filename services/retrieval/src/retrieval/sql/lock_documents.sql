-- One writer per document at a time, also when the document has no row yet. After the workspace's own lock, in order.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace_id)s::text || document_id, 0))
FROM (SELECT DISTINCT unnest(%(document_ids)s::uuid[])::text AS document_id ORDER BY 1) AS ordered
