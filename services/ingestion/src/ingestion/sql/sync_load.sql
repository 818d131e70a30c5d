-- (running, due): of a source, one after the other.
SELECT count(*) FILTER (WHERE status = 'running'),
       count(*) FILTER (
           WHERE status = 'queued' AND (not_before IS NULL OR not_before <= now())
             AND (dry_run OR NOT EXISTS (
                 SELECT FROM source_sync AS other
                 WHERE other.workspace_id = sync.workspace_id AND other.source_id = sync.source_id
                   AND other.status = 'running' AND NOT other.dry_run))
       )
FROM source_sync AS sync
WHERE status IN ('queued', 'running')
