-- Unless one waits, or has begun since: it sees the change.
INSERT INTO source_sync (workspace_id, id, source_id, trigger)
SELECT workspace_id, gen_random_uuid(), id, 'watch'
FROM source
WHERE workspace_id = %(workspace_id)s AND id = %(source_id)s AND NOT paused AND deleted_at IS NULL
  AND NOT EXISTS (
      SELECT FROM source_sync AS sync
      WHERE sync.workspace_id = source.workspace_id AND sync.source_id = source.id AND NOT sync.dry_run
        AND (sync.status = 'queued' OR sync.started_at > %(since)s))
ON CONFLICT DO NOTHING
