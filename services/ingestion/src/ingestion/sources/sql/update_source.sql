-- A changed interval counts from now; one that was paused and goes on is due as soon as its interval allows.
UPDATE source
SET name = %(name)s, config = %(config)s, on_removed = %(on_removed)s, stale_after_seconds = %(stale_after_seconds)s::integer,
    paused = %(paused)s, version = version + 1, updated_at = now(), every_seconds = %(every_seconds)s::integer,
    next_sync_at = CASE WHEN every_seconds IS DISTINCT FROM %(every_seconds)s::integer
                        THEN now() + make_interval(secs => %(every_seconds)s::integer) ELSE next_sync_at END
WHERE workspace_id = %(workspace_id)s AND id = %(id)s
RETURNING id, workspace_id, name, config, every_seconds, on_removed, stale_after_seconds, paused, version, created_at,
       updated_at, next_sync_at
