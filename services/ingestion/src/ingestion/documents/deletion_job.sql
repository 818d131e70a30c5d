-- name: due
-- Returns deletions of documents that no worker holds, so that none can still write. In no order, as an order would look at
-- all that wait.
SELECT deletion.workspace_id, deletion.document_id
FROM deletion
WHERE erased_at IS NULL AND completed_at IS NULL AND NOT EXISTS (
    SELECT FROM document_stage AS stage
    WHERE stage.workspace_id = deletion.workspace_id AND stage.document_id = deletion.document_id
      AND stage.lease_expires_at > now()
)
LIMIT %(limit)s;

-- name: lock
-- Skips those that another replica is deleting.
SELECT document_id FROM deletion
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s) AND erased_at IS NULL
ORDER BY document_id
FOR UPDATE SKIP LOCKED;

-- name: kept_versions
-- Returns the versions whose objects still exist.
SELECT document_id, content_hash FROM document_version
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s) AND erased_at IS NULL
ORDER BY document_id, version;

-- name: needed_contents
-- Returns those of the contents that another version than this one needs; versions of deleted documents need nothing.
SELECT DISTINCT other.content_hash
FROM document_version AS other
JOIN document ON document.workspace_id = other.workspace_id AND document.id = other.document_id
WHERE other.workspace_id = %(workspace_id)s AND other.content_hash = ANY(%(contents)s) AND other.erased_at IS NULL
  AND document.status <> 'deleting'
  AND (other.document_id, other.version) IS DISTINCT FROM (%(document_id)s::uuid, %(version)s::integer);

-- name: count_rows
SELECT one.id AS document_id,
       (SELECT count(*) FROM document WHERE workspace_id = %(workspace_id)s AND id = one.id) AS documents,
       (SELECT count(*) FROM document_version
        WHERE workspace_id = %(workspace_id)s AND document_id = one.id) AS versions,
       (SELECT count(*) FROM document_stage
        WHERE workspace_id = %(workspace_id)s AND document_id = one.id) AS stages
FROM unnest(%(document_ids)s::uuid[]) AS one (id);

-- name: delete_documents
DELETE FROM document WHERE workspace_id = %(workspace_id)s AND id = ANY(%(document_ids)s) AND status = 'deleting';

-- name: mark_done
UPDATE deletion SET erased_at = now()
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s);

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
