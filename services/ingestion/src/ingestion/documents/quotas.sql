-- name: lock
-- Serialises transactions that make the workspace larger. It is the last lock that a transaction takes.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace_id)s::text, 2));

-- name: used
SELECT count(*) AS documents, coalesce(sum(file_size), 0)::bigint AS bytes
FROM document
WHERE workspace_id = %(workspace_id)s AND status <> 'deleting';

-- name: count_sources
SELECT count(*) FROM source WHERE workspace_id = %(workspace_id)s AND deleted_at IS NULL;

-- name: needs_content
-- Returns whether a kept version has these bytes.
SELECT EXISTS (
    SELECT FROM document_version AS version
    JOIN document ON document.workspace_id = version.workspace_id AND document.id = version.document_id
    WHERE version.workspace_id = %(workspace_id)s AND version.content_hash = %(content_hash)s
      AND version.erased_at IS NULL AND document.status <> 'deleting'
);

-- name: chosen
SELECT documents, bytes, sources FROM workspace_quota WHERE workspace_id = %(workspace_id)s;

-- name: choose
INSERT INTO workspace_quota (workspace_id, documents, bytes, sources)
VALUES (%(workspace_id)s, %(documents)s, %(bytes)s, %(sources)s)
ON CONFLICT (workspace_id) DO UPDATE
SET documents = excluded.documents, bytes = excluded.bytes, sources = excluded.sources;
