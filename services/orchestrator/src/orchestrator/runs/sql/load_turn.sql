-- The turn's own question first, then what was said in the turns before it, newest first.
SELECT message.id, message.role, message.content, session.title IS NULL AS untitled
FROM run AS own
JOIN session ON session.workspace_id = own.workspace_id AND session.id = own.session_id
JOIN run AS turn ON turn.workspace_id = own.workspace_id AND turn.session_id = own.session_id
    AND (turn.created_at, turn.id) <= (own.created_at, own.id)
JOIN message ON message.workspace_id = turn.workspace_id AND message.run_id = turn.id
WHERE own.workspace_id = %(workspace_id)s AND own.id = %(id)s
ORDER BY turn.created_at DESC, turn.id DESC, message.created_at DESC, message.id DESC
LIMIT %(limit)s
