SELECT workspace_id, kind, id, other, sequence, receipt
FROM projection_queue
ORDER BY sequence
LIMIT %(limit)s
