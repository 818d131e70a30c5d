INSERT INTO source (workspace_id, id, name, kind, config, every_seconds, on_removed, stale_after_seconds, next_sync_at)
VALUES (%(workspace_id)s, %(id)s, %(name)s, %(kind)s, %(config)s, %(every_seconds)s::integer, %(on_removed)s,
        %(stale_after_seconds)s::integer, now() + make_interval(secs => %(every_seconds)s::integer))
ON CONFLICT DO NOTHING
RETURNING id, workspace_id, name, config, every_seconds, on_removed, stale_after_seconds, paused, version, created_at,
       updated_at, next_sync_at
