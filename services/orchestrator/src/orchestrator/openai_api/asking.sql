-- name: add_history
-- Adds messages, each with its parent, to a session that the caller holds the lock of or has just made.
INSERT INTO message (workspace_id, id, session_id, parent_id, role, content, created_at)
SELECT %(workspace_id)s, said.id, %(session_id)s, said.parent_id, said.role, said.content,
       now() + said.number * interval '1 microsecond'
FROM unnest(%(ids)s::uuid[], %(parent_ids)s::uuid[], %(roles)s::text[], %(contents)s::text[])
    WITH ORDINALITY AS said (id, parent_id, role, content, number);

-- name: show
UPDATE message SET attachment_ids = %(attachment_ids)s::uuid[] WHERE workspace_id = %(workspace_id)s AND id = %(id)s;

-- name: forget
-- Deletes a session that was made for one answer. Nobody was told of it, so nobody is told that it is gone.
DELETE FROM session
WHERE workspace_id = %(workspace_id)s AND id = %(session_id)s AND created_by = %(user_id)s AND temporary;

-- name: options
SELECT options FROM run WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND created_by = %(user_id)s;
