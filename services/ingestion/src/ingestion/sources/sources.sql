-- name: insert
INSERT INTO source (workspace_id, id, name, kind, config, every_seconds, on_removed, stale_after_seconds, next_sync_at)
VALUES (%(workspace_id)s, %(id)s, %(name)s, %(kind)s, %(config)s, %(every_seconds)s::integer, %(on_removed)s,
        %(stale_after_seconds)s::integer, now() + make_interval(secs => %(every_seconds)s::integer))
ON CONFLICT DO NOTHING
RETURNING {columns};

-- name: update
-- A changed interval counts from now; a resumed source keeps its next time, so it may be due at once.
UPDATE source
SET name = %(name)s, config = %(config)s, on_removed = %(on_removed)s, stale_after_seconds = %(stale_after_seconds)s::integer,
    paused = %(paused)s, version = version + 1, updated_at = now(), every_seconds = %(every_seconds)s::integer,
    next_sync_at = CASE WHEN every_seconds IS DISTINCT FROM %(every_seconds)s::integer
                        THEN now() + make_interval(secs => %(every_seconds)s::integer) ELSE next_sync_at END
WHERE workspace_id = %(workspace_id)s AND id = %(id)s
RETURNING {columns};

-- name: find
SELECT {columns}
FROM source
WHERE workspace_id = %(workspace_id)s AND id = %(source_id)s AND deleted_at IS NULL;

-- name: lock
SELECT {columns}
FROM source
WHERE workspace_id = %(workspace_id)s AND id = %(source_id)s AND deleted_at IS NULL
FOR UPDATE;

-- name: page
SELECT {columns}
FROM source
WHERE workspace_id = %(workspace_id)s AND deleted_at IS NULL
  AND (%(before)s::timestamptz IS NULL OR (created_at, id) < (%(before)s, %(before_id)s::uuid))
ORDER BY created_at DESC, id DESC
LIMIT %(limit)s;

-- name: count_documents
SELECT source_id, count(DISTINCT document_id) AS documents
FROM origin
WHERE workspace_id = %(workspace_id)s AND source_id = ANY(%(source_ids)s) AND document_id IS NOT NULL
GROUP BY source_id;

-- name: abandon
-- Deletes a source but keeps its documents.
UPDATE source SET deleted_at = now(), next_sync_at = NULL
WHERE workspace_id = %(workspace_id)s AND id = %(source_id)s AND deleted_at IS NULL;

-- name: was_deleted
SELECT true FROM source_deletion WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s;

-- name: lock_documents
SELECT id FROM document
WHERE workspace_id = %(workspace_id)s
  AND id IN (SELECT document_id FROM origin WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s)
ORDER BY id
FOR UPDATE;

-- name: keep_as_uploads
-- Gives documents the origin that an upload of their bytes would have.
INSERT INTO origin (workspace_id, id, kind, path, name, document_id, content_hash)
SELECT workspace_id, gen_random_uuid(), 'upload', 'sha256:' || content_hash, name, id, content_hash
FROM document
WHERE workspace_id = %(workspace_id)s AND id = ANY(%(document_ids)s) AND status <> 'deleting'
ON CONFLICT (workspace_id, source_id, kind, path) DO UPDATE SET document_id = excluded.document_id;

-- name: delete_origins
DELETE FROM origin WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s;

-- name: known_files
SELECT id, path, document_id, fingerprint, content_hash, excluded, missing_since IS NOT NULL AS missing
FROM origin
WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s;

-- name: touch_files
UPDATE origin
SET fingerprint = coalesce(touched.fingerprint, origin.fingerprint)
FROM unnest(%(ids)s::uuid[], %(fingerprints)s::text[]) AS touched (id, fingerprint)
WHERE origin.workspace_id = %(workspace_id)s AND origin.id = touched.id;

-- name: succeeded
UPDATE source
SET last_success_at = now(), place = %(place)s, stale_since = NULL,
    next_sync_at = CASE WHEN every_seconds IS NOT NULL
                        THEN coalesce(next_sync_at, now() + make_interval(secs => every_seconds)) END
WHERE workspace_id = %(workspace_id)s AND id = %(source_id)s;

-- name: failed
-- Retries with exponential backoff up to an hour, but no later than the schedule.
UPDATE source
SET next_sync_at = least(next_sync_at, now() + make_interval(secs => least(3600, 30 * 2 ^ least(failures.count, 10))))
FROM (
    SELECT count(*) AS count FROM source_sync AS sync JOIN source AS mine
        ON mine.workspace_id = sync.workspace_id AND mine.id = sync.source_id
    WHERE sync.workspace_id = %(workspace_id)s AND sync.source_id = %(source_id)s
      AND sync.state = 'failed' AND NOT sync.dry_run
      AND sync.finished_at > coalesce(mine.last_success_at, '-infinity')
) AS failures
WHERE workspace_id = %(workspace_id)s AND id = %(source_id)s;

-- name: unseen
SELECT workspace_id, id
FROM source
WHERE stale_after_seconds IS NOT NULL AND stale_since IS NULL AND deleted_at IS NULL
  AND coalesce(last_success_at, created_at) + make_interval(secs => stale_after_seconds) <= now()
LIMIT %(limit)s;

-- name: mark_stale
UPDATE source SET stale_since = now()
WHERE workspace_id = %(workspace_id)s AND id = %(source_id)s AND stale_since IS NULL AND deleted_at IS NULL
  AND coalesce(last_success_at, created_at) + make_interval(secs => stale_after_seconds) <= now();

-- name: mark_documents_stale
-- Marks documents that have no other current origin.
UPDATE document
SET stale_at = now()
WHERE workspace_id = %(workspace_id)s AND stale_at IS NULL
  AND id IN (SELECT document_id FROM origin WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s)
  AND NOT EXISTS (
      SELECT FROM origin LEFT JOIN source
          ON source.workspace_id = origin.workspace_id AND source.id = origin.source_id
      WHERE origin.workspace_id = %(workspace_id)s AND origin.document_id = document.id
        AND origin.missing_since IS NULL AND source.stale_since IS NULL);

-- name: watched
SELECT workspace_id, id, config
FROM source
WHERE kind = 'folder' AND (config ->> 'watch')::boolean AND NOT paused AND deleted_at IS NULL;
