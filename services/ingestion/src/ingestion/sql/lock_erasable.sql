SELECT document.content_hash
FROM deletion
JOIN document ON document.workspace_id = deletion.workspace_id AND document.id = deletion.document_id
WHERE deletion.workspace_id = %(workspace_id)s AND deletion.document_id = %(document_id)s AND erased_at IS NULL
FOR UPDATE OF deletion SKIP LOCKED
