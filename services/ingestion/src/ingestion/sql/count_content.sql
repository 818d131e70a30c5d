SELECT count(*) FROM document
WHERE workspace_id = %(workspace_id)s AND content_hash = %(content_hash)s AND id <> %(document_id)s
  AND status <> 'deleting'
