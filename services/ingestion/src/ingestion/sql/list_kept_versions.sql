-- Whose objects are still there.
SELECT version, content_hash FROM document_version
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND erased_at IS NULL
ORDER BY version
