SELECT id, workspace_id, kind, source_id, path, uri, name, document_id, fingerprint, content_hash, excluded, created_at,
       seen_at, missing_since
FROM origin
WHERE workspace_id = %(workspace_id)s AND id = %(origin_id)s
