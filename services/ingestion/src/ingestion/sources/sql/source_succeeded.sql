UPDATE source
SET last_success_at = now(), place = %(place)s, stale_since = NULL,
    next_sync_at = CASE WHEN every_seconds IS NOT NULL
                        THEN coalesce(next_sync_at, now() + make_interval(secs => every_seconds)) END
WHERE workspace_id = %(workspace_id)s AND id = %(source_id)s
