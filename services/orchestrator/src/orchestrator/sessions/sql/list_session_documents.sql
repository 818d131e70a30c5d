SELECT document_id, attached_at FROM session_document
WHERE workspace_id = %(workspace_id)s AND session_id = %(id)s
  AND (%(after_at)s::timestamptz IS NULL OR (attached_at, document_id) > (%(after_at)s, %(after_id)s::uuid))
ORDER BY attached_at, document_id
LIMIT %(limit)s
