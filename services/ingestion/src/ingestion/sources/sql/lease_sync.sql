UPDATE source_sync AS sync
SET status = 'running', lease = %(lease)s, worker = %(worker)s, attempts = sync.attempts + 1, not_before = NULL,
    started_at = coalesce(sync.started_at, now()), heartbeat_at = now(), error_class = NULL, error_message = NULL
FROM source
WHERE sync.workspace_id = %(workspace_id)s AND sync.id = %(sync_id)s AND sync.status = 'queued'
  AND (sync.not_before IS NULL OR sync.not_before <= now())
  AND source.workspace_id = sync.workspace_id AND source.id = sync.source_id AND source.deleted_at IS NULL
  AND (sync.dry_run OR NOT EXISTS (
      SELECT FROM source_sync AS other
      WHERE other.workspace_id = sync.workspace_id AND other.source_id = sync.source_id
        AND other.status = 'running' AND NOT other.dry_run))
RETURNING sync.workspace_id, sync.id, sync.source_id, sync.lease, sync.trigger, sync.dry_run, sync.attempts, sync.bytes,
          source.config, source.on_removed, source.place
