-- Each due source moves on in the same transaction; replicas pass over each other's rows.
WITH due AS (
    SELECT workspace_id, id
    FROM source
    WHERE next_sync_at <= now() AND NOT paused AND deleted_at IS NULL
    ORDER BY next_sync_at
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
),
moved AS (
    UPDATE source
    SET next_sync_at = now() + make_interval(secs => source.every_seconds)
    FROM due
    WHERE source.workspace_id = due.workspace_id AND source.id = due.id
    RETURNING source.workspace_id, source.id
)
INSERT INTO source_sync (workspace_id, id, source_id, trigger)
SELECT workspace_id, gen_random_uuid(), id, 'schedule'
FROM moved
WHERE NOT EXISTS (
    SELECT FROM source_sync AS open
    WHERE open.workspace_id = moved.workspace_id AND open.source_id = moved.id
      AND open.status IN ('queued', 'running') AND NOT open.dry_run)
ON CONFLICT DO NOTHING
