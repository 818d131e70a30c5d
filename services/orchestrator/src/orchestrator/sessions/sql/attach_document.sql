INSERT INTO session_document AS known (workspace_id, session_id, document_id)
VALUES (%(workspace_id)s, %(id)s, %(document_id)s)
ON CONFLICT (workspace_id, session_id, document_id) DO UPDATE SET attached_at = known.attached_at
RETURNING document_id, attached_at, xmax = 0 AS is_new
