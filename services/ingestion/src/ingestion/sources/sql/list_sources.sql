SELECT id, workspace_id, name, config, every_seconds, on_removed, stale_after_seconds, paused, version, created_at,
       updated_at, next_sync_at
FROM source
WHERE workspace_id = %(workspace_id)s AND deleted_at IS NULL
  AND (%(before)s::timestamptz IS NULL OR (created_at, id) < (%(before)s, %(before_id)s::uuid))
ORDER BY created_at DESC, id DESC
LIMIT %(limit)s
