INSERT INTO source_sync (workspace_id, id, source_id, trigger, dry_run, traceparent)
VALUES (%(workspace_id)s, %(id)s, %(source_id)s, %(trigger)s, %(dry_run)s, %(traceparent)s)
ON CONFLICT (workspace_id, source_id) WHERE status = 'queued' AND NOT dry_run
DO UPDATE SET not_before = CASE WHEN excluded.trigger = 'request' THEN NULL ELSE source_sync.not_before END,
              trigger = CASE WHEN excluded.trigger = 'request' THEN 'request' ELSE source_sync.trigger END
RETURNING id, workspace_id, source_id, status, trigger, dry_run, seen, added, changed, removed, unchanged, refused, excluded,
       bytes, attempts, created_at, started_at, heartbeat_at, finished_at, worker, error_class, error_message
