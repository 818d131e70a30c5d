-- name: workspaces
SELECT DISTINCT workspace_id FROM document_stage
UNION SELECT DISTINCT workspace_id FROM deletion;

-- name: documents
SELECT id, name, version, searchable_version, chunk_count, content_hash, embedding_model IS NOT NULL AS embedded,
       EXISTS (SELECT FROM document_stage AS stage
               WHERE stage.workspace_id = document.workspace_id AND stage.document_id = document.id
                 AND stage.name = 'graph' AND stage.state = 'succeeded') AS graphed,
       updated_at
FROM document
WHERE workspace_id = %(workspace_id)s AND status <> 'deleting';

-- name: versions
-- Returns the versions whose objects must exist.
SELECT document_version.document_id, document_version.version, document_version.content_hash
FROM document_version
JOIN document ON document.workspace_id = document_version.workspace_id AND document.id = document_version.document_id
WHERE document_version.workspace_id = %(workspace_id)s AND erased_at IS NULL AND document.status <> 'deleting';

-- name: deletions
SELECT document_id FROM deletion WHERE workspace_id = %(workspace_id)s AND completed_at IS NULL;
