SELECT id, session_id, run_id, role, content, citations, removed_citations, mode, created_at
FROM message
WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s
  AND (%(after_at)s::timestamptz IS NULL OR (created_at, id) > (%(after_at)s, %(after_id)s::uuid))
ORDER BY created_at, id
LIMIT %(limit)s
