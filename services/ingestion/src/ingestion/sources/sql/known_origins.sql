SELECT id, path, document_id, fingerprint, content_hash, excluded, missing_since IS NOT NULL AS missing
FROM origin
WHERE workspace_id = %(workspace_id)s AND source_id = %(source_id)s
