-- Versions, other than those named, that need this original.
SELECT count(*)
FROM document_version AS other
JOIN document ON document.workspace_id = other.workspace_id AND document.id = other.document_id
WHERE other.workspace_id = %(workspace_id)s AND other.content_hash = %(content_hash)s AND other.erased_at IS NULL
  AND document.status <> 'deleting'
  AND NOT (other.document_id = %(document_id)s AND other.version = ANY(%(versions)s))
