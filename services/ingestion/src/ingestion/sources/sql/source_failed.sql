-- Tried again soon, then more and more rarely, at the latest when it would have been anyway.
UPDATE source
SET next_sync_at = least(next_sync_at, now() + make_interval(secs => least(3600, 30 * 2 ^ least(failures.count, 10))))
FROM (
    SELECT count(*) AS count FROM source_sync AS sync JOIN source AS mine
        ON mine.workspace_id = sync.workspace_id AND mine.id = sync.source_id
    WHERE sync.workspace_id = %(workspace_id)s AND sync.source_id = %(source_id)s
      AND sync.status = 'failed' AND NOT sync.dry_run
      AND sync.finished_at > coalesce(mine.last_success_at, '-infinity')
) AS failures
WHERE workspace_id = %(workspace_id)s AND id = %(source_id)s
