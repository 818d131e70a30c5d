-- Whose objects must be there: of a document that exists, and not erased after a later version took over.
SELECT document_version.document_id, document_version.version, document_version.content_hash
FROM document_version
JOIN document ON document.workspace_id = document_version.workspace_id AND document.id = document_version.document_id
WHERE document_version.workspace_id = %(workspace_id)s AND erased_at IS NULL AND document.status <> 'deleting'
