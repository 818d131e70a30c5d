SELECT id, workspace_id, name, config, every_seconds, on_removed, stale_after_seconds, paused, version, created_at,
       updated_at, next_sync_at
FROM source
WHERE workspace_id = %(workspace_id)s AND id = %(source_id)s AND deleted_at IS NULL
