SELECT DISTINCT thread_id
FROM checkpoints
WHERE thread_id NOT IN (SELECT id::text FROM run WHERE status IN ('queued', 'running'))
LIMIT %(limit)s
