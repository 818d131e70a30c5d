SELECT version FROM document_version
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s AND chunk_count IS NOT NULL AND erased_at IS NULL
ORDER BY version = %(searchable_version)s::integer DESC NULLS LAST, version DESC
LIMIT 1
