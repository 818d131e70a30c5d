SELECT workspace_id, id
FROM source
WHERE stale_after_seconds IS NOT NULL AND stale_since IS NULL AND deleted_at IS NULL
  AND coalesce(last_success_at, created_at) + make_interval(secs => stale_after_seconds) <= now()
LIMIT %(limit)s
