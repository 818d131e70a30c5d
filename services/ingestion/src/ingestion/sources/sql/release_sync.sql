-- Back to the queue, unless another one of the same source waits there already and will do the rest.
UPDATE source_sync AS sync
SET status = CASE WHEN waiting.found THEN 'cancelled' ELSE 'queued' END,
    finished_at = CASE WHEN waiting.found THEN now() END,
    lease = NULL, dispatched_at = NULL, attempts = attempts - %(uncount)s,
    not_before = now() + make_interval(secs => %(delay)s),
    error_class = CASE WHEN waiting.found THEN 'superseded' ELSE %(error_class)s END,
    error_message = CASE WHEN waiting.found THEN %(superseded)s ELSE %(error_message)s END
FROM (
    SELECT NOT mine.dry_run AND EXISTS (
        SELECT FROM source_sync AS other
        WHERE other.workspace_id = mine.workspace_id AND other.source_id = mine.source_id
          AND other.status = 'queued' AND NOT other.dry_run) AS found
    FROM source_sync AS mine
    WHERE mine.workspace_id = %(workspace_id)s AND mine.id = %(id)s
) AS waiting
WHERE sync.workspace_id = %(workspace_id)s AND sync.id = %(id)s AND sync.lease = %(lease)s AND sync.status = 'running'
