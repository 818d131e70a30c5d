SELECT workspace_id, document_id, version, content_hash
FROM document_version
WHERE superseded_at IS NOT NULL AND erased_at IS NULL
ORDER BY superseded_at
LIMIT 100
