-- name: queue
INSERT INTO source_sync (workspace_id, id, source_id, trigger, dry_run, traceparent)
VALUES (%(workspace_id)s, %(id)s, %(source_id)s, %(trigger)s, %(dry_run)s, %(traceparent)s)
ON CONFLICT (workspace_id, source_id) WHERE state = 'queued' AND NOT dry_run
DO UPDATE SET available_at = CASE WHEN excluded.trigger = 'request' THEN now() ELSE source_sync.available_at END,
              trigger = CASE WHEN excluded.trigger = 'request' THEN 'request' ELSE source_sync.trigger END
RETURNING {columns};

-- name: another_waits
-- Returns whether a synchronisation of another workspace is due.
SELECT EXISTS (
    SELECT FROM source_sync WHERE state = 'queued' AND available_at <= now() AND workspace_id <> %(besides)s
);

-- name: queue_due
-- Advances each due source to its next time in the same transaction; replicas skip each other's rows.
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
      AND open.state IN ('queued', 'running') AND NOT open.dry_run)
ON CONFLICT DO NOTHING;

-- name: queue_watched
-- Queues nothing if one is waiting or has started since, because it will see the change.
INSERT INTO source_sync (workspace_id, id, source_id, trigger)
SELECT workspace_id, gen_random_uuid(), id, 'watch'
FROM source
WHERE workspace_id = %(workspace_id)s AND id = %(source_id)s AND NOT paused AND deleted_at IS NULL
  AND NOT EXISTS (
      SELECT FROM source_sync AS sync
      WHERE sync.workspace_id = source.workspace_id AND sync.source_id = source.id AND NOT sync.dry_run
        AND (sync.state = 'queued' OR sync.started_at > %(since)s))
ON CONFLICT DO NOTHING;

-- name: waiting_dry_run
SELECT {columns}
FROM source_sync
WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s AND dry_run AND state = 'queued'
LIMIT 1;

-- name: find
SELECT {columns}
FROM source_sync
WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s AND id = %(sync_id)s;

-- name: page
SELECT {columns}
FROM source_sync
WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s
  AND (%(before)s::timestamptz IS NULL OR (created_at, id) < (%(before)s, %(before_id)s::uuid))
ORDER BY created_at DESC, id DESC
LIMIT %(limit)s;

-- name: newest
-- Returns the newest of each source, without dry runs.
SELECT DISTINCT ON (source_id) {columns}
FROM source_sync
WHERE workspace_id = %(workspace_id)s AND source_id = ANY(%(source_ids)s) AND NOT dry_run
ORDER BY source_id, created_at DESC, id DESC;

-- name: cancel
UPDATE source_sync
SET state = 'cancelled', lease_token = NULL, lease_expires_at = NULL, finished_at = now()
WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s AND id = %(sync_id)s
  AND state IN ('queued', 'running');

-- name: delete_of_source
DELETE FROM source_sync WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s;

-- name: delete_old
DELETE FROM source_sync
WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s AND state NOT IN ('queued', 'running')
  AND id NOT IN (
      SELECT id FROM source_sync
      WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s
      ORDER BY created_at DESC, id DESC
      LIMIT %(kept)s);

-- name: changes
SELECT {change_columns}
FROM sync_change
WHERE workspace_id = %(workspace_id)s AND sync_id = %(sync_id)s AND position > %(after)s
ORDER BY position
LIMIT %(limit)s;

-- name: delete_refusals
DELETE FROM sync_change WHERE workspace_id = %(workspace_id)s AND sync_id = %(id)s AND action = 'refuse';

-- name: recover_changes
-- Lists the changes that an earlier attempt made after it last wrote its list: places and versions since the beginning.
INSERT INTO sync_change (workspace_id, sync_id, position, action, path, document_id, file_size)
SELECT sync.workspace_id, sync.id,
       (SELECT coalesce(max(position), 0) FROM sync_change
        WHERE workspace_id = %(workspace_id)s AND sync_id = %(id)s) + row_number() OVER (ORDER BY origin.path),
       CASE WHEN origin.created_at >= sync.started_at THEN 'add' ELSE 'change' END,
       origin.path, origin.document_id, version.file_size
FROM source_sync AS sync
JOIN origin ON origin.workspace_id = sync.workspace_id AND origin.source_id = sync.source_id
JOIN document_version AS version ON version.workspace_id = origin.workspace_id
     AND version.document_id = origin.document_id AND version.content_hash = origin.content_hash
WHERE sync.workspace_id = %(workspace_id)s AND sync.id = %(id)s AND sync.lease_token = %(lease_token)s AND NOT sync.dry_run
  AND (origin.created_at >= sync.started_at OR version.created_at >= sync.started_at)
  AND NOT EXISTS (SELECT FROM sync_change AS listed
                  WHERE listed.workspace_id = sync.workspace_id AND listed.sync_id = sync.id
                    AND listed.path = origin.path);

-- name: earlier_changes
SELECT position, action, path FROM sync_change WHERE workspace_id = %(workspace_id)s AND sync_id = %(id)s;

-- name: insert_change
-- Inserts only while the lease is held, so that two workers never write the same list.
INSERT INTO sync_change (workspace_id, sync_id, position, action, path, document_id, file_size, message)
SELECT workspace_id, id, %(position)s, %(action)s, %(path)s, %(document_id)s, %(file_size)s, %(message)s
FROM source_sync
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease_token = %(lease_token)s;
