-- name: put_document
-- Updates the name of a known document; a deleted one is not restored.
INSERT INTO known_document (workspace_id, document_id, name, told_at)
SELECT %(workspace_id)s, %(document_id)s, %(name)s, %(told_at)s
WHERE NOT EXISTS (
    SELECT FROM deleted_document AS deleted
    WHERE deleted.workspace_id = %(workspace_id)s AND deleted.document_id = %(document_id)s
)
ON CONFLICT (workspace_id, document_id) DO UPDATE SET name = excluded.name;

-- name: delete_documents
DELETE FROM known_document WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s);

-- name: count_documents
SELECT count(*) FROM known_document WHERE workspace_id = %(workspace_id)s;

-- name: newest_documents
SELECT document_id AS id, name, told_at AS at FROM known_document
WHERE workspace_id = %(workspace_id)s
ORDER BY told_at DESC, document_id DESC
LIMIT %(limit)s;

-- name: put_status
INSERT INTO project_status (workspace_id, manifest) VALUES (%(workspace_id)s, %(manifest)s)
ON CONFLICT (workspace_id) DO UPDATE SET manifest = excluded.manifest, compiled_at = now()
WHERE project_status.manifest <> excluded.manifest;
