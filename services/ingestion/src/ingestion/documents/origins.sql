-- name: at
-- In two halves, because one index condition can match either equal values or nulls.
SELECT {columns}
FROM origin
WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s AND kind = %(kind)s AND path = %(path)s
UNION ALL
SELECT {columns}
FROM origin
WHERE workspace_id = %(workspace_id)s AND source_id IS NULL AND kind = %(kind)s AND path = %(path)s
  AND %(source_id)s::uuid IS NULL;

-- name: find
SELECT {columns}
FROM origin
WHERE workspace_id = %(workspace_id)s AND id = %(origin_id)s;

-- name: of_document
SELECT {columns}
FROM origin
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s
ORDER BY created_at, id
LIMIT %(limit)s;

-- name: count
SELECT count(*) FROM origin WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s;

-- name: is_excluded_content
SELECT EXISTS (
    SELECT FROM origin
    WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s AND excluded AND content_hash = %(content_hash)s
);

-- name: write
-- Inserts or updates an origin. `name` is the name of the file.
INSERT INTO origin (workspace_id, id, kind, source_id, path, uri, name, document_id, fingerprint, content_hash, excluded)
VALUES (%(workspace_id)s, %(origin_id)s, %(kind)s, %(source_id)s, %(path)s, %(uri)s, %(name)s, %(document_id)s,
        %(fingerprint)s, %(content_hash)s, %(excluded)s)
ON CONFLICT (workspace_id, id)
DO UPDATE SET uri = excluded.uri, name = excluded.name, document_id = excluded.document_id,
              fingerprint = excluded.fingerprint, content_hash = excluded.content_hash, excluded = excluded.excluded,
              seen_at = now(), missing_since = NULL;

-- name: see
WITH seen AS (
    UPDATE origin SET seen_at = now(), missing_since = NULL
    WHERE workspace_id = %(workspace_id)s AND id = ANY(%(origin_ids)s)
    RETURNING document_id
)
UPDATE document SET stale_at = NULL
WHERE workspace_id = %(workspace_id)s AND stale_at IS NOT NULL AND id IN (SELECT document_id FROM seen);

-- name: miss
UPDATE origin SET missing_since = coalesce(missing_since, now())
WHERE workspace_id = %(workspace_id)s AND id = %(origin_id)s;

-- name: delete
DELETE FROM origin WHERE workspace_id = %(workspace_id)s AND id = %(origin_id)s;

-- name: delete_unkeyed
-- Deletes origins of uploads without a key.
DELETE FROM origin
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND kind = 'upload' AND path LIKE 'sha256:%%';

-- name: lock_place
-- Serialises changes of one place, even before it has a row.
SELECT pg_advisory_xact_lock(
    hashtextextended(concat_ws('/', %(workspace_id)s::text, %(source_id)s::text, %(kind)s::text, %(path)s::text), 1)
);

-- name: lock_source
-- Keeps the source from being deleted; others may take files from it at the same time.
SELECT id FROM source WHERE workspace_id = %(workspace_id)s AND id = %(source_id)s AND deleted_at IS NULL FOR SHARE;
