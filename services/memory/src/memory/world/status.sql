-- name: put_documents
-- Updates the names of known documents, to the last if there are several; a deleted one is not restored.
WITH outdated AS (
    UPDATE project_status SET stale = true WHERE workspace_id = %(workspace_id)s AND NOT stale
)
INSERT INTO known_document (workspace_id, document_id, name, told_at)
SELECT DISTINCT ON (told.document_id) %(workspace_id)s, told.document_id, told.name, told.told_at
FROM
    unnest(%(document_ids)s::uuid[], %(names)s::text[], %(told_at)s::timestamptz[]) WITH ORDINALITY
    AS told (document_id, name, told_at, place)
WHERE NOT EXISTS (
    SELECT FROM deleted_document AS deleted
    WHERE deleted.workspace_id = %(workspace_id)s AND deleted.document_id = told.document_id
)
ORDER BY told.document_id, told.place DESC
ON CONFLICT (workspace_id, document_id) DO UPDATE SET name = excluded.name;

-- name: delete_documents
WITH outdated AS (
    UPDATE project_status SET stale = true WHERE workspace_id = %(workspace_id)s AND NOT stale
)
DELETE FROM known_document WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s);

-- name: count_documents
SELECT count(*) FROM known_document WHERE workspace_id = %(workspace_id)s;

-- name: newest_documents
SELECT document_id AS id, name, told_at AS at FROM known_document
WHERE workspace_id = %(workspace_id)s
ORDER BY told_at DESC, document_id DESC
LIMIT %(limit)s;

-- name: put_status
INSERT INTO project_status (workspace_id, manifest, world_version, stale)
VALUES (%(workspace_id)s, %(manifest)s, %(world_version)s, false)
ON CONFLICT (workspace_id) DO UPDATE SET
    manifest = excluded.manifest, world_version = excluded.world_version, stale = false,
    compiled_at = CASE
        WHEN project_status.manifest = excluded.manifest THEN project_status.compiled_at ELSE now()
    END;

-- name: is_current
-- Returns whether neither the world nor a document's name has changed since the status was compiled.
SELECT EXISTS (
    SELECT FROM project_status AS status
    LEFT JOIN world ON world.workspace_id = status.workspace_id AND world.id = status.workspace_id
    WHERE
        status.workspace_id = %(workspace_id)s AND NOT status.stale
        AND status.world_version = coalesce(world.version, 0)
);
