UPDATE source SET stale_since = now()
WHERE workspace_id = %(workspace_id)s AND id = %(source_id)s AND stale_since IS NULL AND deleted_at IS NULL
  AND coalesce(last_success_at, created_at) + make_interval(secs => stale_after_seconds) <= now()
