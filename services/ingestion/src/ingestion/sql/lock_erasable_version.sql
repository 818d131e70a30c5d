-- Not of a document that is being deleted: that erases all of its versions.
SELECT document_version.version
FROM document_version
JOIN document ON document.workspace_id = document_version.workspace_id AND document.id = document_version.document_id
WHERE document_version.workspace_id = %(workspace_id)s AND document_version.document_id = %(document_id)s
  AND document_version.version = %(version)s AND erased_at IS NULL AND document.status <> 'deleting'
FOR UPDATE OF document_version SKIP LOCKED
