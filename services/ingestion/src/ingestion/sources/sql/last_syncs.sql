-- The newest of each source that was more than a rehearsal.
SELECT DISTINCT ON (source_id) id, workspace_id, source_id, status, trigger, dry_run, seen, added, changed, removed, unchanged, refused, excluded,
       bytes, attempts, created_at, started_at, heartbeat_at, finished_at, worker, error_class, error_message
FROM source_sync
WHERE workspace_id = %(workspace_id)s AND source_id = ANY(%(source_ids)s) AND NOT dry_run
ORDER BY source_id, created_at DESC, id DESC
