-- name: lock_session
-- Returns how many documents are attached; nobody else changes them until the transaction ends.
SELECT (SELECT count(*) FROM session_document WHERE workspace_id = %(workspace_id)s AND session_id = session.id)
FROM session
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s
FOR UPDATE;

-- name: attach
INSERT INTO session_document AS known (workspace_id, session_id, document_id)
VALUES (%(workspace_id)s, %(id)s, %(document_id)s)
ON CONFLICT (workspace_id, session_id, document_id) DO UPDATE SET attached_at = known.attached_at
RETURNING document_id, attached_at, xmax = 0 AS is_new;

-- name: detach
DELETE FROM session_document
WHERE workspace_id = %(workspace_id)s AND session_id = %(id)s AND document_id = %(document_id)s;

-- name: page
SELECT document_id, attached_at FROM session_document
WHERE workspace_id = %(workspace_id)s AND session_id = %(id)s
  AND (%(after_at)s::timestamptz IS NULL OR (attached_at, document_id) > (%(after_at)s, %(after_id)s::uuid))
ORDER BY attached_at, document_id
LIMIT %(limit)s;

-- name: delete
-- Detaches deleted documents from every session.
DELETE FROM session_document WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s)
RETURNING document_id;

-- name: attached
-- Returns each document once for each session.
SELECT document_id FROM session_document WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s);
