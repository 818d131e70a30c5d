-- As if their bytes had been uploaded.
INSERT INTO origin (workspace_id, id, kind, path, name, document_id, content_hash)
SELECT workspace_id, gen_random_uuid(), 'upload', 'sha256:' || content_hash, name, id, content_hash
FROM document
WHERE workspace_id = %(workspace_id)s AND id = ANY(%(document_ids)s) AND status <> 'deleting'
ON CONFLICT (workspace_id, source_id, kind, path) DO UPDATE SET document_id = excluded.document_id
