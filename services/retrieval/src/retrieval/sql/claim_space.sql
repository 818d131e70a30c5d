-- The one that waited longest, of what this process can do and nobody holds. Dropping needs no model.
UPDATE embedding_space AS claimed SET
    lease_owner = %(owner)s, lease_until = now() + make_interval(secs => %(lease_seconds)s), worked_at = now()
FROM (
    SELECT workspace_id, id FROM embedding_space
    WHERE (status = 'dropping'
           OR ((status IN ('building', 'failed') OR (status = 'active' AND incomplete))
               AND (model, dims) IN (SELECT * FROM unnest(%(models)s::text[], %(dims)s::integer[]))))
      AND coalesce(next_attempt_at, '-infinity') <= now() AND coalesce(lease_until, '-infinity') < now()
    ORDER BY worked_at NULLS FIRST
    LIMIT 1
    FOR UPDATE SKIP LOCKED
) AS due
WHERE claimed.workspace_id = due.workspace_id AND claimed.id = due.id
RETURNING claimed.workspace_id, claimed.id, model, dims, status, activate, attempts, rate
