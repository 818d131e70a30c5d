-- name: due
-- Returns deletions of documents that no worker holds, so that none can still write.
SELECT deletion.workspace_id, deletion.document_id
FROM deletion
WHERE erased_at IS NULL AND NOT EXISTS (
    SELECT FROM document_stage AS stage
    WHERE stage.workspace_id = deletion.workspace_id AND stage.document_id = deletion.document_id
      AND stage.lease_expires_at > now()
)
ORDER BY requested_at
LIMIT 100;

-- name: lock
SELECT document_id FROM deletion
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND erased_at IS NULL
FOR UPDATE SKIP LOCKED;

-- name: kept_versions
-- Returns the versions whose objects still exist.
SELECT version, content_hash FROM document_version
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND erased_at IS NULL
ORDER BY version;

-- name: count_content
-- Counts other versions that need this original.
SELECT count(*)
FROM document_version AS other
JOIN document ON document.workspace_id = other.workspace_id AND document.id = other.document_id
WHERE other.workspace_id = %(workspace_id)s AND other.content_hash = %(content_hash)s AND other.erased_at IS NULL
  AND document.status <> 'deleting'
  AND NOT (other.document_id = %(document_id)s AND other.version = ANY(%(versions)s));

-- name: count_rows
SELECT (SELECT count(*) FROM document WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s) AS documents,
       (SELECT count(*) FROM document_version
        WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s) AS versions,
       (SELECT count(*) FROM document_stage
        WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s) AS stages;

-- name: delete_document
DELETE FROM document WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s AND status = 'deleting';

-- name: mark_done
UPDATE deletion SET erased_at = now()
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s;

-- name: supersede_versions
-- Marks older versions once the newest is indexed and has no open stage, in which it might still copy their vectors.
UPDATE document_version AS older
SET superseded_at = now()
WHERE older.replaced_at IS NOT NULL AND older.superseded_at IS NULL
  AND EXISTS (
      SELECT FROM document_version AS newest
      WHERE newest.workspace_id = older.workspace_id AND newest.document_id = older.document_id
        AND newest.version > older.version AND newest.replaced_at IS NULL AND newest.indexed_at IS NOT NULL
  )
  AND NOT EXISTS (
      SELECT FROM document_stage AS stage
      WHERE stage.workspace_id = older.workspace_id AND stage.document_id = older.document_id
        AND stage.state IN ('waiting', 'queued', 'running')
  );

-- name: superseded_versions
SELECT workspace_id, document_id, version, content_hash
FROM document_version
WHERE superseded_at IS NOT NULL AND erased_at IS NULL
ORDER BY superseded_at
LIMIT 100;

-- name: lock_version
-- Locks a version, unless its document is being deleted with all its versions.
SELECT document_version.version
FROM document_version
JOIN document ON document.workspace_id = document_version.workspace_id AND document.id = document_version.document_id
WHERE document_version.workspace_id = %(workspace_id)s AND document_version.document_id = %(document_id)s
  AND document_version.version = %(version)s AND erased_at IS NULL AND document.status <> 'deleting'
FOR UPDATE OF document_version SKIP LOCKED;

-- name: mark_version_done
UPDATE document_version SET erased_at = now()
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND version = %(version)s;
