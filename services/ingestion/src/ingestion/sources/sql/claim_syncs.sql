-- Syncs that may begin: of a source, one after the other. Sent again after a while, as a message may be lost.
WITH due AS (
    SELECT workspace_id, id
    FROM source_sync AS sync
    WHERE status = 'queued' AND (not_before IS NULL OR not_before <= now())
      AND (dispatched_at IS NULL OR dispatched_at < now() - make_interval(secs => %(resend_after)s))
      AND (dry_run OR NOT EXISTS (
          SELECT FROM source_sync AS other
          WHERE other.workspace_id = sync.workspace_id AND other.source_id = sync.source_id
            AND other.status = 'running' AND NOT other.dry_run))
    ORDER BY created_at
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
UPDATE source_sync AS sync
SET dispatched_at = now()
FROM due
WHERE sync.workspace_id = due.workspace_id AND sync.id = due.id
RETURNING sync.workspace_id, sync.id AS sync_id, sync.traceparent
