-- What a worker holds without a sign of life waits again; after several workers it has failed. Where another one of the
-- same source waits, that one does the rest.
WITH lost AS (
    SELECT workspace_id, id, losses + 1 AS losses,
           NOT dry_run AND EXISTS (
               SELECT FROM source_sync AS other
               WHERE other.workspace_id = sync.workspace_id AND other.source_id = sync.source_id
                 AND other.status = 'queued' AND NOT other.dry_run) AS superseded
    FROM source_sync AS sync
    WHERE status = 'running' AND heartbeat_at < now() - make_interval(secs => %(lease)s)
    FOR UPDATE SKIP LOCKED
)
UPDATE source_sync AS sync
SET status = CASE WHEN lost.superseded OR lost.losses >= %(max_losses)s THEN 'failed' ELSE 'queued' END,
    finished_at = CASE WHEN lost.superseded OR lost.losses >= %(max_losses)s THEN now() END,
    losses = lost.losses, lease = NULL, dispatched_at = NULL,
    error_class = 'worker-lost', error_message = %(message)s
FROM lost
WHERE sync.workspace_id = lost.workspace_id AND sync.id = lost.id
